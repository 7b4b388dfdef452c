"""What would somebody find out from this model?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
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
    OneRunAudit,
    audit_finding,
    not_done,
    refuse_mixed,
)
from mahrem.errors import InvalidInput, spelled
from mahrem.pipeline._attacked_model import AttackedModel, Attributes, attacked_model, is_model
from mahrem.pipeline._red_team import RedTeam, open_label
from mahrem.table import Reading
from mahrem.words import Note, Progress

__all__ = ["attack_model", "beside_promise", "is_model"]

MANY = 16  # shadows from which on each row speaks for itself
SOME = 2000  # rows for attacks that ask often


def attack_model(
    model: object,
    *,
    members: object,
    holdout: object,
    target: str | None = None,
    shadows: int = 0,
    make: Callable[[int], Any] | None = None,
    attributes: Attributes | None = None,
    canaries: tuple[Any, Any, Any] | None = None,
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
        attributes: For a model that is not ours: by name, which inputs are one attribute, and ``(v, inputs)``
            what they are for each of its values.
        canaries: For a model that is not ours: ``(X, y, inside)``, records of which each was put into its
            training by a fair coin of its own, and the coins. They bound epsilon from below
            (:class:`~mahrem.attacks.OneRunAudit`). A model of ours trained with ``audit=True`` knows its own.
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
    known = attacked_model(model, target)
    if attributes is not None:
        known = replace(known, attributes=attributes)
    step(Note("stage.reading"))
    inside, outside = (
        known.examples(table, reading, name) for table, name in ((members, "members"), (holdout, "holdout"))
    )
    refuse_mixed(inside, outside)
    step(Note("stage.attacking"))
    findings: list[Finding] = [
        beside_promise(LossThreshold(classes=known.classes)(known.model, inside, outside), known.cost)
    ]
    if shadows:
        found = _with_shadows(known, inside, outside, shadows, make, seed, step)
        findings.append(beside_promise(found, known.cost))
    else:
        findings.append(not_done("lira", Note("skipped.shadows", {"how": spelled("shadows", 16)})))
    some = (_some(inside, seed), _some(outside, seed))
    findings += _attributes(known, *some)
    findings.append(_inversion(known, *some, seed))
    findings.append(_audit(known, canaries))
    report = _report(known, findings, (len(inside), len(outside)), open_label(model))
    return RedTeam(
        report={**report, "seconds": round(time.perf_counter() - began, 3)}, findings=tuple(findings)
    )


def _with_shadows(
    known: AttackedModel,
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
        make=make or known.imitation(),
        progress=lambda done, count: step(Note("stage.shadow", {"done": done, "count": count})),
    )


def beside_promise(finding: ModelFinding, cost: tuple[float, float] | None) -> ModelFinding:
    """Put beside a rate what a promise allows at its false alarms."""
    if cost is None or finding.baseline is None:
        return finding
    allowed = min(1.0, math.exp(min(cost[0], 50.0)) * finding.baseline + cost[1])
    return replace(finding, details={**finding.details, "promised": allowed})


def _attributes(known: AttackedModel, inside: Examples, outside: Examples) -> list[Finding]:
    """Guess every declared attribute of few values; keep the one that gives most away."""
    if known.attributes is None:
        return [not_done("attribute inference", Note("skipped.tables"))]
    found = []
    for name, (places, values) in known.attributes.items():
        attack = AttributeInference(places=places, values=values, classes=known.classes)
        try:
            one = attack(known.model, inside, outside)
        except InvalidInput:
            continue  # no row has one of the declared values
        found.append(replace(one, details={**one.details, "column": name}))
    if not found:
        return [not_done("attribute inference", Note("skipped.declared"))]
    worst = max(found, key=lambda one: (one.rate or 0.0) - (one.baseline or 0.0))
    return [replace(worst, tried=len(found))]


def _inversion(known: AttackedModel, inside: Examples, outside: Examples, seed: int) -> Finding:
    rows = np.asarray(inside.inputs, dtype=np.float64)
    low, high = float(np.nanmin(rows)), float(np.nanmax(rows))
    if known.inputs is not None:
        low, high = known.inputs.low, 1.0
    if not low < high:
        return not_done("model inversion", Note("skipped.same"))
    attack = ModelInversion(low=low, high=high, classes=known.classes, seed=seed, steps=60)
    return attack(known.model, inside, outside)


def _audit(known: AttackedModel, canaries: tuple[Any, Any, Any] | None) -> Finding:
    """Put what canaries show beside the claim."""
    claimed, delta = known.cost or (None, 0.0)
    bound = known.audit
    if canaries is not None:
        rows, labels, inside = canaries
        asked = Examples(np.asarray(rows), np.asarray(labels))
        bound = OneRunAudit().of_model(known.model, asked, inside, delta=delta, classes=known.classes)
    return (
        not_done("one-run audit", Note("skipped.canaries", {"how": spelled("audit", True)}))
        if bound is None
        else audit_finding(bound, claimed)
    )


def _some(examples: Examples, seed: int) -> Examples:
    """Draw rows for attacks that ask often; the first ones of a sorted table would not be like the rest."""
    return examples.take(np.random.default_rng(seed).permutation(len(examples))[:SOME])


def _report(
    known: AttackedModel, findings: list[Finding], counts: tuple[int, int], label: str
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
