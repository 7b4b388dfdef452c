"""Run a plan: pay, add up, add noise, say how far off it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from mahrem.dp._ledger import Ledger
from mahrem.dp._sources import opened
from mahrem.dp.queries._grammar import parse_query
from mahrem.dp.queries._keywords import QueryKeywords
from mahrem.dp.queries._noisy_rows import noisy_rows, previewed_rows
from mahrem.dp.queries._plan import QueryPlan
from mahrem.dp.queries._planning import plan_query
from mahrem.dp.queries._query import Query
from mahrem.dp.queries._settings import QuerySettings
from mahrem.dp.queries._sums import Bounds
from mahrem.settings import read_settings, settings_of
from mahrem.table import ColumnDeclaration, Reading
from mahrem.words import Note


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What may go out: noisy figures with error bars, and what they cost.

    Attributes:
        rows: One row per group: the group's values, ``value``, and ``error`` such that the truth (of the
            clipped values) lies within ``value`` plus or minus ``error`` with probability ``confidence``.
            Quantiles have ``error_rows`` instead: so many rows the rank may be off.
        spent: False for a plan that nobody has paid for; its values are missing.
    """

    query: str
    rows: tuple[Mapping[str, Any], ...]
    epsilon: float
    delta: float
    mechanism: str
    relation: str
    unit: Mapping[str, Any]
    confidence: float
    spent: bool
    fits: bool
    notes: tuple[Note, ...]
    ledger: Ledger = field(repr=False, compare=False)

    @property
    def remaining(self) -> float:
        """The epsilon the ledger has left now."""
        return self.ledger.remaining().epsilon

    @property
    def value(self) -> Any:
        """The one value of an answer without groups."""
        (row,) = self.rows
        return row["value"]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "query": self.query,
            "rows": [dict(row) for row in self.rows],
            "epsilon": self.epsilon,
            "delta": self.delta,
            "mechanism": self.mechanism,
            "relation": self.relation,
            "unit": dict(self.unit),
            "confidence": self.confidence,
            "spent": self.spent,
            "fits": self.fits,
            "remaining": {"epsilon": self.remaining},
            "notes": list(self.notes),
        }


def answer_query(
    source: object,
    query: Query | str,
    *,
    ledger: Ledger,
    epsilon: float,
    reading: Reading | None = None,
    **settings: Unpack[QueryKeywords],
) -> Answer:
    """Answer a question about a table, privately.

    Args:
        source: A frame, a file or a database, the one the ledger was made for.
        query: The question.
        ledger: Pays.
        epsilon: What the answer may cost.
        reading: How to read the source.
        **settings: Every name of :class:`QueryKeywords`.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit, on integers: no rounding of floats
          and no failing cell takes part.
        - What does not fit the ledger is refused before any value is looked at; what was looked at was paid
          for before.

    Example:
        >>> import polars as pl
        >>> ledger = Ledger.temporary(epsilon=1, columns={"age": {"lower": 0, "upper": 100}})
        >>> answer = answer_query(pl.DataFrame({"age": [30] * 100}), "sum(age)", ledger=ledger, epsilon=0.5)
        >>> answer.epsilon, answer.spent
        (0.5, True)
    """
    plan = _plan(query, ledger, epsilon, settings)
    how = ledger.facts.read_as(reading)
    with opened(source, how) as data:
        data.refuse(plan.tally)
        ledger.refuse_other(source, how, data.columns)
        with ledger.cost_told():
            ledger.spend(plan.event, what=str(plan.query), **_cost(plan))
            totals = data.tally(plan.tally)
    rows = tuple(noisy_rows(plan, totals))
    notes = _keep_bounds(plan, ledger, rows) if isinstance(plan.query, Bounds) else _notes(plan)
    return _answer(plan, ledger, rows, notes, spent=True, fits=True)


def preview_query(
    query: Query | str, *, ledger: Ledger, epsilon: float, **settings: Unpack[QueryKeywords]
) -> Answer:
    """Say how far off an answer would be and whether it fits; nothing is spent, no data is looked at."""
    plan = _plan(query, ledger, epsilon, settings)
    fits = ledger.fits(plan.event, **_cost(plan))
    return _answer(plan, ledger, tuple(previewed_rows(plan)), _notes(plan), spent=False, fits=fits)


def _plan(query: Query | str, ledger: Ledger, epsilon: float, given: QueryKeywords) -> QueryPlan:
    question = parse_query(query) if isinstance(query, str) else query
    settings = read_settings(settings_of(QuerySettings), {**given})
    return plan_query(question, ledger, QuerySettings(epsilon=epsilon, **settings))


def _cost(plan: QueryPlan) -> dict[str, float]:
    return {"epsilon": float(plan.settings.epsilon), "delta": float(plan.settings.delta)}


def _answer(
    plan: QueryPlan,
    ledger: Ledger,
    rows: tuple[Mapping[str, object], ...],
    notes: Sequence[Note],
    *,
    spent: bool,
    fits: bool,
) -> Answer:
    return Answer(
        query=str(plan.query),
        rows=rows,
        **_cost(plan),
        mechanism=plan.mechanism,
        relation=str(ledger.relation),
        unit=ledger.unit.as_dict(),
        confidence=plan.settings.confidence,
        spent=spent,
        fits=fits,
        notes=tuple(notes),
        ledger=ledger,
    )


def _notes(plan: QueryPlan) -> list[Note]:
    notes = [*plan.query.notes()]
    if plan.tally.unit.subject is not None:
        notes.append(Note("answer.person", {"rows": plan.tally.unit.rows}))
    if plan.public_rows is not None:
        notes.append(Note("answer.public_rows"))
    return notes


def _keep_bounds(plan: QueryPlan, ledger: Ledger, rows: Sequence[Mapping[str, Any]]) -> list[Note]:
    (row,) = rows
    if row["lower"] is None:
        return [Note("answer.no_range")]
    column = str(getattr(plan.query, "column", ""))
    known = ledger.facts.columns.get(column, ColumnDeclaration())
    lower, upper = row["lower"], row["upper"]
    missing = known.missing if known.missing is not None and lower <= known.missing <= upper else None
    ledger.declare(column, replace(known, lower=lower, upper=upper, missing=missing, origin="found"))
    return [Note("answer.bounds_known")]
