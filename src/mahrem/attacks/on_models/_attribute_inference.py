"""Attribute inference: does a model give away a hidden attribute of the rows it was trained on?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.attacks.on_models._examples import SMALLEST, Examples, Says, refuse_mixed, true_chances
from mahrem.attacks.on_models._target import ModelTarget
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Integers

DOUBT = 0.025  # how often an alarm may be false


@dataclass(frozen=True, kw_only=True)
class AttributeFinding(Finding):
    """A finding beside people outside, of whom there are only so many too.

    ``chance`` is how likely so many more right guesses about training rows are if being one made no
    difference (Fisher's exact test, one-sided); ``tried`` is among how many attributes this one was chosen.
    """

    chance: float
    tried: int = 1

    @property
    def alarming(self) -> bool:
        """True when the rate lies above the baseline and beyond what chance explains, the choice included."""
        return super().alarming and self.chance * self.tried <= DOUBT


@dataclass(frozen=True, kw_only=True)
class AttributeInference:
    """Somebody knows a row but for one attribute, tries every value, and takes the likeliest.

    Likelihood is the model's probability of the row's own label times how common the value is. What is right
    as often about people the model never saw follows from the population, not from being in the table; so
    that is the baseline, or always saying the commonest value where that is better.

    Args:
        places: Which inputs hold the attribute.
        values: ``(v, len(places))`` what these inputs are for each possible value.
        classes: The order of the model's columns; by default its ``classes_``.

    References:
        Fredrikson et al.: Privacy in pharmacogenetics, 2014; Yeom et al., 2018; Jayaraman, Evans: Are
        attribute inference attacks just imputation?, 2022 (why the baseline is people outside).

    Example:
        >>> class Tells:
        ...     classes_ = (0, 1)
        ...     def predict_proba(self, X):
        ...         return np.stack([1 - X[:, 0], X[:, 0]], axis=1)
        >>> rows = np.stack([np.arange(40.0) % 2, np.arange(40.0)], axis=1)
        >>> attack = AttributeInference(places=(0,), values=[[0.0], [1.0]])
        >>> attack(Tells(), Examples(rows[:20], rows[:20, 0]), Examples(rows[20:], 1 - rows[20:, 0])).rate
        1.0
    """

    places: Sequence[int]
    values: Any
    classes: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.values)
        if len(shape) != 2 or shape[0] < 2 or shape[1] != len(self.places):
            raise InvalidParameter(f"values of shape {shape} must be at least two rows of {len(self.places)}")

    @classmethod
    def against(cls, target: ModelTarget) -> Iterator[Finding]:
        """Guess every declared attribute of few values; keep the one that gives most away."""
        findings = []
        for name, (places, values) in (target.attributes or {}).items():
            attack = cls(places=places, values=values, classes=target.classes)
            try:
                finding = attack(target.model, *target.some)
            except InvalidInput:
                continue  # no row has one of the declared values
            findings.append(replace(finding, details={**finding.details, "column": name}))
        if findings:
            worst = max(findings, key=lambda finding: (finding.rate or 0.0) - (finding.baseline or 0.0))
            yield replace(worst, tried=len(findings))
        else:
            yield not_done("attribute inference", "no feature has declared values")

    def __call__(self, model: Says, members: Examples, others: Examples) -> AttributeFinding:
        """Attack a model with rows it was trained on and rows it never saw."""
        refuse_mixed(members, others)
        truth, known = self._truth(members)
        outside, away = self._truth(others)
        if not known.any() or not away.any():
            raise InvalidInput("values: no row holds one of them, so there is nothing to guess")
        common = (np.bincount(outside[away], minlength=len(self.values)) + 1).astype(np.float64)
        inside = self._guess(model, members.take(known), common) == truth[known]
        strangers = self._guess(model, others.take(away), common) == outside[away]
        commonest = float(np.mean(truth[known] == common.argmax()))
        plain = counted_finding(
            "attribute inference",
            int(inside.sum()),
            len(inside),
            baseline=max(float(strangers.mean()), commonest),
            meaning=(
                "Somebody who knows everything else about a training row, and asks the model, guesses the "
                "attribute rightly for this share; the baseline is the same for people it never saw, or the "
                "commonest value."
            ),
            outside=float(strangers.mean()),
            commonest=commonest,
        )
        chance = _fisher(int(inside.sum()), len(inside), int(strangers.sum()), len(strangers))
        return AttributeFinding(**{**asdict(plain), "chance": chance})

    def _truth(self, examples: Examples) -> tuple[Integers, Any]:
        """Give which value each row has, and whether it has one of them."""
        own = np.asarray(examples.inputs, dtype=np.float64)[:, list(self.places)]
        equal = np.stack(
            [np.isclose(own, row).all(axis=1) for row in np.asarray(self.values, dtype=np.float64)]
        )
        return equal.argmax(axis=0), equal.any(axis=0)

    def _guess(self, model: Says, examples: Examples, common: Floats) -> Integers:
        scores = np.empty((len(self.values), len(examples)))
        for place, value in enumerate(np.asarray(self.values)):
            tried = np.array(examples.inputs, copy=True)
            tried[:, list(self.places)] = value
            chances = true_chances(model, Examples(tried, examples.labels), self.classes)
            scores[place] = np.log(np.maximum(chances, SMALLEST)) + np.log(common[place])
        return np.asarray(scores.argmax(axis=0))


def _fisher(hits: int, trials: int, others: int, rest: int) -> float:
    """Give how likely so many or more of all hits are among the first trials, if every share is as likely.

    Example:
        >>> round(_fisher(3, 4, 1, 4), 4)
        0.2429
    """

    def choose(whole: int, part: int) -> float:
        return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)

    drawn = hits + others
    most = min(trials, drawn)
    logs = [
        choose(trials, right) + choose(rest, drawn - right) - choose(trials + rest, drawn)
        for right in range(hits, most + 1)
    ]
    return min(1.0, math.fsum(math.exp(chance) for chance in logs))
