"""What would somebody find out from this model?"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mahrem import check
from mahrem.attacks import (
    AttributeInference,
    Examples,
    FewShadows,
    Finding,
    Lira,
    LossThreshold,
    ModelFinding,
    ModelInversion,
    not_done,
    refuse_mixed,
)
from mahrem.dp import Facts, PublicColumn, public_cells
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning import PlainNetwork, PrivateClassifier, PublicInputs
from mahrem.pipeline._attack import RedTeam, open_label
from mahrem.pipeline._trained import LoadedModel, Trained, load_model
from mahrem.table import Reading

__all__ = ["attack_model", "is_model"]

MANY = 16  # shadows from which on each row speaks for itself
SOME = 2000  # rows for attacks that ask often
IMITATION_EPOCHS = 20

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class _Target:
    """A model and how it is asked."""

    model: Any
    classes: tuple[Any, ...]
    target: str | None = None
    inputs: PublicInputs | None = None
    cost: tuple[float, float] | None = None
    guarantee: str | None = None


def is_model(folder: object) -> bool:
    """Say whether this is a folder that ``train`` wrote."""
    if not isinstance(folder, str | Path):
        return False
    return (Path(folder) / "plan.json").is_file() and (Path(folder) / "model.npz").is_file()


def attack_model(
    model: object,
    *,
    members: object,
    holdout: object,
    target: str | None = None,
    shadows: int = 0,
    make: Callable[[int], Any] | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> RedTeam:
    """Attack a model: who was in its training table, which attributes, what does a class look like?

    Args:
        model: A model folder, what ``train`` or ``load_model`` gave, or anything with ``predict_proba`` and
            ``classes_``.
        members: What it was trained on: a table beside a model of ours, else ``(X, y)``.
        holdout: The same of rows it never saw, from the same population.
        target: The column it foretells; a model of ours knows it.
        shadows: Train so many models of the same kind and attack with them too; 0 trains none. From 16 on it
            is LiRA, with fewer the variant for few shadows.
        make: Takes a seed and gives an untrained model of the same kind. By default a copy of scikit-learn's
            kind, or a network of the same form without noise.
        reading: How to read the tables.
        seed: Of all draws.
        progress: Called with a sentence now and then.

    Guarantees:
        - Nothing is spent: asking a released model is free, and no noise is drawn for a promise.
        - A hold-out that shares rows with the training table is refused before the model is asked.
        - Findings hold figures, never a person and never a value.

    Example:
        >>> import mahrem as mh
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(400, 5)), rng.integers(2, size=400)
        >>> tree = DecisionTreeClassifier().fit(X[:200], y[:200])
        >>> found = mh.attack_model(tree, members=(X[:200], y[:200]), holdout=(X[200:], y[200:]))
        >>> found.findings[0].attack, found.findings[0].alarming
        ('membership by loss', True)
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    check.at_least(0, shadows=check.whole(shadows=shadows))
    known = _target(model, target)
    step("reading")
    inside, outside = (
        _examples(table, known, reading, name) for table, name in ((members, "members"), (holdout, "holdout"))
    )
    refuse_mixed(inside, outside)
    step("attacking")
    findings: list[Finding] = [
        _promised(LossThreshold(classes=known.classes)(known.model, inside, outside), known.cost)
    ]
    if shadows:
        found = _with_shadows(known, inside, outside, shadows, make, seed, step)
        findings.append(_promised(found, known.cost))
    else:
        findings.append(not_done("lira", "no shadow models were asked for: --shadows 16"))
    findings += _attributes(known, inside, outside)
    findings.append(_inversion(known, inside, outside, seed))
    report = _report(known, findings, (len(inside), len(outside)), open_label(model))
    return RedTeam(
        report={**report, "seconds": round(time.perf_counter() - began, 3)}, findings=tuple(findings)
    )


def _target(model: object, target: str | None) -> _Target:
    if isinstance(model, str | Path):
        if not is_model(model):
            raise InvalidInput(f"model={Path(model).name!r} is no model folder; train -o DIR writes one")
        home = Path(model)
        target = target or json.loads((home / "plan.json").read_text(encoding="utf-8"))["target"]
        model = load_model(home)
    if isinstance(model, Trained | LoadedModel):
        inner = model.estimator
        classes = tuple(getattr(inner, "classes_", ()) or ())
        column = target or getattr(model, "target", None)
        if len(classes) < 2 or not hasattr(inner, "predict_proba"):
            raise InvalidParameter("model: these attacks need one that gives probabilities of classes")
        if column is None:
            raise InvalidParameter("target=None: name the column that the model foretells")
        cost = (model.epsilon, model.delta) if isinstance(model, Trained) else model.cost
        return _Target(
            model=inner,
            classes=classes,
            target=column,
            inputs=model.inputs,
            cost=cost,
            guarantee=model.guarantee,
        )
    classes = tuple(getattr(model, "classes_", ()))
    if not hasattr(model, "predict_proba") or len(classes) < 2:
        raise InvalidParameter(
            f"model of type {type(model).__name__} must have predict_proba and classes_, or be a model folder"
        )
    return _Target(model=model, classes=classes, cost=getattr(model, "cost_", None))


def _examples(table: Any, known: _Target, reading: Reading | None, name: str) -> Examples:
    if known.inputs is None or known.target is None:
        if isinstance(table, Examples):
            return table
        if not isinstance(table, tuple) or len(table) != 2:
            raise InvalidInput(f"{name} must be (X, y) beside a model that is not ours")
        return Examples(np.asarray(table[0]), np.asarray(table[1]))
    rows = known.inputs(table, reading)
    facts = Facts(columns={known.target: PublicColumn(categories=known.classes)})
    places = public_cells(table, facts, [known.target], reading=reading)[known.target]
    told = ~np.isnan(places)
    labels = np.array(known.classes, dtype=object)[places[told].astype(np.int64)]
    return Examples(rows[told], labels)


def _with_shadows(
    known: _Target,
    inside: Examples,
    outside: Examples,
    shadows: int,
    make: Callable[[int], Any] | None,
    seed: int,
    step: Progress,
) -> ModelFinding:
    attack: Lira | FewShadows = (
        Lira(shadows=shadows, classes=known.classes, seed=seed)
        if shadows >= MANY
        else FewShadows(shadows=shadows, classes=known.classes, seed=seed)
    )
    return attack(
        known.model,
        inside,
        outside,
        make=make or _imitation(known),
        progress=lambda done, count: step(f"shadow {done} of {count}"),
    )


def _imitation(known: _Target) -> Callable[[int], Any]:
    """Give a maker of models of the same kind: a copy, or a network of the same form without noise."""
    model = known.model
    if known.inputs is None and hasattr(model, "get_params") and not hasattr(model, "guarantee_"):
        from sklearn.base import clone

        def copy(seed: int) -> Any:
            made = clone(model)
            return made.set_params(random_state=seed) if "random_state" in made.get_params() else made

        return copy
    network, options = "logistic", {}
    if isinstance(model, PrivateClassifier):
        network, options = model.network, dict(model.options)  # type: ignore[assignment]

    def network_of(seed: int) -> Any:
        return PlainNetwork(
            network=network, options=options, classes=known.classes, epochs=IMITATION_EPOCHS, seed=seed
        )

    return network_of


def _promised(finding: ModelFinding, cost: tuple[float, float] | None) -> ModelFinding:
    """Put beside a rate what the model's promise allows at its false alarms."""
    if cost is None or finding.baseline is None:
        return finding
    allowed = min(1.0, math.exp(min(cost[0], 50.0)) * finding.baseline + cost[1])
    return replace(finding, details={**finding.details, "promised": allowed})


def _attributes(known: _Target, inside: Examples, outside: Examples) -> list[Finding]:
    """Guess every declared attribute of few values; keep the one that gives most away."""
    if known.inputs is None:
        return [not_done("attribute inference", "which inputs are one attribute is known of tables only")]
    found, start = [], 0
    some = (_first(inside), _first(outside))
    for name in known.inputs.features:
        values = known.inputs.facts.columns[name].categories
        width = 1 if values is None else len(values)
        if values is not None and width > 1:
            attack = AttributeInference(
                places=range(start, start + width), values=np.eye(width), classes=known.classes
            )
            try:
                one = attack(known.model, *some)
            except InvalidInput:
                continue  # no row has one of the declared values
            found.append(replace(one, details={**one.details, "column": name}))
        start += width
    if not found:
        return [not_done("attribute inference", "no feature has declared values")]
    return [max(found, key=lambda one: (one.rate or 0.0) - (one.baseline or 0.0))]


def _inversion(known: _Target, inside: Examples, outside: Examples, seed: int) -> Finding:
    rows = np.asarray(inside.inputs, dtype=np.float64)
    low, high = float(np.nanmin(rows)), float(np.nanmax(rows))
    if known.inputs is not None:
        low, high = known.inputs.low, 1.0
    if not low < high:
        return not_done("model inversion", "all inputs are the same")
    attack = ModelInversion(low=low, high=high, classes=known.classes, seed=seed, steps=60)
    return attack(known.model, _first(inside), _first(outside))


def _first(examples: Examples) -> Examples:
    return examples.take(slice(0, SOME))


def _report(
    known: _Target, findings: list[Finding], counts: tuple[int, int], label: str
) -> Mapping[str, Any]:
    cost = known.cost
    return {
        "source": label,
        "members": counts[0],
        "holdout": counts[1],
        "classes": len(known.classes),
        "target": known.target,
        "claimed": None if cost is None else {"epsilon": cost[0], "delta": cost[1]},
        "guarantee": known.guarantee,
        "findings": [finding.as_dict() for finding in findings],
        "alarming": sum(finding.alarming for finding in findings),
        "warnings": [],
    }
