"""Rules a synthetic row must keep: one number not above another, a total that is the sum of its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.learning._synthetic_domain import DeclaredColumn, DeclaredDomain
from mahrem.types import Mask

__all__ = ["AtMost", "Constraint", "SumOf", "keep_constraints", "parse_constraint"]

REDRAWS = 20
_ENDS: tuple[Literal[0], Literal[-1]] = (0, -1)
Draw: TypeAlias = Callable[[int], pl.DataFrame]


@dataclass(frozen=True)
class AtMost:
    """``low <= high`` wherever both are there."""

    low: str
    high: str

    def __str__(self) -> str:
        return f"{self.low} <= {self.high}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns it speaks of."""
        return self.low, self.high

    def broken(self) -> pl.Expr:
        """Say which rows break it."""
        return (pl.col(self.low) > pl.col(self.high)).fill_null(value=False)

    def repaired(self, rows: pl.DataFrame, domain: DeclaredDomain) -> pl.DataFrame:
        """Raise the higher column to the lower one; first lower that to what the higher may be."""
        ceiling = domain[self.high].bound(-1)
        low = pl.min_horizontal(pl.col(self.low), pl.lit(ceiling)).cast(rows.schema[self.low])
        low = pl.when(pl.col(self.low).is_null() | pl.col(self.high).is_null()).then(self.low).otherwise(low)
        rows = rows.with_columns(low.alias(self.low))
        high = pl.max_horizontal(self.low, self.high).cast(rows.schema[self.high])
        high = (
            pl.when(pl.col(self.low).is_null() | pl.col(self.high).is_null()).then(self.high).otherwise(high)
        )
        return rows.with_columns(high.alias(self.high))


@dataclass(frozen=True)
class SumOf:
    """``total = part + part + ...``; missing where a part is."""

    total: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.total} = {' + '.join(self.parts)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns it speaks of."""
        return self.total, *self.parts

    def filled(self, rows: pl.DataFrame, total: DeclaredColumn) -> pl.DataFrame:
        """Add the total up."""
        summed = pl.sum_horizontal(list(self.parts), ignore_nulls=False).cast(total.dtype)
        return rows.with_columns(summed.alias(self.total))

    def broken(self, total: DeclaredColumn) -> pl.Expr:
        """Say in which rows the total would leave its bounds."""
        inside = pl.col(self.total).is_between(total.bound(0), total.bound(-1))
        return ~(inside.fill_null(value=total.gaps))

    def repaired(self, rows: pl.DataFrame, domain: DeclaredDomain) -> pl.DataFrame:
        """Move parts, one after another, towards their bounds until the total fits its own."""
        total = domain[self.total]
        for name in self.parts:
            over = pl.sum_horizontal(list(self.parts), ignore_nulls=False)
            excess = (over - over.clip(total.bound(0), total.bound(-1))).fill_null(0)
            part = domain[name]
            moved = (pl.col(name) - excess).clip(part.bound(0), part.bound(-1)).cast(part.dtype)
            rows = rows.with_columns(pl.when(excess != 0).then(moved).otherwise(pl.col(name)).alias(name))
        return self.filled(rows, total)


Constraint: TypeAlias = AtMost | SumOf
_NAME = r"\s*([^<>=+]+?)\s*"


def parse_constraint(text: str) -> Constraint:
    """Read ``"a <= b"`` or ``"total = a + b"``.

    Example:
        >>> parse_constraint("paid = share + rest").parts
        ('share', 'rest')
    """
    if found := re.fullmatch(f"{_NAME}<={_NAME}", text):
        return AtMost(found[1], found[2])
    total, mark, rest = text.partition("=")
    parts = tuple(part.strip() for part in rest.split("+"))
    if mark and total.strip() and len(parts) > 1 and all(parts) and not set("<>=") & set(rest):
        return SumOf(total.strip(), parts)
    raise InvalidParameter(f"constraint={text!r} must read like 'a <= b' or 'total = a + b'")


def refuse_constraints(constraints: Sequence[Constraint], domain: DeclaredDomain) -> None:
    """Refuse rules about words, totals that are parts, and rules that no declared values can keep."""
    totals = {one.total for one in constraints if isinstance(one, SumOf)}
    for one in constraints:
        columns = [domain[name] for name in one.columns]
        if len(set(one.columns)) != len(one.columns):
            raise InvalidParameter(f"constraint={str(one)!r} names a column twice")
        if any(column.kind == "category" for column in columns):
            raise InvalidParameter(f"constraint={str(one)!r} needs numbers; declare bounds, not values")
        if isinstance(one, AtMost):
            _refuse_order(one, columns, totals)
        else:
            _refuse_sum(one, columns, totals)


def _refuse_order(one: AtMost, columns: Sequence[DeclaredColumn], totals: set[str]) -> None:
    if totals & set(one.columns):
        raise InvalidParameter(f"constraint={str(one)!r} speaks of a total; put it on its parts")
    if (columns[0].kind == "date") != (columns[1].kind == "date"):
        raise InvalidParameter(f"constraint={str(one)!r} compares a date with a number")
    if columns[0].bound(0) > columns[1].bound(-1):
        raise InvalidParameter(f"constraint={str(one)!r} cannot be kept inside the bounds")


def _refuse_sum(one: SumOf, columns: Sequence[DeclaredColumn], totals: set[str]) -> None:
    total, *parts = columns
    if any(column.kind == "date" for column in columns) or totals & set(one.parts):
        raise InvalidParameter(f"constraint={str(one)!r} must add up numbers that are no totals")
    if total.kind == "whole" and any(part.kind == "number" for part in parts):
        raise InvalidParameter(f"constraint={str(one)!r}: parts of a whole number must be whole numbers")
    least, most = (sum(part.bound(end) for part in parts) for end in _ENDS)
    if least > total.bound(-1) or most < total.bound(0):
        raise InvalidParameter(f"constraint={str(one)!r} cannot be kept inside the bounds")
    if any(part.gaps for part in parts) and not total.gaps:
        raise InvalidParameter(f"constraint={str(one)!r}: the total must be allowed to be missing too")


def keep_constraints(
    draw: Draw, rows: int, constraints: Sequence[Constraint], domain: DeclaredDomain
) -> tuple[pl.DataFrame, int]:
    """Draw rows that keep every rule; gives them and how many had to be repaired.

    Totals are added up from their parts. Rows that break a rule are drawn again, up to 20 times: what remains
    is the distribution of the model given the rules. The few that are left are repaired.

    Guarantees:
        - Every row keeps every rule and every declared bound.
    """
    found = _filled(draw(rows), constraints, domain)
    if not constraints:
        return found, 0
    for _ in range(REDRAWS):
        bad = _broken(found, constraints, domain)
        count = int(bad.sum())
        if not count:
            return found.select(domain.names), 0
        fresh = _filled(draw(count), constraints, domain)
        places = np.flatnonzero(bad)
        order = np.arange(len(bad))
        order[places] = len(bad) + np.arange(count)
        found = pl.concat([found, fresh])[order]
    bad = _broken(found, constraints, domain)
    for _ in range(len(constraints) + 1):
        for one in constraints:
            found = one.repaired(found, domain)
        found = _filled(found, constraints, domain)
    if _broken(found, constraints, domain).any():
        raise InvalidParameter("constraints contradict each other: no row could be repaired to keep them all")
    return found.select(domain.names), int(bad.sum())


def _filled(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> pl.DataFrame:
    for one in constraints:
        if isinstance(one, SumOf):
            rows = one.filled(rows, domain[one.total])
    return rows.select(domain.names)


def _broken(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> Mask:
    marks = [one.broken(domain[one.total]) if isinstance(one, SumOf) else one.broken() for one in constraints]
    return rows.select(pl.any_horizontal(marks)).to_series().to_numpy()
