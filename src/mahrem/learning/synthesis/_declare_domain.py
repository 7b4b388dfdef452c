"""Cells of columns from what is public: bounds, declared values, days; no data is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from mahrem import check
from mahrem.dp import Facts, refuse_undeclared
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn, day_number

SINGLE_CELLS = 128  # so many whole numbers or days get a cell each
MOST_CELLS = 10_000
FINE = 64  # cells of a number that nobody says more about


def declare_domain(
    facts: Facts,
    columns: Sequence[str],
    *,
    missing: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    dates: Mapping[str, tuple[str, str]] | None = None,
    cells: Mapping[str, int | Sequence[float]] | None = None,
    fine: int = FINE,
) -> DeclaredDomain:
    """Put the domain of a synthetic table together from what is public; no data is looked at.

    Args:
        facts: What the ledger knows: bounds and declared values.
        columns: Which columns, in this order.
        missing: Columns that may be empty in the synthetic table.
        kinds: ``whole`` or ``number``; by default whole where both bounds are whole numbers.
        dates: First and last day (ISO) of columns of dates.
        cells: For numbers, into how many cells of equal width the range is cut, or where.
        fine: The same for columns that ``cells`` does not name; up to 128 whole numbers or days have a cell
            each.

    Example:
        >>> from mahrem.table import ColumnDeclaration
        >>> facts = Facts(columns={"age": ColumnDeclaration(lower=0, upper=99)})
        >>> domain = declare_domain(facts, ["age", "born"], dates={"born": ("1900-01-01", "2020-12-31")})
        >>> [(column.kind, column.cells) for column in domain.columns]
        [('whole', 100), ('date', 66)]
    """
    kinds, dates, cells = kinds or {}, dates or {}, cells or {}
    if not columns or len(set(columns)) != len(columns):
        raise InvalidParameter("columns must name at least one column, and each once")
    for where, names in (("missing", missing), ("kinds", kinds), ("dates", dates), ("cells", cells)):
        for name in names:
            if name not in columns:
                raise InvalidParameter(f"{where}={name!r} is not among the columns to be synthesised")
    refuse_undeclared(facts, [name for name in columns if name not in dates])
    domain_columns = []
    for name in columns:
        known, gaps = facts.columns.get(name), name in missing
        if name in dates:
            low, high = (day_number(name, day) for day in dates[name])
            if not low < high:
                raise InvalidParameter(f"dates={name!r}: the first day must lie before the last")
            edges = _edges(low, high, cells.get(name), fine, whole=True, name=name)
            domain_columns.append(DomainColumn(name=name, kind="date", edges=edges, gaps=gaps))
        elif known is not None and known.categories is not None:
            domain_columns.append(
                DomainColumn(name=name, kind="category", categories=known.categories, gaps=gaps)
            )
        else:
            low, high = facts.bounds(name)
            usual = "whole" if low.is_integer() and high.is_integer() else "number"
            kind = _number_kind(kinds.get(name, usual))
            edges = _edges(low, high, cells.get(name), fine, whole=kind == "whole", name=name)
            domain_columns.append(DomainColumn(name=name, kind=kind, edges=edges, gaps=gaps))
    return DeclaredDomain(columns=tuple(domain_columns), facts=facts)


def _number_kind(kind: str) -> Literal["whole", "number"]:
    return "whole" if check.one_of(("whole", "number"), kind=kind) == "whole" else "number"


def _edges(
    low: float, high: float, wanted: int | Sequence[float] | None, fine: int, *, whole: bool, name: str
) -> tuple[float, ...]:
    if whole and not (low.is_integer() and high.is_integer()):
        raise InvalidParameter(f"kind='whole': column={name!r} needs whole numbers as bounds")
    if wanted is None or isinstance(wanted, int):
        count = int(check.between(1, MOST_CELLS, cells=check.whole(cells=fine if wanted is None else wanted)))
        if whole and high - low + 1 <= (SINGLE_CELLS if wanted is None else count):
            return tuple(np.arange(low, high + 1).tolist())
        inner = np.linspace(low, high, count + 1)[1:-1]
    else:
        inner = np.asarray([check.finite(edge=edge) for edge in wanted], dtype=np.float64)
        if len(inner) > MOST_CELLS or (np.diff(inner) <= 0).any() or ((inner < low) | (inner > high)).any():
            raise InvalidParameter(f"cells={name!r}: edges must rise and lie between the bounds")
        inner = inner[(inner > low) & (inner < high)]
    edges = np.concatenate([[low], np.floor(inner) if whole else inner, [high]])
    if whole:
        edges = np.unique(edges)
        if len(edges) > 2 and edges[-2] == high - 1:
            edges = np.delete(edges, -2)  # between it and the upper bound lies no whole number
    return tuple(edges.tolist())
