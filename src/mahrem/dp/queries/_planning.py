"""From a question to a plan, by public facts alone; no data is looked at."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from mahrem.dp._facts import Facts
from mahrem.dp._ledger import Ledger
from mahrem.dp._relation import Relation, Unit
from mahrem.dp._sensitivity import GlobalSensitivity, coarsened, global_sensitivity
from mahrem.dp._tally import Category, Condition, TallyPlan, Term
from mahrem.dp.accounting import gaussian_multiplier
from mahrem.dp.noise import PermuteAndFlip, SmoothLaplace, gaussian_integers, laplace_integers
from mahrem.dp.queries._plan import Addition, NoisyTerm, QueryPlan, Selection, Smooth
from mahrem.dp.queries._query import ColumnQuery, Query
from mahrem.dp.queries._settings import QuerySettings
from mahrem.errors import InvalidParameter

MOST_CELLS = 100_000
MOST_SELECTIONS = 2_000  # each holds a grid
FINEST = 1024  # lattice steps per sensitivity


def plan_query(query: Query, ledger: Ledger, settings: QuerySettings) -> QueryPlan:
    """Plan an answer from public facts; nothing is spent and no data is looked at.

    Args:
        query: The question.
        ledger: What is public, and which promise is wanted.
        settings: What the answer may cost, with which noise.
    """
    epsilon, delta = float(settings.epsilon), float(settings.delta)
    facts, unit = ledger.facts, ledger.unit
    kind = _mechanism(query, settings)
    for condition in query.where:
        _declared(condition, facts)
    keys = tuple(Category(name, facts.categories(name)) for name in query.by)
    public = _public_rows(query, facts, unit)
    terms, extra = query.totals(facts, counted=public is None)
    tally = TallyPlan(terms=terms, keys=(*keys, *extra), where=query.where, unit=unit)
    most = MOST_SELECTIONS if kind == "selection" else MOST_CELLS
    if math.prod(key.size for key in (keys if kind == "selection" else tally.keys)) > most:
        raise InvalidParameter(f"by: there would be more than {most} groups; use fewer")
    work: Addition | Selection | Smooth
    if kind == "selection":
        work = _selection(query, ledger, epsilon, grouped=bool(keys))
    elif kind == "smooth":
        work = _smooth(ledger, facts, query, epsilon, delta)
    else:
        together = {term.kind for term in terms} == {"above", "below"}
        share = 1 if together else len(terms)
        parts = tuple(_part(term, tally, ledger, kind, epsilon / share, delta / share) for term in terms)
        work = Addition(parts, together)
    return QueryPlan(
        query=query, tally=tally, work=work, settings=settings, mechanism=_shown(kind), public_rows=public
    )


def _shown(kind: str) -> str:
    names = {"selection": "permute-and-flip", "smooth": "smooth-laplace"}
    return names.get(kind, f"discrete-{kind}")


def _mechanism(query: Query, settings: QuerySettings) -> str:
    delta = settings.delta
    if query.noise == "smooth":
        if delta == 0:
            raise InvalidParameter("delta=0: a smooth median needs a delta above 0; median(...) needs none")
        return "smooth"
    if query.noise == "selection":
        if delta > 0 or settings.mechanism == "gaussian":
            raise InvalidParameter("delta and gaussian are not for quantiles: selection is pure")
        return "selection"
    kind = settings.mechanism or ("gaussian" if delta > 0 else "laplace")
    if (kind == "gaussian") != (delta > 0):
        hint = "gaussian needs a delta above 0" if kind == "gaussian" else "laplace spends no delta"
        raise InvalidParameter(f"mechanism={kind!r} with delta={delta!r}: {hint}")
    return kind


def _declared(condition: Condition, facts: Facts) -> None:
    """Refuse a text that the declared values of its column do not hold: most likely a slip."""
    known = facts.columns.get(condition.column)
    if known is None or known.categories is None or condition.numeric:
        return
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if condition.operator in {"=", "!=", "in"} and not set(values) <= set(known.categories):
        raise InvalidParameter(
            f"where {condition.column}: a value is not among its {len(known.categories)} declared values"
        )


def _public_rows(query: Query, facts: Facts, unit: Unit) -> int | None:
    """Give the number to divide by, where it is public and every row has a value."""
    if not query.divides or query.by or query.where or unit.subject is not None:
        return None
    return facts.rows if isinstance(query, ColumnQuery) and facts.missing(query.column) is not None else None


def _part(term: Term, tally: TallyPlan, ledger: Ledger, kind: str, epsilon: float, delta: float) -> NoisyTerm:
    fine = _sensitivity(term, tally, ledger)
    bits = 0 if term.counts else _bits(fine.l1, kind, epsilon, delta)
    touched = ledger.unit.rows * ledger.relation.moves * (2 if _is_split(term) else 1)
    reach = coarsened(fine, bits, touched) if bits else fine
    if kind == "laplace":
        return NoisyTerm(term, laplace_integers(reach, epsilon=epsilon), bits)
    return NoisyTerm(term, gaussian_integers(reach, epsilon=epsilon, delta=delta), bits)


def _sensitivity(term: Term, tally: TallyPlan, ledger: Ledger) -> GlobalSensitivity:
    optional = bool(tally.where) or term.optional or tally.unit.subject is not None
    low, high = term.bounds
    if _is_split(term):  # as groups, of which a row is in two, with 1 in all
        split = global_sensitivity(low, high, ledger.relation, ledger.unit, grouped=True, optional=True)
        return replace(split, single=False)
    if ledger.relation is Relation.REPLACE and low == high and not optional and not tally.keys:
        low = 0  # the number of rows is public then; noise is added all the same
    return global_sensitivity(
        low, high, ledger.relation, ledger.unit, grouped=bool(tally.keys), optional=optional
    )


def _is_split(term: Term) -> bool:
    return term.kind in {"above", "below"}


def _bits(sensitivity: int, kind: str, epsilon: float, delta: float) -> int:
    """Say how coarse a total may become before noise: far below the noise, and quick to account for."""
    multiplier = 1 / epsilon if kind == "laplace" else gaussian_multiplier(epsilon, delta)
    steps = min(FINEST, 1 << max(0, math.floor(math.log2(4 * FINEST / multiplier))))
    return max(0, (sensitivity // steps).bit_length() - 1)


def _selection(query: Query, ledger: Ledger, epsilon: float, *, grouped: bool) -> Selection:
    levels = tuple(Fraction(level).limit_denominator(10_000) for level in query.levels)
    each = epsilon / len(levels)
    return Selection(
        levels,
        tuple(
            PermuteAndFlip(epsilon=each, sensitivity=_score_sensitivity(level, ledger, grouped=grouped))
            for level in levels
        ),
    )


def _score_sensitivity(level: Fraction, ledger: Ledger, *, grouped: bool) -> GlobalSensitivity:
    """Bound the change of ``|(b - a) less - a more|``, level a / b, where a row is less, more or neither."""
    above, whole, rows = level.numerator, level.denominator, ledger.unit.rows
    alone = max(above, whole - above)
    if ledger.relation is Relation.ADD_REMOVE:
        most = largest = rows * alone
    else:
        largest = rows * whole
        most = rows * max(whole, 2 * alone) if grouped else largest
    return GlobalSensitivity(
        relation=ledger.relation, l1=most, l2_squared=most**2, linf=largest, single=False
    )


def _smooth(ledger: Ledger, facts: Facts, query: Query, epsilon: float, delta: float) -> Smooth:
    if ledger.relation is not Relation.REPLACE or ledger.unit.subject is not None:
        raise InvalidParameter("smooth_median holds for single rows under the relation replace; use median")
    if isinstance(query, ColumnQuery) and facts.missing(query.column) is None:
        raise InvalidParameter(
            f"column={query.column!r}: smooth_median needs a declared value for missing ones, so that "
            f"every row counts"
        )
    return Smooth(SmoothLaplace(epsilon=epsilon, delta=delta))
