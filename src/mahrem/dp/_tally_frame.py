"""Add up a tally over a frame or a file, lazily, by polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from mahrem.dp._tally import RESOLUTION, Category, Condition, Edges, EvenGrid, Key, TallyPlan, Term
from mahrem.table import Source
from mahrem.table.cells.alone import number_alone, part_of_width, place_alone, value_alone, value_of
from mahrem.types import Integers


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
    keys = [f"key {place}" for place in range(len(tally.keys))]
    terms = [f"term {place}" for place in range(len(tally.terms))]
    counted = [
        *(_place(key, schema, source).alias(name) for name, key in zip(keys, tally.keys, strict=True)),
        *(_adds(term, schema, source).alias(name) for name, term in zip(terms, tally.terms, strict=True)),
    ]
    if tally.unit.subject is not None:
        whose = value_alone(tally.unit.subject, schema[tally.unit.subject])
        frame = frame.select(whose.alias("whose"), *counted).drop_nulls("whose")
        # By what a row adds, not by its cells or place: how these are written, and where, others decide. And
        # by whose it is: else all people with the same rows would give the same one, and totals be lopsided.
        drawn = pl.struct("whose", *keys, *terms).hash().rank("ordinal").over("whose")
        frame = frame.filter(drawn <= tally.unit.rows).select(*keys, *terms)
    else:
        frame = frame.select(*counted)
    if not keys:
        totals = frame.select(pl.col(name).sum() for name in terms).collect()
        sums[:] = [int(totals[name][0]) for name in terms]
        return sums
    grouped = frame.drop_nulls(keys).group_by(keys).agg(pl.col(name).sum() for name in terms).collect()
    for place in grouped.select(*keys, *terms).iter_rows():  # one row per group, of which few exist
        sums[place[: len(keys)]] = place[len(keys) :]
    return sums


def _number(column: str, schema: pl.Schema, source: Source) -> pl.Expr:
    return number_alone(column, schema[column], source.reading.decimal)


def _clipped(of: Term | EvenGrid, schema: pl.Schema, source: Source) -> pl.Expr:
    number = _number(str(of.column), schema, source)
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
            share = part_of_width(value, max(abs(term.lower), abs(term.upper)))
        case "centred":
            share = part_of_width(value - term.middle, term.half)
        case "above" | "below":
            share = part_of_width(value - term.lower, term.upper - term.lower)
        case _:
            share = 2 * part_of_width(value - term.middle, term.half).pow(2) - 1
    least, most = term.bounds
    steps = (share * RESOLUTION).round().cast(pl.Int64, strict=False).clip(least, most)
    return (RESOLUTION - steps if term.kind == "below" else steps).fill_null(0)


def _ones(schema: pl.Schema) -> pl.Expr:
    return pl.col(schema.names()[0]).is_null().cast(pl.Int64) * 0 + 1


def _place(key: Key, schema: pl.Schema, source: Source) -> pl.Expr:
    """Give the number of the group, or null for no group."""
    match key:
        case Category():
            return place_alone(key.column, schema[key.column], key.categories, source.reading.decimal)
        case EvenGrid():
            above = _clipped(key, schema, source) - key.lower
            share = part_of_width(above, key.upper - key.lower) * key.steps
            whole = share.round() if key.nearest else share.floor()
            return whole.cast(pl.Int64, strict=False).clip(0, key.size - 1)
        case Edges():
            number = _number(key.column, schema, source)
            place = pl.lit(0, dtype=pl.Int64)
            for edge in key.edges:
                place += (number >= edge).cast(pl.Int64)
            return place


def _passes(condition: Condition, schema: pl.Schema, source: Source) -> pl.Expr:
    name, value = condition.column, condition.value
    if condition.numeric:
        cell = _number(name, schema, source)
        return (
            cell.is_in(list(value)) if isinstance(value, tuple) else _COMPARE[condition.operator](cell, value)
        )
    kind, decimal = schema[name], source.reading.decimal
    if condition.operator in {"=", "!=", "in"}:
        wanted = tuple(map(str, value if isinstance(value, tuple) else (value,)))
        matches = place_alone(name, kind, tuple(dict.fromkeys(wanted)), decimal).is_not_null()
        if condition.operator != "!=":
            return matches
        return value_alone(name, kind, decimal).is_not_null() & ~matches
    return _in_order(condition, schema, source)


def _in_order(condition: Condition, schema: pl.Schema, source: Source) -> pl.Expr:
    """Compare with a text: by number where cell and text both are one, else as texts in one spelling."""
    name, decimal, given = condition.column, source.reading.decimal, str(condition.value).strip()
    compare, (text, number) = _COMPARE[condition.operator], value_of(given, decimal)
    # Words are compared with the word that was given: ``f`` is a truth beside truths alone.
    by_text = compare(value_alone(name, schema[name], decimal), text if text and number is None else given)
    if number is None:
        return by_text
    cell = _number(name, schema, source)
    return pl.when(cell.is_not_null()).then(compare(cell, number)).otherwise(by_text)


_COMPARE: Mapping[str, Callable[[pl.Expr, float | str], pl.Expr]] = {
    "=": pl.Expr.eq,
    "!=": pl.Expr.ne,
    "<": pl.Expr.lt,
    "<=": pl.Expr.le,
    ">": pl.Expr.gt,
    ">=": pl.Expr.ge,
}
