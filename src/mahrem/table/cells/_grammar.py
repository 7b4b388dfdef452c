r"""The grammar of published cells: what is written is read back as the same set of values.

::

    (empty)            the value is missing
    *                  suppressed: nothing is said
    [18, 25]           a range of numbers, days or moments, both ends inside; moments in a time zone
                       show how far their clock is from UTC: [2022-10-01T00:00:00+03:00, …]
    18                 a single value
    {flu, gout, }      a set; an empty member is the missing value
    061**              every code that begins with 061 and has at most as many characters as the cell, blanks
                       included; the cell is as long as the column's longest code
    "..."              quotes, doubled inside, around anything that would read as something else
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from mahrem.table.cells._text import moments_of_text, numbers_of_text
from mahrem.table.cells.zones import OFFSET, offset_form
from mahrem.types import Floats, Mask

SUPPRESSED = "*"

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf"
_CLOCK = rf"[0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,9}})?)?(?:{OFFSET})?"
_MOMENT = rf"[+-]?[0-9]{{4,6}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_CLOCK})?"
_RANGE = rf"\[({_NUMBER}|{_MOMENT}), ({_NUMBER}|{_MOMENT})\]"
_QUOTED = r'"((?:[^"]|"")*)"'
_MEMBER = re.compile(rf" *(?:{_QUOTED}|([^,{{}}\"]*?)) *(,|\}}$)", re.DOTALL)

# Both patterns are run by polars only, so that writing a cell and writing a column cannot differ.
_LABEL_NEEDS = r'^$|^[\[{"*]|\*$'
_MEMBER_NEEDS = rf'{_LABEL_NEEDS}|[,{{}}"]|^\s|\s$'


@dataclass(frozen=True)
class MissingCell:
    """The value is missing."""


@dataclass(frozen=True)
class Suppressed:
    """The cell says nothing."""


@dataclass(frozen=True)
class Exact:
    """One value, or the label of a hierarchy's node."""

    text: str


@dataclass(frozen=True)
class Range:
    """All numbers, days or moments from ``low`` to ``high``, both inside."""

    low: str
    high: str


@dataclass(frozen=True)
class Members:
    """One of several values; None is the missing value."""

    members: tuple[str | None, ...]


@dataclass(frozen=True)
class Prefix:
    """Every code with this beginning; ``length`` is that of the column's longest code."""

    beginning: str
    length: int


Cell: TypeAlias = MissingCell | Suppressed | Exact | Range | Members | Prefix


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What every class shows in one column; entry ``i`` belongs to class ``i``."""

    text: pl.Series = field(repr=False)  # (c,) String; null = missing
    # (c,) typed ends for pairs and midpoints; None where the cells have no order
    low: pl.Series | None = field(repr=False)
    high: pl.Series | None = field(repr=False)
    suppressed: Mask = field(repr=False)  # (c,) the cell says nothing
    behind: Cells | None = field(repr=False, default=None)  # what a cell that is a point stands for


def write_labels(labels: pl.Series) -> pl.Series:
    """Write each value as a cell of its own; null stays null."""
    return _quote_where(labels, labels.str.contains(_LABEL_NEEDS))


def write_members(labels: pl.Series) -> pl.Series:
    """Write each value as a member of a set; null becomes the empty member."""
    return _quote_where(labels, labels.str.contains(_MEMBER_NEEDS)).fill_null("")


def write_set(members: Sequence[str | None]) -> str:
    """Write a set of values; one value alone is written as itself.

    Example:
        >>> write_set(["flu", "cold, common", None])
        '{flu, "cold, common", }'
    """
    texts = pl.Series(members, dtype=pl.String)
    if len(members) == 1:
        return write_labels(texts).item() or ""
    return "{" + ", ".join(write_members(texts).to_list()) + "}"


def write_prefixes(beginnings: pl.Series, length: int) -> pl.Series:
    """Write each beginning with ``*`` up to ``length`` characters; an empty one is a suppressed cell."""
    stars = length - beginnings.str.len_chars().cast(pl.Int64)
    tail = stars.to_frame("stars").select(tail=pl.lit("").str.pad_end(pl.col("stars"), SUPPRESSED))["tail"]
    quoted = _quote_where(beginnings, beginnings.str.contains(r'^[\[{"]|\*'))
    return (quoted + tail).set(beginnings == "", SUPPRESSED)


def write_ranges(low: pl.Series, high: pl.Series) -> pl.Series:
    """Write ranges from typed ends (whole numbers, floats, days, moments); equal ends are one value.

    Null where an end is null.

    Example:
        >>> write_ranges(pl.Series([-5, 7]), pl.Series([7, 7])).to_list()
        ['[-5, 7]', '7']
    """
    ends = pl.DataFrame({"low": low, "high": high})
    texts = ends.select(
        _text(low.alias("low")), _text(high.alias("high")), same=pl.col("low") == pl.col("high")
    )
    ranged = pl.format("[{}, {}]", pl.col("low"), pl.col("high"))
    return texts.select(cell=pl.when("same").then("low").otherwise(ranged))["cell"]


def read_cell(text: str | None) -> Cell:  # noqa: PLR0911 - one return for each form of cell
    """Read one published cell; text of no special form is a value as it stands.

    Example:
        >>> read_cell("[18, 25]"), read_cell('{flu, "cold, common", }')
        (Range(low='18', high='25'), Members(members=('flu', 'cold, common', None)))
        >>> read_cell("061**"), read_cell('"*"'), read_cell("*")
        (Prefix(beginning='061', length=5), Exact(text='*'), Suppressed())
    """
    if not text:
        return MissingCell()
    if text == SUPPRESSED:
        return Suppressed()
    if match := re.fullmatch(_RANGE, text):
        return Range(match[1], match[2])
    if text[0] == "{" and (members := _read_members(text)) is not None:
        return Members(members)
    if match := re.fullmatch(rf"{_QUOTED}(\**)", text):
        bare = match[1].replace('""', '"')
        return Prefix(bare, len(bare) + len(match[2])) if match[2] else Exact(bare)
    if text[-1] == SUPPRESSED:
        return Prefix(text.rstrip(SUPPRESSED), len(text))
    return Exact(text)


def read_ranges(cells: pl.Series) -> tuple[Floats, Floats]:
    """Read both ends of many cells as numbers; NaN where a cell is no number, day, moment or range of them.

    Days count from 1970; a column in which any cell has a time of day is read in microseconds, and one in
    which all have a time zone as instants, in microseconds of UTC.
    """
    low, high = _split(cells.cast(pl.String))
    numbers = numbers_of_text(low), numbers_of_text(high)
    if not any(ends.is_not_nan().any() for ends in numbers) and low.str.contains("[0-9]").any():
        ticks = moments_of_text(pl.concat([low, high.alias(low.name)])).to_physical()  # in one unit
        numbers = ticks[: len(low)], ticks[len(low) :]
    first, last = (ends.cast(pl.Float64).fill_null(float("nan")).to_numpy(writable=True) for ends in numbers)
    half = np.isnan(first) | np.isnan(last)
    first[half] = last[half] = np.nan
    return first, last


def _split(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Give the text of both ends; a cell without brackets is both its ends."""
    cell = pl.col("cell")
    ranged = cell.str.starts_with("[") & cell.str.ends_with("]")
    frame = text.to_frame("cell")
    if not frame.select(ranged.any()).item():
        return text, text
    inner = cell.str.strip_prefix("[").str.strip_suffix("]").str.split_exact(", ", 1).struct
    ends = frame.select(
        pl.when(ranged).then(inner.field(f"field_{end}")).otherwise(cell).alias(f"field_{end}")
        for end in range(2)
    )
    return ends["field_0"], ends["field_1"]


def _quote_where(labels: pl.Series, needed: pl.Series) -> pl.Series:
    if not needed.any():
        return labels
    doubled = labels.str.replace_all('"', '""', literal=True)
    return (
        pl.select(pl.when(needed).then('"' + doubled + '"').otherwise(labels)).to_series().alias(labels.name)
    )


def _text(ends: pl.Series) -> pl.Expr:
    if isinstance(ends.dtype, pl.Datetime):
        offset = "" if ends.dtype.time_zone is None else offset_form(ends)
        return pl.col(ends.name).dt.strftime("%Y-%m-%dT%H:%M:%S%.f" + offset)
    return pl.col(ends.name).cast(pl.String)


def _read_members(text: str) -> tuple[str | None, ...] | None:
    members: list[str | None] = []
    place = 1
    while match := _MEMBER.match(text, place):
        members.append(match[2] or None if match[1] is None else match[1].replace('""', '"'))
        place = match.end()
        if match[3] == "}":
            return tuple(members)
    return None
