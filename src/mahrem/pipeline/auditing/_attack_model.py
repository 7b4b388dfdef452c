"""What would somebody find out from this model?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import numpy as np

from mahrem import check
from mahrem.attacks import RedTeam, red_team
from mahrem.attacks.on_models import Attributes, AuditRecords, Examples, ModelTarget, refuse_mixed
from mahrem.errors import in_our_words
from mahrem.pipeline.auditing._attacked_model import attacked_model
from mahrem.table import Reading
from mahrem.words import Note


class ModelAttackKeywords(TypedDict, total=False):
    """What may be said about an attack on a model, besides its tables.

    Attributes:
        target: The column it foretells; a model of ours knows it.
        shadows: Train so many models of the same kind and attack with them too; 0 trains none. From 16 on it
            is LiRA, with fewer the variant for few shadows.
        make: Takes a seed and gives an untrained model of the same kind. By default a copy of scikit-learn's
            kind, or a network of the same form without noise.
        attributes: For a model that is not ours: by name, which inputs are one attribute, and ``(v, inputs)``
            what they are for each of its values.
        canaries: For a model that is not ours: ``(X, y, inside)``, records of which each was put into its
            training by a fair coin of its own, and the coins. They bound epsilon from below
            (:class:`~mahrem.attacks.on_models.OneRunAudit`). A model of ours trained with ``audit=True``
            knows its own.
        seed: Of all draws.
    """

    target: str | None
    shadows: int
    make: Callable[[int], Any] | None
    attributes: Attributes | None
    canaries: tuple[Any, Any, Any] | None
    seed: int


@in_our_words
def attack_model(
    model: object,
    *,
    members: object,
    holdout: object,
    reading: Reading | None = None,
    progress: Callable[[str], None] | None = None,
    **settings: Unpack[ModelAttackKeywords],
) -> RedTeam:
    """Attack a model: who was in its training table, which attributes, what does a class look like?

    Args:
        model: A model folder, what ``train`` or ``load_model`` gave, or anything with ``predict_proba`` and
            ``classes_``.
        members: What it was trained on: a table beside a model of ours, else ``(X, y)``.
        holdout: The same of rows it never saw, from the same population.
        reading: How to read the tables.
        progress: Called with a sentence now and then.
        **settings: Every name of :class:`ModelAttackKeywords`.

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
        >>> result = mh.attack_model(tree, members=(X[:200], y[:200]), holdout=(X[200:], y[200:]))
        >>> result.findings[0].attack, result.findings[0].alarming
        ('membership by loss', True)
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    check.unknown_keys(settings, tuple(ModelAttackKeywords.__annotations__), where="setting")
    shadows = int(check.at_least(0, shadows=check.whole(shadows=settings.get("shadows", 0))))
    attributes, canaries = settings.get("attributes"), settings.get("canaries")
    known = attacked_model(model, settings.get("target"))
    step(Note("stage.reading"))
    inside, outside = (
        known.examples(table, reading, name) for table, name in ((members, "members"), (holdout, "holdout"))
    )
    refuse_mixed(inside, outside)
    step(Note("stage.attacking"))
    findings = red_team(
        ModelTarget(
            model=known.model,
            classes=known.classes,
            members=inside,
            holdout=outside,
            attributes=known.attributes if attributes is None else attributes,
            bounds=None if known.inputs is None else (known.inputs.low, 1.0),
            cost=known.cost,
            audit=known.audit,
            canaries=None if canaries is None else _canaries(*canaries),
            shadows=shadows,
            make=settings.get("make") or (known.imitation() if shadows else None),
            seed=settings.get("seed", 0),
            progress=step,
        )
    )
    cost = known.cost
    about = {
        "members": len(inside),
        "holdout": len(outside),
        "classes": len(known.classes),
        "target": known.target,
        "claimed": None if cost is None else {"epsilon": cost[0], "delta": cost[1]},
        "guarantee": known.guarantee,
    }
    return RedTeam.of(model, findings, began=began, about=about)


def _canaries(rows: Any, labels: Any, inside: Any) -> AuditRecords:
    examples = Examples(np.asarray(rows), np.asarray(labels))
    return AuditRecords(examples=examples, inside=np.asarray(inside, dtype=np.bool_))
