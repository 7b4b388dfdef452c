"""Add up a tally over a frame or a file, lazily, by polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from mahrem.dp._tally import RESOLUTION, Category, Condition, Edges, EvenGrid, Key, TallyPlan, Term
from mahrem.errors import InvalidParameter
from mahrem.table import Source
from mahrem.types import Integers


def refuse_types(tally: TallyPlan, source: Source) -> None:
    """Refuse columns whose type can never be what the tally needs; looks at the schema only."""
    if not tally.columns:
        return
    schema = source.scan(tally.columns).collect_schema()
    for name in tally.numbers:
        if not (schema[name].is_numeric() or isinstance(schema[name], pl.String | pl.Boolean | pl.Null)):
            raise InvalidParameter(f"column={name!r} holds {schema[name].base_type()} values, no numbers")


def tally_frame(tally: TallyPlan, source: Source) -> Integers:
    """Sum up; gives ``(*shape, terms)`` integers."""
    sums = np.zeros((*tally.shape, len(tally.terms)), dtype=np.int64)
    if not tally.columns:
        sums[..., :] = source.rows
        return sums
    frame = source.scan(tally.columns)
    schema = frame.collect_schema()
    for condition in tally.where:
        frame = frame.filter(_passes(condition, schema, source).fill_null(value=False))
    if tally.unit.subject is not None:
        subject = pl.col(tally.unit.subject)
        frame = frame.filter(subject.is_not_null())
        frame = frame.filter(pl.int_range(pl.len()).over(tally.unit.subject) < tally.unit.rows)
    keys = [f"key {place}" for place in range(len(tally.keys))]
    terms = [f"term {place}" for place in range(len(tally.terms))]
    frame = frame.select(
        *(_place(key, schema, source).alias(name) for name, key in zip(keys, tally.keys, strict=True)),
        *(_adds(term, schema, source).alias(name) for name, term in zip(terms, tally.terms, strict=True)),
    )
    if not keys:
        totals = frame.select(pl.col(name).sum() for name in terms).collect()
        sums[:] = [int(totals[name][0]) for name in terms]
        return sums
    grouped = frame.drop_nulls(keys).group_by(keys).agg(pl.col(name).sum() for name in terms).collect()
    for place in grouped.select(*keys, *terms).iter_rows():  # one row per group, of which few exist
        sums[place[: len(keys)]] = place[len(keys) :]
    return sums


def cell_number(column: str, schema: pl.Schema, source: Source) -> pl.Expr:
    """Read cells as numbers; what is none, NaN included, is null. Never fails on a value."""
    cell = pl.col(column)
    if isinstance(schema[column], pl.String):
        if source.reading.decimal == ",":
            cell = cell.str.replace_all(",", ".", literal=True)
        cell = cell.str.strip_chars()
    number = cell.cast(pl.Float64, strict=False)
    return pl.when(number.is_nan()).then(None).otherwise(number)


def _clipped(of: Term | EvenGrid, schema: pl.Schema, source: Source) -> pl.Expr:
    number = cell_number(str(of.column), schema, source)
    if of.missing is not None:
        number = number.fill_null(of.missing)
    return number.clip(of.lower, of.upper)


def _adds(term: Term, schema: pl.Schema, source: Source) -> pl.Expr:
    if term.kind == "rows":
        return _ones(schema)
    value = _clipped(term, schema, source)
    if term.kind == "present":
        return value.is_not_null().cast(pl.Int64)
    match term.kind:
        case "value":
            share = value / max(abs(term.lower), abs(term.upper))
        case "centred":
            share = (value - term.middle) / term.half
        case _:
            share = 2 * ((value - term.middle) / term.half).pow(2) - 1
    least, most = term.bounds
    steps = (share * RESOLUTION).round().cast(pl.Int64, strict=False)
    return steps.clip(least, most).fill_null(0)


def _ones(schema: pl.Schema) -> pl.Expr:
    return pl.col(schema.names()[0]).is_null().cast(pl.Int64) * 0 + 1


def _place(key: Key, schema: pl.Schema, source: Source) -> pl.Expr:
    """Give the number of the group, or null for no group."""
    match key:
        case Category():
            return cell_place(key, schema[key.column])
        case EvenGrid():
            share = (_clipped(key, schema, source) - key.lower) / (key.upper - key.lower) * key.steps
            whole = share.round() if key.nearest else share.floor()
            return whole.cast(pl.Int64, strict=False).clip(0, key.size - 1)
        case Edges():
            number = cell_number(key.column, schema, source)
            place = pl.lit(0, dtype=pl.Int64)
            for edge in key.edges:
                place += (number >= edge).cast(pl.Int64)
            return place


def cell_place(key: Category, dtype: pl.DataType) -> pl.Expr:
    """Give the number of a cell's declared value, or null. Never fails on a value."""
    cell = pl.col(key.column)
    if not dtype.is_numeric():
        places = pl.Series(range(key.size), dtype=pl.Int64)
        text = cell.cast(pl.String)
        return text.replace_strict(pl.Series(key.categories), places, default=None, return_dtype=pl.Int64)
    known = {
        number: place for place, text in enumerate(key.categories) if (number := _float(text)) is not None
    }
    if not known:
        return pl.lit(None, dtype=pl.Int64)
    old, new = pl.Series(list(known), dtype=pl.Float64), pl.Series(list(known.values()), dtype=pl.Int64)
    return cell.cast(pl.Float64, strict=False).replace_strict(old, new, default=None, return_dtype=pl.Int64)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _passes(condition: Condition, schema: pl.Schema, source: Source) -> pl.Expr:
    name, value = condition.column, condition.value
    cell = cell_number(name, schema, source) if condition.numeric else pl.col(name).cast(pl.String)
    if isinstance(value, tuple):
        return cell.is_in(list(value))
    return _COMPARE[condition.operator](cell, value)


_COMPARE: Mapping[str, Callable[[pl.Expr, float | str], pl.Expr]] = {
    "=": pl.Expr.eq,
    "!=": pl.Expr.ne,
    "<": pl.Expr.lt,
    "<=": pl.Expr.le,
    ">": pl.Expr.gt,
    ">=": pl.Expr.ge,
}
