"""Rules a synthetic row must keep: order, totals, values that never go together, keys."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from mahrem.errors import GuaranteeBroken, InvalidParameter
from mahrem.learning.synthesis._forbidden_rows import Never, parse_never
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn
from mahrem.learning.synthesis._synthetic_keys import Unique, parse_unique
from mahrem.types import Mask

REDRAWS = 20
TRIED = 1_000  # made-up rows that show whether rules can be kept
PASSES = 100  # over all rules, to narrow bounds; sums can narrow them for ever
_ENDS: tuple[Literal[0], Literal[-1]] = (0, -1)
Draw: TypeAlias = Callable[[int], pl.DataFrame]
Ranges: TypeAlias = Mapping[str, tuple[float, float]]


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

    def broken(self, domain: DeclaredDomain) -> pl.Expr:  # noqa: ARG002 - as the others
        """Say which rows break it."""
        return (pl.col(self.low) > pl.col(self.high)).fill_null(value=False)

    def ranges(self, domain: DeclaredDomain) -> Ranges:
        """Say what it leaves of the ranges of its columns."""
        low, high = domain[self.low].edges, domain[self.high].edges
        return {self.low: (low[0], high[-1]), self.high: (low[0], high[-1])}

    def repaired(self, rows: pl.DataFrame, domain: DeclaredDomain, *, raising: bool) -> pl.DataFrame:
        """Raise the higher column to the lower one, or lower that to the higher one."""
        moved = self.high if raising else self.low
        both = pl.col(self.low).is_not_null() & pl.col(self.high).is_not_null()
        to = (pl.max_horizontal if raising else pl.min_horizontal)(self.low, self.high)
        if domain[moved].kind == "whole":  # beside a number with a fraction
            to = to.ceil() if raising else to.floor()
        kept = pl.when(both).then(to.cast(rows.schema[moved])).otherwise(pl.col(moved))
        return rows.with_columns(kept.alias(moved))


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

    def filled(self, rows: pl.DataFrame, total: DomainColumn) -> pl.DataFrame:
        """Add the total up."""
        summed = pl.sum_horizontal(list(self.parts), ignore_nulls=False).cast(total.dtype)
        return rows.with_columns(summed.alias(self.total))

    def broken(self, domain: DeclaredDomain) -> pl.Expr:
        """Say in which rows the total would leave its bounds."""
        total = domain[self.total]
        inside = pl.col(self.total).is_between(total.bound(0), total.bound(-1))
        return ~(inside.fill_null(value=total.gaps))

    def ranges(self, domain: DeclaredDomain) -> Ranges:
        """Say what it leaves of the ranges of its columns."""
        parts = {name: domain[name].edges for name in self.parts}
        least, most = (sum(edges[end] for edges in parts.values()) for end in _ENDS)
        total = domain[self.total].edges
        left = {
            name: (total[0] - (most - edges[-1]), total[-1] - (least - edges[0]))
            for name, edges in parts.items()
        }
        return {self.total: (least, most), **left}

    def repaired(self, rows: pl.DataFrame, domain: DeclaredDomain) -> pl.DataFrame:
        """Move parts, one after another, towards their bounds until the total fits its own."""
        total = domain[self.total]
        for name in self.parts:
            over = pl.sum_horizontal(list(self.parts), ignore_nulls=False)
            excess = (over - over.clip(total.bound(0), total.bound(-1))).fill_null(0)
            part = domain[name]
            moved = pl.col(name) - excess
            if part.kind == "whole":  # of a total with a fraction
                moved = pl.when(excess > 0).then(moved.floor()).otherwise(moved.ceil())
            moved = moved.clip(part.bound(0), part.bound(-1)).cast(part.dtype)
            rows = rows.with_columns(pl.when(excess != 0).then(moved).otherwise(pl.col(name)).alias(name))
        return self.filled(rows, total)


Constraint: TypeAlias = AtMost | SumOf | Never | Unique
_NAME = r"\s*([^<>=+]+?)\s*"


def parse_constraint(text: str) -> Constraint:
    """Read ``"a <= b"``, ``"b >= a"``, ``"total = a + b"``, ``"never a=x and b=y"`` or ``"unique a, b"``.

    Example:
        >>> parse_constraint("paid = share + rest").parts
        ('share', 'rest')
    """
    if rule := parse_never(text) or parse_unique(text):
        return rule
    if order := re.fullmatch(f"{_NAME}<={_NAME}", text):
        return AtMost(order[1], order[2])
    if order := re.fullmatch(f"{_NAME}>={_NAME}", text):
        return AtMost(order[2], order[1])
    total, mark, rest = text.partition("=")
    parts = tuple(part.strip() for part in rest.split("+"))
    if mark and total.strip() and len(parts) > 1 and all(parts) and not set("<>=") & set(rest):
        return SumOf(total.strip(), parts)
    raise InvalidParameter(
        f"constraint={text!r} must read like 'a <= b', 'total = a + b', 'never a=x and b=y' or 'unique a'"
    )


def refuse_constraints(constraints: Sequence[Constraint], domain: DeclaredDomain) -> None:
    """Refuse rules about words, totals that are parts, and rules that cannot be kept together."""
    totals = {one.total for one in constraints if isinstance(one, SumOf)}
    for one in constraints:
        columns = [domain[name] for name in one.columns]
        if len(set(one.columns)) != len(one.columns):
            raise InvalidParameter(f"constraint={str(one)!r} names a column twice")
        if isinstance(one, Never | Unique):
            _refuse_shared(one, constraints)
            continue
        if any(column.kind == "category" for column in columns):
            raise InvalidParameter(f"constraint={str(one)!r} needs numbers; declare bounds, not values")
        if isinstance(one, AtMost):
            _refuse_order(one, columns, totals)
        else:
            _refuse_sum(one, columns, totals)
    if constraints:
        _refuse_hopeless(constraints, domain)


def _refuse_shared(one: Never | Unique, constraints: Sequence[Constraint]) -> None:
    """Refuse a key that is made up and yet stands in another rule."""
    if isinstance(one, Unique) and one.alone:
        others = [
            other for other in constraints if other is not one and set(one.columns) & set(other.columns)
        ]
        if others:
            raise InvalidParameter(f"constraint={str(one)!r}: a key of its own can stand in no other rule")


def refuse_broken(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> None:
    """Look at rows that are about to be given out: every rule is kept in every row."""
    if constraints and _broken(rows, constraints, domain).any():
        raise GuaranteeBroken("a synthetic row breaks a rule that was to be kept")
    for one in constraints:
        if isinstance(one, Unique) and rows.select(pl.struct(one.columns).is_duplicated().any()).item():
            raise GuaranteeBroken("two synthetic rows share a key that was to be unique")


def bounds_left(constraints: Sequence[Constraint], domain: DeclaredDomain) -> DeclaredDomain:
    """Narrow bounds to what all rules together leave of them; refuses rules that leave nothing."""
    for _ in range(PASSES):
        before = domain
        for one in constraints:
            ranges = one.ranges(domain)
            domain = domain.narrowed(ranges)
            if any(domain[name].edges[0] > domain[name].edges[-1] for name in ranges):
                raise InvalidParameter(
                    f"constraint={str(one)!r} cannot be kept inside the bounds and beside the other rules"
                )
        if domain.columns == before.columns:
            break
    return domain


def _refuse_hopeless(constraints: Sequence[Constraint], domain: DeclaredDomain) -> None:
    """Refuse rules that no row keeps: bounds may seem to leave room, so made-up rows are tried."""
    spoken_of = {name for one in constraints for name in one.columns}
    few = replace(domain, columns=tuple(column for column in domain.columns if column.name in spoken_of))
    left, rng = bounds_left(constraints, few), np.random.default_rng(0)
    rows = _filled(pl.DataFrame([_anywhere(column, rng) for column in left.columns]), constraints, few)
    if _broken(_repaired(rows, constraints, few), constraints, few).all():
        raise InvalidParameter(f"constraints={[str(one) for one in constraints]} cannot be kept together")


def _anywhere(column: DomainColumn, rng: np.random.Generator) -> pl.Series:
    """Give values anywhere between the bounds of a column."""
    if column.kind == "category":
        return column.draw(rng.integers(0, column.values, TRIED), rng)
    low, high = column.edges[0], column.edges[-1]
    if column.kind == "number":
        return pl.Series(column.name, rng.uniform(low, high, TRIED)).cast(column.dtype)
    whole = pl.Series(column.name, rng.integers(math.ceil(low), math.floor(high), TRIED, endpoint=True))
    return (whole.cast(pl.Int32).cast(pl.Date) if column.kind == "date" else whole).cast(column.dtype)


def _refuse_order(one: AtMost, columns: Sequence[DomainColumn], totals: set[str]) -> None:
    if totals & set(one.columns):
        raise InvalidParameter(f"constraint={str(one)!r} speaks of a total; put it on its parts")
    if (columns[0].kind == "date") != (columns[1].kind == "date"):
        raise InvalidParameter(f"constraint={str(one)!r} compares a date with a number")


def _refuse_sum(one: SumOf, columns: Sequence[DomainColumn], totals: set[str]) -> None:
    total, *parts = columns
    if any(column.kind == "date" for column in columns) or totals & set(one.parts):
        raise InvalidParameter(f"constraint={str(one)!r} must add up numbers that are no totals")
    if total.kind == "whole" and any(part.kind == "number" for part in parts):
        raise InvalidParameter(f"constraint={str(one)!r}: parts of a whole number must be whole numbers")
    if any(part.gaps for part in parts) and not total.gaps:
        raise InvalidParameter(f"constraint={str(one)!r}: the total must be allowed to be missing too")


def keep_constraints(
    draw: Draw, rows: int, constraints: Sequence[Constraint], domain: DeclaredDomain
) -> tuple[pl.DataFrame, int]:
    """Draw rows that keep every rule; gives them and how many had to be repaired.

    Totals are added up from their parts. Rows that break a rule are drawn again, up to 20 times: what remains
    is the distribution of the model given the rules. The few that are left are repaired, and what cannot be
    repaired is replaced by rows that keep the rules.

    Guarantees:
        - Every row keeps every rule and every declared bound.
    """
    table = _filled(draw(rows), constraints, domain)
    if not constraints:
        return table, 0
    for _ in range(REDRAWS):
        bad = _broken(table, constraints, domain)
        count = int(bad.sum())
        if not count:
            return table.select(domain.names), 0
        table = _replaced(table, bad, _filled(draw(count), constraints, domain))
    bad = _broken(table, constraints, domain)
    repaired = _repaired(table.filter(pl.Series(bad)), constraints, domain)
    hopeless = _broken(repaired, constraints, domain)
    if hopeless.any():
        kept = pl.concat([table.filter(pl.Series(~bad)), repaired.filter(pl.Series(~hopeless))])
        if not kept.height:
            raise InvalidParameter("constraints contradict each other: no row could be made to keep them all")
        again = kept[np.arange(np.count_nonzero(hopeless)) % kept.height]
        repaired = _replaced(repaired, hopeless, again)
    return _replaced(table, bad, repaired).select(domain.names), int(bad.sum())


def _replaced(rows: pl.DataFrame, bad: Mask, fresh: pl.DataFrame) -> pl.DataFrame:
    """Put other rows in the places of bad ones."""
    order = np.arange(len(bad))
    order[bad] = len(bad) + np.arange(fresh.height)
    return pl.concat([rows, fresh])[order]


def _repaired(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> pl.DataFrame:
    """Take rows inside what the rules leave of the bounds; there, raise what is too low, then lower the rest.

    Raising is enough for rules of order; a sum may ask for the other way.
    """
    left = bounds_left(constraints, domain)
    numbers = [one for one in constraints if isinstance(one, AtMost | SumOf)]
    columns = [left[name] for name in dict.fromkeys(name for one in numbers for name in one.columns)]
    rows = rows.with_columns(
        pl.col(column.name).clip(column.bound(0), column.bound(-1)).cast(column.dtype) for column in columns
    )
    for raising in (True, False):
        for _ in range(len(constraints) + 1):
            for one in constraints:
                if isinstance(one, SumOf):
                    rows = one.repaired(rows, left)
                elif isinstance(one, AtMost):
                    rows = one.repaired(rows, left, raising=raising)
        rows = _filled(rows, constraints, domain)
        if not _broken(rows, constraints, domain).any():
            break
    return rows


def _filled(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> pl.DataFrame:
    for one in constraints:
        if isinstance(one, SumOf):
            rows = one.filled(rows, domain[one.total])
    return rows.select(domain.names)


def _broken(rows: pl.DataFrame, constraints: Sequence[Constraint], domain: DeclaredDomain) -> Mask:
    return rows.select(pl.any_horizontal([one.broken(domain) for one in constraints])).to_series().to_numpy()
