"""Cells of a table as public facts describe them: places of declared values, shares of declared bounds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from mahrem import check
from mahrem.dp._facts import Facts
from mahrem.errors import InvalidParameter, either
from mahrem.table import Reading, Source, open_source
from mahrem.table.cells.alone import number_alone, part_of_width, place_alone, value_alone, values_of
from mahrem.table.cells.spellings import is_unsure_day
from mahrem.types import Floats, Integers


def refuse_undeclared(facts: Facts, columns: Sequence[str]) -> None:
    """Refuse columns of which neither values nor bounds are public."""
    for name in columns:
        known = facts.columns.get(name)
        if known is None or (known.categories is None and not known.bounded):
            near = difflib.get_close_matches(name, facts.columns, n=1) if known is None else []
            hint = f"; did you mean {near[0]}?" if near else ""
            how = either("columns=…", f"--categories {name}=A,B,C or --bounds {name}=LOW:HIGH")
            raise InvalidParameter(
                f"column={name!r} has neither declared values nor public bounds; none is read off the data: "
                f"declare them with the ledger ({how}){hint}"
            )


def refuse_one_value_twice(name: str, values: Iterable[str]) -> None:
    """Refuse declared values that a column of another type would not tell apart, or not tell at all.

    Which type a column has is up to all of its rows, so no reading could keep them apart for everybody. Who
    pays for noise asks here before values are looked for.

    Raises:
        InvalidParameter: If two are one, or one marks nothing or is a day of an unsure form.
    """
    first: dict[object, str] = {}
    declared = list(values)
    for value, (spelled, as_number) in zip(declared, values_of(declared), strict=True):
        if spelled is None:
            raise InvalidParameter(
                f"column={name!r}: category {value!r} is how files mark a missing value; leave it out, and "
                "such cells are in no group, or give the value another name in the table"
            )
        if is_unsure_day(value):
            raise InvalidParameter(
                f"column={name!r}: category {value!r} is a day that programs read by all rows; "
                "write the days of the table as YYYY-MM-DD, and declare them so"
            )
        other = first.setdefault(spelled if as_number is None else as_number, value)
        if other != value:
            raise InvalidParameter(
                f"column={name!r}: categories {other!r} and {value!r} are one value where the column is "
                "read as numbers, truths or days; declare one of them, or name them otherwise in the table"
            )


def public_cells(
    table: object,
    facts: Facts,
    columns: Sequence[str],
    *,
    reading: Reading | None = None,
    shares: bool = True,
) -> Mapping[str, Floats]:
    """Read columns as their public facts say; no cell can make it fail.

    Args:
        table: A frame, a file or a database.
        facts: What is public; a column with declared values is read as one of them, else by its bounds.
        columns: Which columns.
        reading: How to read the table.
        shares: Give numbers as shares of the way between their bounds; else as they are, clipped.

    Guarantees:
        - A declared value becomes its place, any other cell NaN.
        - A number becomes its share of the way from the lower to the upper bound, clipped to [0, 1]; what is
          missing counts as declared, or is NaN.
        - Each cell depends on itself and on public facts alone.

    Example:
        >>> from mahrem.table import ColumnDeclaration
        >>> facts = Facts(columns={"age": ColumnDeclaration(lower=0, upper=100)})
        >>> public_cells(pl.DataFrame({"age": [25.0, 1e9, float("nan")]}), facts, ["age"])["age"].tolist()
        [0.25, 1.0, nan]
    """
    return cells_of(open_privately(table, facts, reading), facts, columns, shares=shares)


def open_privately(table: object, facts: Facts, reading: Reading | None = None) -> Source:
    """Open a table for something that is paid from a ledger: as it declares, and each cell by itself."""
    return open_source(table, facts.read_as(reading))


def cells_of(
    source: Source, facts: Facts, columns: Sequence[str], *, shares: bool = True
) -> Mapping[str, Floats]:
    """Give :func:`public_cells` of a source that is open.

    Whoever needs more than these columns row by row (whose row it is) takes all from one open source: a
    database that is asked twice may answer in another order.
    """
    refuse_undeclared(facts, columns)
    check.columns_exist(columns, source.columns)
    frame = source.take(list(columns))
    schema = frame.schema
    parts = []
    for name in columns:
        known = facts.columns[name]
        if known.categories is not None:
            place = place_alone(name, schema[name], known.categories, source.reading.decimal)
            parts.append(place.cast(pl.Float64).alias(name))
            continue
        low, high = facts.bounds(name)
        number = number_alone(name, schema[name], source.reading.decimal)
        if known.missing is not None:
            number = number.fill_null(known.missing)
        number = number.clip(low, high)
        if shares:
            number = part_of_width(number - low, high - low).clip(0.0, 1.0)
        parts.append(number.alias(name))
    read = frame.select(parts)
    return {name: read[name].fill_null(float("nan")).to_numpy().astype(np.float64) for name in columns}


def unit_numbers(frame: pl.DataFrame, subject: str) -> Integers:
    """Number the people of a table from 1, as they appear; rows without a person get 0.

    Example:
        >>> unit_numbers(pl.DataFrame({"who": [7.0, 9.0, None, 7.0]}), "who").tolist()
        [1, 2, 0, 1]
    """
    whose = frame.select(value_alone(subject, frame.schema[subject]).alias("whose")).with_row_index("place")
    first = pl.col("place").min().over("whose")
    numbers = whose.select(pl.when(pl.col("whose").is_not_null()).then(first)).to_series()
    return numbers.rank("dense").fill_null(0).to_numpy().astype(np.int64)
