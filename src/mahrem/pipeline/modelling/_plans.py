"""What a synthetic table or a private model would cost, and how far off it would be; no row is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from mahrem.dp import Ledger
from mahrem.dp.accounting import Approximate
from mahrem.errors import Infeasible, in_our_words
from mahrem.learning.synthesis import (
    SYNTHESISERS,
    SynthesisKeywords,
    SynthesisPlan,
    SynthesisSettings,
    SyntheticSchema,
    TableSynthesiser,
    make_synthesiser,
)
from mahrem.learning.training import HeldOutMeasure, TrainingKeywords
from mahrem.pipeline.modelling._synthetic_report import SyntheticWork
from mahrem.pipeline.modelling._train import train
from mahrem.settings import read_settings, settings_of

CONFIDENCE = 0.95
_NEAR = (0.25, 0.5, 1.0, 2.0, 4.0)  # times what was asked: what another epsilon would give


@in_our_words
def plan_synthesis(
    *,
    ledger: str | Path | Ledger,
    table: Sequence[str],
    epsilon: float,
    delta: float,
    **settings: Unpack[SynthesisKeywords],
) -> dict[str, Any]:
    """Say what a synthetic table would be made of, whether the ledger covers it, and how far off counts are.

    Args:
        ledger: Would pay, or its path.
        table: What the table calls its columns.
        epsilon: What it may cost.
        delta: The same.
        **settings: Every name of :class:`~mahrem.learning.synthesis.SynthesisKeywords`.

    Guarantees:
        - Nothing is read and nothing is spent; every figure follows from what is public.

    Example:
        >>> import mahrem as mh
        >>> facts = {"sex": {"categories": ["f", "m"]}}
        >>> ledger = mh.Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=2000)
        >>> plan = plan_synthesis(ledger=ledger, table=["sex", "name"], epsilon=1, delta=1e-6)
        >>> plan["fits"], plan["left_out"]
        (True, ['name'])
    """
    book = Ledger.of(ledger)
    own = read_settings(settings_of(SynthesisSettings), settings)
    chosen = SynthesisSettings(epsilon=epsilon, delta=delta, **own)
    schema = SyntheticSchema.of(chosen)
    work = SyntheticWork.of(book, chosen, schema, [name for name in table if name != book.unit.subject])
    plan = _planned(chosen, schema, book, table)
    several = not SYNTHESISERS[chosen.method].torch  # a network is rehearsed for every plan
    event = Approximate(epsilon, delta) if plan is None else plan.event
    tried = [] if plan is None else _other_epsilons(epsilon, book) if several else [epsilon]
    return {
        "method": chosen.method,
        "target": chosen.target,
        "epsilon": epsilon,
        "delta": delta,
        "fits": book.fits(event, epsilon=epsilon, delta=delta),
        "remaining": {"epsilon": book.remaining().epsilon},
        "columns": list(work.domain.names),
        "left_out": list(work.left_out),
        "confidence": CONFIDENCE,
        "errors": [
            {"epsilon": one, **_count_error(replace(chosen, epsilon=one), schema, book, table)}
            for one in tried
        ],
    }


def _planned(
    chosen: SynthesisSettings, schema: SyntheticSchema, book: Ledger, columns: Sequence[str]
) -> SynthesisPlan | None:
    """Plan as a fit would; None for a synthesiser of another distribution that cannot say."""
    synthesiser: Any = make_synthesiser(
        chosen.method,
        epsilon=chosen.epsilon,
        delta=chosen.delta,
        target=chosen.target,
        schema=schema,
        **chosen.options,
    )
    if not isinstance(synthesiser, TableSynthesiser):
        return None
    plan: SynthesisPlan = synthesiser.foresee(columns, ledger=book)[1]
    return plan


def _count_error(
    chosen: SynthesisSettings, schema: SyntheticSchema, book: Ledger, columns: Sequence[str]
) -> dict[str, Any]:
    """Say by how many rows the count of a value is off at most, and which share of all rows that is."""
    try:
        plan = _planned(chosen, schema, book, columns)
    except Infeasible:  # noise would hide every count
        return {"error": None, "share": None}
    if plan is None:
        return {"error": None, "share": None}
    off = plan.one_way.half_width(1 - CONFIDENCE)
    rows = book.facts.rows
    return {"error": off, "share": None if rows is None else min(1.0, off / rows)}


def _other_epsilons(epsilon: float, book: Ledger) -> list[float]:
    """Give what might be asked instead, the least first: no more than the whole ledger."""
    return [part * epsilon for part in _NEAR if part <= 1 or part * epsilon <= book.epsilon]


@in_our_words
def plan_training(
    *, ledger: str | Path | Ledger, epsilon: float, **settings: Unpack[TrainingKeywords]
) -> dict[str, Any]:
    """Say what a private model would cost, whether the ledger covers it, and how far off its score would be.

    Args:
        ledger: Would pay, or its path.
        epsilon: What the training may cost.
        **settings: Every name of :class:`~mahrem.learning.training.TrainingKeywords`.

    Guarantees:
        - Nothing is read and nothing is spent; every figure follows from what is public.

    Example:
        >>> import mahrem as mh
        >>> facts = {"age": {"lower": 0, "upper": 99}, "sex": {"categories": ["f", "m"]}}
        >>> ledger = mh.Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=2000)
        >>> plan = plan_training(
        ...     ledger=ledger, epsilon=0.5, target="sex", model="logistic", how="output", delta=1e-7
        ... )
        >>> plan["fits"], plan["features"], plan["errors"]
        (True, ['age'], [])
    """
    book = Ledger.of(ledger)
    plan = train(None, ledger=book, epsilon=epsilon, plan=True, **settings).as_dict()
    asked, share = settings.get("evaluate_epsilon"), settings.get("holdout")
    errors = []
    if asked is not None and share is not None:
        for one in _other_epsilons(asked, book):
            measure = HeldOutMeasure(share=share, epsilon=one)
            errors.append({"epsilon": one, "error": measure.foreseen_error(book)})
    private = {"folder", "seconds", "metrics"}  # of what was trained
    return {
        **{name: value for name, value in plan.items() if name not in private},
        "score_epsilon": asked,
        "confidence": CONFIDENCE,
        "errors": errors,
    }
