"""Check a synthetic table against its declared schema, knowing nothing of how it was made."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from mahrem.errors import InvalidParameter

_CLOSE = 1e-9  # of sums of floats, as a share


@dataclass(frozen=True, kw_only=True)
class SchemaVerdict:
    """What a published synthetic table keeps, in counts only.

    Attributes:
        rows: Rows in the file.
        wanted: Rows it was to have.
        columns: Whether it has the declared columns in their order, and no other.
        outside: For each column, cells that are not declared values.
        broken: For each rule, rows that break it.
    """

    rows: int
    wanted: int
    columns: bool
    outside: Mapping[str, int]
    broken: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """True when nothing is amiss."""
        return (
            self.columns
            and self.rows == self.wanted
            and not any(self.outside.values())
            and not any(self.broken.values())
        )


def verify_schema(
    table: pl.LazyFrame, declared: Mapping[str, Mapping[str, object]], *, rows: int, rules: Sequence[str] = ()
) -> SchemaVerdict:
    """Check every cell of a published table; cells may be text.

    Args:
        table: What was published, as it is read back.
        declared: For each column ``kind`` (``category``, ``whole``, ``number``, ``date``), ``missing``
            (whether it may be empty) and ``categories`` or ``bounds``.
        rows: How many rows there should be.
        rules: ``"a <= b"``, ``"b >= a"``, ``"total = a + b"``, ``"never a=x and b=y"``, ``"unique a, b"``.

    Example:
        >>> declared = {"age": {"kind": "whole", "missing": False, "bounds": [0, 99]}}
        >>> verify_schema(pl.LazyFrame({"age": [5, 100, None]}), declared, rows=3).outside
        {'age': 2}
    """
    names = table.collect_schema().names()
    if names != list(declared):
        return SchemaVerdict(rows=0, wanted=rows, columns=False, outside={}, broken={})
    # Positions, not names: a column may be called like a figure.
    figures = [pl.len().alias("rows")]
    figures += [
        _outside(name, column, table).sum().alias(f"cell {place}")
        for place, (name, column) in enumerate(declared.items())
    ]
    figures += [
        _broken(rule, declared).fill_null(value=True).sum().alias(f"rule {place}")
        for place, rule in enumerate(rules)
    ]
    counted = table.select(figures).collect(engine="streaming")
    return SchemaVerdict(
        rows=int(counted["rows"].item()),
        wanted=rows,
        columns=True,
        outside={name: int(counted[f"cell {place}"].item()) for place, name in enumerate(declared)},
        broken={rule: int(counted[f"rule {place}"].item()) for place, rule in enumerate(rules)},
    )


def _outside(name: str, column: Mapping[str, Any], table: pl.LazyFrame) -> pl.Expr:
    """Say which cells are not declared."""
    cell = pl.col(name)
    empty = cell.is_null()
    if table.collect_schema()[name] == pl.String:
        empty = empty | (cell == "")
    if column["kind"] == "category":
        inside = cell.cast(pl.String).is_in([str(value) for value in column["categories"]])
    else:
        value = _value(name, column)
        low, high = (_end(bound, column) for bound in column["bounds"])
        inside = value.is_between(low, high)
        if column["kind"] == "whole":
            inside = inside & (value == value.round())
    return pl.when(empty).then(pl.lit(not column["missing"])).otherwise(~inside.fill_null(value=False))


def _value(name: str, column: Mapping[str, Any]) -> pl.Expr:
    """Read cells as numbers or days; what is neither is null."""
    if column["kind"] == "date":
        return pl.col(name).cast(pl.String).str.to_date("%Y-%m-%d", strict=False)
    number = pl.col(name).cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


def _end(bound: Any, column: Mapping[str, Any]) -> Any:
    return dt.date.fromisoformat(str(bound)) if column["kind"] == "date" else float(bound)


def _broken(rule: str, declared: Mapping[str, Mapping[str, object]]) -> pl.Expr:
    """Say which rows break a rule; where a part is missing the total must be, and an order says nothing."""
    head, _, rest = rule.strip().partition(" ")
    if head == "never":
        return _together(rule, rest, declared)
    if head == "unique":
        return pl.struct(_known(rule, rest.split(","), declared)).is_duplicated()
    left, mark, right = rule.partition("<=")
    if not mark and ">=" in rule:
        right, mark, left = rule.partition(">=")
    parts = [left, right] if mark else [rule.partition("=")[0], *rule.partition("=")[2].split("+")]
    names = _known(rule, parts, declared)
    if len(names) < 2:
        raise InvalidParameter(f"rule={rule!r} does not speak of declared columns")
    first, *others = (_value(name, declared[name]) for name in names)
    if mark:
        return (first > others[0]).fill_null(value=False)
    summed = pl.sum_horizontal(others, ignore_nulls=False)
    apart = (first - summed).abs() > _CLOSE * (1 + summed.abs())
    return (
        pl.when(first.is_null() | summed.is_null()).then(first.is_null() != summed.is_null()).otherwise(apart)
    )


def _known(rule: str, parts: Sequence[str], declared: Mapping[str, Mapping[str, object]]) -> list[str]:
    names = [part.strip() for part in parts]
    if any(name not in declared for name in names):
        raise InvalidParameter(f"rule={rule!r} does not speak of declared columns")
    return names


def _together(rule: str, rest: str, declared: Mapping[str, Mapping[str, Any]]) -> pl.Expr:
    """Say which rows meet all conditions that never go together."""
    met = pl.lit(value=True)
    for part in re.split(r"\s+and\s+", rest):
        name, _, given = part.partition("=")
        (known,) = _known(rule, [name], declared)
        column, asked = declared[known], given.strip()
        if column["kind"] == "category":
            here = pl.col(known).cast(pl.String).is_in(asked.split(","))
        else:
            low, mark, high = asked.partition(":")
            here = _value(known, column).is_between(_end(low, column), _end(high if mark else low, column))
        met = met & here.fill_null(value=False)
    return met
