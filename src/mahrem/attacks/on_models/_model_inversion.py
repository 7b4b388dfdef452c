"""Model inversion: what does a typical row of each class look like, by the model alone?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.attacks._interval import clopper_pearson
from mahrem.attacks.on_models._examples import Examples, Says
from mahrem.attacks.on_models._target import ModelTarget
from mahrem.errors import InvalidParameter
from mahrem.types import Floats

STEPS = 60  # a red team has other attacks to try


@dataclass(frozen=True, kw_only=True)
class InversionFinding(Finding):
    """A finding about classes; ``nearer`` of its rows lie nearer to a member than to rows never seen."""

    nearer: int

    @property
    def alarming(self) -> bool:
        """True when found rows are nearer to members beyond doubt.

        What a class looks like, any good model says, also one that learnt from nobody here.
        """
        return self.trials > 0 and clopper_pearson(self.nearer, self.trials)[0] > 0.5


@dataclass(frozen=True, kw_only=True)
class ModelInversion:
    """Climbs to the row a model is surest of, for each class, and compares it with the real ones.

    A class counts as inverted where the found row is closer (by correlation, around the middle of all
    classes) to the mean training row of its own class than to that of any other. That shows what the model
    tells of a class; ``nearer_members`` tells whether found rows lie nearer to a training row than to rows
    it never saw, which only memory of rows explains.

    Args:
        low: The smallest input.
        high: The largest.
        steps: How many steps uphill.
        directions: How many directions are tried at each step; the model is asked twice for each.
        classes: The order of the model's columns; by default its ``classes_``.
        seed: Of the directions.

    References:
        Fredrikson, Jha, Ristenpart: Model inversion attacks that exploit confidence information, 2015; here
        with gradients estimated from answers, so that any ``predict_proba`` will do.
    """

    low: float = -1.0
    high: float = 1.0
    steps: int = 200
    directions: int = 32
    classes: Sequence[Any] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not check.finite(low=self.low) < check.finite(high=self.high):
            raise InvalidParameter(f"low={self.low!r} must be below high={self.high!r}")
        check.at_least(1, steps=check.whole(steps=self.steps))
        check.at_least(1, directions=check.whole(directions=self.directions))

    @classmethod
    def against(cls, target: ModelTarget) -> Iterator[Finding]:
        """Try it between the bounds of the inputs."""
        rows = np.asarray(target.some[0].inputs, dtype=np.float64)
        low, high = target.bounds or (float(np.nanmin(rows)), float(np.nanmax(rows)))
        if low < high:
            attack = cls(low=low, high=high, classes=target.classes, seed=target.seed, steps=STEPS)
            yield attack(target.model, *target.some)
        else:
            yield not_done("model inversion", "all inputs are the same")

    def __call__(self, model: Says, members: Examples, others: Examples) -> InversionFinding:
        """Attack a model with rows it was trained on and rows it never saw."""
        known = self.classes if self.classes is not None else getattr(model, "classes_", ())
        seen = [place for place, label in enumerate(known) if np.any(np.asarray(members.labels) == label)]
        rows = np.asarray(members.inputs, dtype=np.float64)
        inverted = invert(model, rows.shape[1:], seen, self).reshape(len(seen), -1)
        flat = rows.reshape(len(rows), -1)
        means = np.stack([flat[np.asarray(members.labels) == known[place]].mean(axis=0) for place in seen])
        middle = means.mean(axis=0)
        likeness = _unit(inverted - middle) @ _unit(means - middle).T
        right = int(np.count_nonzero(likeness.argmax(axis=1) == np.arange(len(seen))))
        near = _nearer(inverted, flat, np.asarray(others.inputs).reshape(len(others), -1), self.seed)
        finding = counted_finding(
            "model inversion",
            right,
            len(seen),
            baseline=1 / max(1, len(seen)),
            meaning=(
                "For this share of the classes, the row the model is surest of resembles the mean training "
                "row of that class more than that of any other; the baseline draws lots."
            ),
            likeness=float(np.mean(np.diag(likeness))) if seen else 0.0,
            nearer_members=float(near.mean()) if len(near) else 0.5,
        )
        return InversionFinding(**asdict(finding), nearer=int(np.count_nonzero(near == 1)))


def invert(model: Says, shape: Sequence[int], classes: Sequence[int], how: ModelInversion) -> Floats:
    """Give the row the model is surest of for each class: ``(classes, *shape)``.

    Args:
        model: Any classifier with ``predict_proba``.
        shape: Shape of one row.
        classes: Places of the classes among the model's columns.
        how: Bounds, steps and seed.

    Guarantees:
        - Every number lies between ``low`` and ``high``.
        - Equal seeds give equal rows.
    """
    rng = np.random.default_rng(how.seed)
    width = int(np.prod(shape))
    inverted = np.full((len(classes), width), (how.low + how.high) / 2)
    reach = (how.high - how.low) / 20
    for step in range(how.steps):
        push = rng.choice([-1.0, 1.0], (how.directions, width))
        size = reach * (1 - step / how.steps) + reach / 10
        for place, target in enumerate(classes):
            around = inverted[place] + reach * np.concatenate([push, -push])
            tried = np.clip(around, how.low, how.high).astype(np.float32).reshape(-1, *shape)
            chances = np.asarray(model.predict_proba(tried), dtype=np.float64)[:, target]
            gain = np.log(np.clip(chances, 1e-12, 1.0))
            slope = (gain[: len(push)] - gain[len(push) :]) @ push / len(push)
            length = np.abs(slope).max()
            if length > 0:
                inverted[place] = np.clip(inverted[place] + size * slope / length, how.low, how.high)
    return inverted.reshape(len(classes), *shape)


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _nearer(inverted: Floats, members: Floats, others: Floats, seed: int) -> Floats:
    """Say which found rows lie nearer to a member, of equally many members and others; a half is a tie."""
    from mahrem.learning.synthesis import closest_distances

    rng, size = np.random.default_rng(seed), min(len(members), len(others))
    if not size:
        return np.zeros(0)
    sides = (rows[rng.permutation(len(rows))[:size]] for rows in (members, others))  # tables may be sorted
    inside, outside = (closest_distances(inverted, side) for side in sides)
    return np.where(inside == outside, 0.5, inside < outside)
