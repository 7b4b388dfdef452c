"""Columns of a distributed table as numbers: kinds, domains, positions and codes, found on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.models import Promise
from mahrem.release.decisions import Policy, column_of, hierarchies_of
from mahrem.spark._frame import NUMBERS, PlacedColumn, column, position, sendable
from mahrem.spark._judge import CodedColumn
from mahrem.table import Axis, Column, Hierarchy, Kind, Moments, Numbers, Role, encode_quasi, encode_sensitive
from mahrem.table.cells import all_whole
from mahrem.types import Codes, Floats

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

MOST_VALUES = 200_000  # different values of a column that the driver takes
_EXACT = 2.0**53
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_LEADING_ZERO = r"^[ \t]*0[0-9]+[ \t]*$"
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
_OTHERS = (*_MOMENTS, "string", "boolean")


@dataclass(frozen=True)
class EncodedTable:
    """A distributed table whose quasi-identifiers and sensitive columns have numbers beside them."""

    frame: DataFrame = field(repr=False)
    quasi: tuple[PlacedColumn, ...]
    coded: Mapping[str, tuple[CodedColumn, ...]]  # sensitive columns that a promise speaks of: every reading
    columns: Mapping[str, Column]  # quasi-identifiers and sensitive columns
    joined: bool  # values were looked up: better not done for every pass
    rows: int  # counted before anything was looked up
    incomplete: frozenset[str]  # quasi-identifiers of words that miss some


def encode_on_spark(frame: DataFrame, policy: Policy, promises: Sequence[Promise]) -> EncodedTable:
    """Lay quasi-identifiers on their axes and number the values of sensitive columns.

    Columns of numbers and dates stay where they are: only their ends are found out. Of other columns, and
    of sensitive ones that a promise speaks of, the different values come to the driver, are read there as
    on one machine, and go back as a list of positions. Null is missing; NaN must not occur.

    Raises:
        InvalidInput: If there is no row, or a column has too many different values or cannot be read.
    """
    kinds = dict(frame.dtypes)
    _refuse_kinds(kinds, policy)
    trees = hierarchies_of(policy)
    judged = [name for name in policy.sensitive if name in {promise.column for promise in promises}]
    typed = {
        name: _position(name, kinds[name])
        for name in policy.quasi
        if _stays(name, kinds[name], policy, trees)
    }
    listed = [*(name for name in policy.quasi if name not in typed), *judged]
    facts = _look(frame, typed, listed, kinds, policy=policy)
    if not facts["rows"]:
        raise InvalidInput("the source has no rows to publish")
    long = [name for name in listed if facts[f"many:{name}"] > MOST_VALUES]
    if long:
        texts = {name: _number_of_text(frame, name, kinds[name], policy) for name in long}
        facts |= _look(frame, texts, [], {}, policy=policy)
        typed |= texts
    columns, placed, coded = {}, {}, {}
    for place, name in enumerate(typed):
        own = kinds[name].startswith(NUMBERS) and name not in (*policy.top, *policy.bottom)
        where = name if own else f"__t{place}"
        frame = frame if own else frame.withColumn(where, _between_ends(typed[name], name, policy))
        domain = _domain(name, kinds[name], facts, _ends(name, policy))
        _refuse_ends(name, policy, numbers=isinstance(domain, Numbers))
        placed[name] = PlacedColumn(name, where, domain)
        kind = Kind.DATE if isinstance(domain, Moments) else Kind.NUMERIC
        columns[name] = Column(name=name, role=Role.QUASI, kind=kind)
    short = [name for name in listed if name not in long]
    values = _values(frame, short, facts)
    for place, name in enumerate(short):
        where = f"__v{place}"
        role = Role.QUASI if name in policy.quasi else Role.SENSITIVE
        columns[name], read = column_of(policy, values[name], role, trees)
        numbers: Floats | Codes
        if role is Role.QUASI:
            axis = _within_ends(encode_quasi(read, columns[name], decimal=policy.decimal), policy)
            numbers = axis.positions
            placed[name] = PlacedColumn(name, where, axis.domain)
        else:
            coded_values = encode_sensitive(read, columns[name], decimal=policy.decimal)
            numbers = coded_values.codes
            readings = coded_values.readings
            others = [f"{where}_{number}" for number in range(1, len(readings))]
            coded[name] = tuple(
                CodedColumn.of(reading, at, number)
                for number, (reading, at) in enumerate(zip(readings, [where, *others], strict=True))
            )
            for reading, at in zip(readings[1:], others, strict=True):
                frame = _looked_up(frame, name, values[name], reading.codes, at)
        frame = _looked_up(frame, name, values[name], numbers, where)
    for name in policy.sensitive:
        columns.setdefault(name, _unjudged(name, kinds[name], policy))
    incomplete = frozenset(name for name in listed if facts[f"none:{name}"])
    quasi = tuple(replace(placed[name], incomplete=name in incomplete) for name in policy.quasi)
    return EncodedTable(
        frame,
        quasi,
        coded,
        columns,
        joined=bool(short),
        rows=facts["rows"],
        incomplete=incomplete,
    )


def _refuse_kinds(kinds: Mapping[str, str], policy: Policy) -> None:
    """Only single values have a place on an axis; text under a collation is not what it looks like."""
    for name in (*policy.quasi, *policy.sensitive):
        kind = kinds[name]
        if kind not in _OTHERS and not kind.startswith(NUMBERS):
            raise InvalidInput(
                f"column={name!r} holds {kind} values; engine='spark' takes numbers, text, dates, timestamps "
                "and booleans: cast it, or leave it out"
            )


def _stays(name: str, kind: str, policy: Policy, trees: Mapping[str, Hierarchy]) -> bool:
    """Say whether the values of a column need not come to the driver."""
    if name in trees or name in policy.order:
        return False
    declared = policy.kind.get(name)
    return (kind.startswith(NUMBERS) and declared in (None, Kind.NUMERIC)) or (
        kind in _MOMENTS and declared in (None, Kind.DATE)
    )


def _unjudged(name: str, kind: str, policy: Policy) -> Column:
    """Describe a sensitive column that no promise speaks of."""
    guessed = Kind.DATE if kind in _MOMENTS else Kind.CATEGORICAL
    declared = policy.kind.get(name, Kind.NUMERIC if kind.startswith(NUMBERS) else guessed)
    return Column(name=name, role=Role.SENSITIVE, kind=declared, order=policy.order.get(name))


def _position(name: str, kind: str) -> SparkColumn:
    """Give a typed column as numbers: days or microseconds since 1970 where it is a date."""
    from pyspark.sql import functions

    plain = column(name)
    if kind == "date":
        return functions.unix_date(plain).cast("double")
    return (_micros(name, kind) if kind in _MOMENTS else plain).cast("double")


def _micros(name: str, kind: str) -> SparkColumn:
    """Give moments as whole microseconds since 1970."""
    from pyspark.sql import functions

    plain = column(name)
    if kind == "timestamp_ntz":  # a clock on a wall: no time zone, whatever the session's
        minutes = functions.hour(plain) * 60 + functions.minute(plain)
        seconds = functions.date_part(functions.lit("SECOND"), plain)
        days = functions.unix_date(plain.cast("date")).cast("bigint")
        whole = (days * 1_440 + minutes) * 60_000_000
        return whole + (seconds * 1_000_000).cast("bigint")
    return functions.unix_micros(plain)


def _number_of_text(frame: DataFrame, name: str, kind: str, policy: Policy) -> SparkColumn:
    """Give a long column of text as numbers, if it is one of numbers."""
    from pyspark.sql import functions

    declared = policy.kind.get(name)
    plain = declared in (None, Kind.NUMERIC) and name not in policy.hierarchy
    if name in policy.quasi and kind == "string" and plain:
        text = column(name)
        if policy.decimal == ",":
            text = functions.when(
                ~text.contains("."), functions.replace(text, functions.lit(","), functions.lit("."))
            )
        odd = text.isNull() & column(name).isNotNull() | ~text.rlike(_NUMBER)
        if declared is None:
            odd |= text.rlike(_LEADING_ZERO)
        if frame.where(odd).isEmpty():
            return functions.trim(text).cast("double")
    others = " that are no numbers" if name in policy.quasi else ""
    raise InvalidInput(
        f"column={name!r} has more than {MOST_VALUES} different values{others}: too many for the driver of a "
        "cluster; group them first, or leave the column out"
    )


def _look(
    frame: DataFrame,
    typed: Mapping[str, SparkColumn],
    listed: Sequence[str],
    kinds: Mapping[str, str],
    *,
    policy: Policy | None = None,
) -> dict[str, Any]:
    """Find out the ends of typed columns, and about how many values others have, in one job."""
    from pyspark.sql import functions

    asked: dict[str, SparkColumn] = {"rows": functions.count("*")}
    for name, number in typed.items():
        asked[f"low:{name}"], asked[f"high:{name}"] = functions.min(number), functions.max(number)
        shown = number if policy is None else _between_ends(number, name, policy)
        whole = functions.bool_and(shown == functions.floor(shown))
        asked[f"whole:{name}"] = functions.coalesce(whole, functions.lit(True))
        if kinds.get(name, "").startswith("timestamp"):
            blurred = number.cast("bigint") != _micros(name, kinds[name])
            asked[f"blurred:{name}"] = functions.count_if(blurred)
    for name in listed:
        asked[f"many:{name}"] = functions.approx_count_distinct(column(name))
        asked[f"none:{name}"] = functions.count_if(column(name).isNull())
    row: Any = frame.agg(*(answer.alias(f"a{place}") for place, answer in enumerate(asked.values()))).first()
    return {question: row[place] for place, question in enumerate(asked)}


def _domain(
    name: str, kind: str, facts: Mapping[str, Any], ends: tuple[float, float] = (-np.inf, np.inf)
) -> Moments | Numbers:
    """Give where the values of a typed column lie, once those beyond declared ends lie on them."""
    low, high = facts[f"low:{name}"], facts[f"high:{name}"]
    low, high = (0.0, 0.0) if low is None else (low + 0.0, high + 0.0)
    if blurred := facts.get(f"blurred:{name}"):
        raise InvalidInput(
            f"column={name!r}: {blurred} moments lie too far from 1970 for their microseconds to be kept; "
            "cut them to whole seconds"
        )
    if kind in _MOMENTS:
        # Spark keeps instants, not the zone they were written in.
        return Moments(low, high, "D" if kind == "date" else "us", "UTC" if kind == "timestamp" else None)
    largest = max(-low, high)
    if np.isinf(largest):
        raise InvalidInput(
            f"column={name!r} holds numbers that are not finite; make them missing, or leave those rows out"
        )
    if largest >= _EXACT and kind not in {"float", "double"}:
        raise InvalidInput(
            f"column={name!r}: whole numbers reach 2**53 and cannot be kept apart as numbers; "
            f"pass {spelled('kind', {name: 'code'})} or {spelled('kind', {name: 'categorical'})}"
        )
    # A domain as wide as a value beyond a declared end would tell of it, by cuts and by grids.
    low, high = (float(end) for end in np.clip([low, high], *ends))
    return Numbers(low, high, bool(facts[f"whole:{name}"]) and max(-low, high) < _EXACT)


def number_domains(frame: DataFrame, names: Sequence[str]) -> tuple[PlacedColumn, ...]:
    """Find out the spans of columns of numbers, in one job.

    Raises:
        InvalidInput: If a number is not finite.
    """
    anywhere = Numbers(0, 0, whole=False)
    numbers = {name: position(PlacedColumn(name, name, anywhere)) for name in names}
    facts = _look(frame, numbers, [], {})
    return tuple(PlacedColumn(name, name, _domain(name, "double", facts)) for name in names)


def _ends(name: str, policy: Policy) -> tuple[float, float]:
    return policy.bottom.get(name, -np.inf), policy.top.get(name, np.inf)


def _between_ends(number: SparkColumn, name: str, policy: Policy) -> SparkColumn:
    """Put values beyond a declared end on that end: no cut can tell them apart then."""
    from pyspark.sql import functions

    low, high = _ends(name, policy)
    number = (
        number if np.isinf(low) else functions.when(number < low, functions.lit(float(low))).otherwise(number)
    )
    return (
        number
        if np.isinf(high)
        else functions.when(number > high, functions.lit(float(high))).otherwise(number)
    )


def _within_ends(axis: Axis, policy: Policy) -> Axis:
    """Put values that the driver has read on the declared ends they lie beyond; the domain ends there too."""
    if axis.name not in (*policy.top, *policy.bottom):
        return axis
    _refuse_ends(axis.name, policy, numbers=isinstance(axis.domain, Numbers))
    positions = np.clip(axis.positions, *_ends(axis.name, policy))
    known = positions[~np.isnan(positions)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return replace(axis, positions=positions, domain=Numbers(low, high, all_whole(known)))


def _refuse_ends(name: str, policy: Policy, *, numbers: bool) -> None:
    for setting, ends in (("top", policy.top), ("bottom", policy.bottom)):
        if name in ends and not numbers:
            raise InvalidParameter(f"{setting}.{name} is for columns of numbers without a hierarchy")


def _values(frame: DataFrame, names: Sequence[str], facts: Mapping[str, Any]) -> dict[str, pl.Series]:
    """Bring the different values of some columns to the driver, in one job; null comes last if it occurs."""
    from pyspark.sql import functions

    if not names:
        return {}
    sets = [functions.collect_set(column(name)).alias(f"s{place}") for place, name in enumerate(names)]
    listed = frame.agg(*sets).toArrow()
    values = {}
    for place, name in enumerate(names):
        series = pl.Series(name, pl.from_arrow(listed.column(place).combine_chunks().flatten()))
        null = pl.Series(name, [None], dtype=series.dtype)
        values[name] = pl.concat([series, null]) if facts[f"none:{name}"] else series
    return values


def _looked_up(
    frame: DataFrame, name: str, values: pl.Series, numbers: Floats | Codes, where: str
) -> DataFrame:
    """Put the number of its value beside every row."""
    import pyarrow as pa
    from pyspark.sql import functions

    present = values.is_not_null().to_numpy()
    absent = numbers[~present]
    lookup = pa.table(
        {f"__k{where}": values.filter(pl.Series(present)).to_arrow(), where: pa.array(numbers[present])}
    )
    field_ = frame.schema[name]
    known = frame.sparkSession.createDataFrame(sendable(lookup))
    known = known.withColumn(f"__k{where}", functions.col(f"__k{where}").cast(field_.dataType))
    same = column(name) == functions.col(f"__k{where}")
    frame = frame.join(functions.broadcast(known), same, "left").drop(f"__k{where}")
    if len(absent) and not np.isnan(absent[0]):
        frame = frame.fillna({where: absent[0].item()})
    return frame
