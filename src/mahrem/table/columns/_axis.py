"""Columns as numbers: a quasi-identifier on an axis of its own, a sensitive column as codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from mahrem.types import Codes, Integers, Positions

if TYPE_CHECKING:
    from mahrem.table.hierarchies import Hierarchy


@dataclass(frozen=True)
class Numbers:
    """Numbers as they are."""

    low: float = field(repr=False)  # real extremes: never to be printed
    high: float = field(repr=False)
    whole: bool  # every value is a whole number: published bounds are written without a point


@dataclass(frozen=True)
class Moments:
    """Dates (unit ``D``: days since 1970) or date-times (unit ``us``: microseconds since 1970).

    Positions of date-times with a time zone are instants, counted in UTC; ``zone`` is that of the column.
    """

    low: float = field(repr=False)  # real extremes: never to be printed
    high: float = field(repr=False)
    unit: str
    zone: str | None = None

    def typed(self, ticks: pl.Series) -> pl.Series:
        """Give positions, whole numbers or null, as days or moments."""
        whole = ticks.cast(pl.Int64)
        if self.unit == "D":
            return whole.cast(pl.Int32).cast(pl.Date)
        return whole.cast(pl.Datetime("us", self.zone))


@dataclass(frozen=True)
class Words:
    """Categories, ordinals or codes; the position of a value is its place in ``labels``.

    ``labels`` are sorted as text (categories, codes) or in the declared order (ordinals).
    """

    labels: tuple[str, ...] = field(repr=False)  # values of the data: never to be printed
    ordered: bool = False  # ordinal: what lies between two values belongs to the cell
    prefixes: bool = False  # code: a cell is a common beginning


@dataclass(frozen=True)
class Leaves:
    """Values at the bottom of a hierarchy; positions follow the tree, so that relatives are neighbours."""

    hierarchy: Hierarchy = field(repr=False)


Domain: TypeAlias = Numbers | Moments | Words | Leaves


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: positions of all rows and the domain they lie in."""

    name: str
    positions: Positions = field(repr=False)  # NaN = missing
    domain: Domain

    @property
    def span(self) -> tuple[float, float]:
        """First and last position the domain knows (for widths, never for printing)."""
        match self.domain:
            case Numbers(low, high) | Moments(low, high):
                return low, high
            case Words(labels):
                return 0.0, max(len(labels) - 1, 0)
            case Leaves(hierarchy):
                return 0.0, max(hierarchy.leaves - 1, 0)

    def scaled(self) -> Positions:
        """Positions in [0, 1], missing values one full width below; a constant column becomes zeros."""
        low, high = self.span
        if low == high:
            return np.where(np.isnan(self.positions), -1.0, 0.0)
        scaled = np.clip(self.positions, low, high)  # top and bottom codes may lie outside
        if np.isinf(high - low):  # the width itself would overflow
            scaled, low, high = scaled / 2, low / 2, high / 2
        scaled -= low
        scaled /= high - low
        scaled[np.isnan(scaled)] = -1.0
        return scaled


@dataclass(frozen=True)
class Values:
    """A sensitive column as codes; codes follow the column's own order, and -1 is not counted.

    Cells that show no value share the last code. ``missing`` says that it is theirs: promises must hold
    whether it counts as a value or not. ``joined`` says that several spellings were taken for one value.
    ``alike`` numbers them once more where some values may be the same to a reader, or no value at all;
    whether they are, nobody knows, so promises must hold in all :attr:`readings`.
    """

    name: str
    codes: Codes = field(repr=False)  # (n,) 0 .. size-1; -1 = not counted
    size: int  # distinct values
    ancestors: Integers | None = field(
        default=None, repr=False
    )  # (levels, size) nodes of a hierarchy, bottom-up
    missing: bool = False
    joined: bool = False
    alike: Integers | None = field(
        default=None, repr=False
    )  # (size,) number of the values that may be one, -1 where it may be none; None: there are no such values

    @cached_property
    def readings(self) -> tuple[Values, ...]:
        """Every way to read the column, as it is first: a promise must hold in each of them.

        Values that may be one are two or one, and words for the unknown are values or as little as a missing
        cell. Each choice can be the worst under either of the other: joined values are fewer (diversity) and
        bring classes nearer to the table (t, β, δ), and what a class and the table are without the unknown
        can be better or worse. So all pairs of the two choices are judged.

        Guarantees:
            - Each pair is one of the readings, missing cells a value or none in each; no two are the same.
            - Some of the values that may be one joined and others not is worse for none of the models of
              this package that know no tree: joining one more pair never raises diversity, nor the distance
              of a class from the table, so the worst has all joined or none.
        """
        if self.alike is None:
            return (self,)
        apart = np.arange(self.size)
        missing = apart == self.size - self.missing  # nowhere, if none are
        none = self.alike < 0
        ways = [self.alike, np.where(none, -1, apart)]
        if self.missing:  # else the first of them says it, taken as a value
            ways.append(np.where(none & ~missing, self.alike.max() + 1, self.alike))
        known = {_in_order(np.where(missing, -1, apart)).tobytes(): self}
        for way in map(_in_order, ways):
            if way.tobytes() not in known:
                known[way.tobytes()] = self._read_as(way)
        return tuple(known.values())

    def _read_as(self, numbers: Integers) -> Values:
        """Give the same with other numbers for its values; -1 is no value."""
        values = int(numbers.max(initial=-1)) + 1
        numbers = np.where(numbers < 0, values, numbers)
        size = int(numbers.max(initial=-1)) + 1
        last = np.zeros(size, np.int64)
        last[numbers] = np.arange(self.size)  # of several the last: that of missing cells, where there is it
        return Values(
            self.name,
            np.append(numbers, -1).astype(np.int32)[self.codes],
            size,
            None if self.ancestors is None else self.ancestors[:, last],
            missing=size > values,
            joined=True,
        )


def _in_order(numbers: Integers) -> Integers:
    """Number anew what is not -1, in the order in which numbers first occur."""
    ordered = np.full(len(numbers), -1)
    counted = numbers >= 0
    _, first, place = np.unique(numbers[counted], return_index=True, return_inverse=True)
    ordered[counted] = np.argsort(np.argsort(first))[place]
    return ordered
