"""The first pass over the cells: what they give away, and numbers on disk that the cuts depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from mahrem.contents import TableSketch, merge_sketches, sketch_table
from mahrem.drafts import coarse_axis, coded_ends
from mahrem.errors import InvalidParameter
from mahrem.models import PrivacyModel, Promise
from mahrem.recode import HeapCount, Recoding, count_heaps
from mahrem.release.decisions import Policy, column_of, hierarchies_of, recoding_of
from mahrem.spark import CodedColumn, Piece, promised_columns
from mahrem.spilled._dictionary import ValueNumbers, looked_up
from mahrem.spilled._rows import RowStore
from mahrem.table import (
    Axis,
    Column,
    Domain,
    Kind,
    Leaves,
    Moments,
    Numbers,
    Role,
    Values,
    Words,
    encode_quasi,
    encode_sensitive,
)
from mahrem.types import Codes, Floats, Matrix, Positions


@dataclass(frozen=True)
class SpilledAxis:
    """A quasi-identifier whose numbers lie on disk."""

    name: str
    domain: Domain = field(repr=False)
    places: Positions | None = field(repr=False)  # of each number on disk; None: the numbers are places

    def axis(self, stored: Floats) -> Axis:
        """Give some rows on their axis."""
        positions = stored if self.places is None else looked_up(self.places, stored)
        return Axis(self.name, positions, self.domain)


@dataclass(frozen=True)
class SpilledTable:
    """A table as the cuts see it, on disk."""

    store: RowStore
    columns: Mapping[str, Column]  # quasi-identifiers and sensitive columns
    axes: tuple[SpilledAxis, ...]
    values: tuple[Values, ...] = field(repr=False)  # of each number on disk, by sensitive column
    recodings: tuple[Recoding, ...] = ()  # one for each quasi-identifier, once all rows are known

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.store.rows

    @cached_property
    def _readings(self) -> tuple[tuple[CodedColumn, Codes], ...]:
        """Sensitive columns in every reading, with their codes."""
        return tuple(
            (CodedColumn.of(reading, known.name, number), reading.codes)
            for known in self.values
            for number, reading in enumerate(known.readings)
        )

    @property
    def coded(self) -> tuple[CodedColumn, ...]:
        """Sensitive columns in every reading."""
        return tuple(coded for coded, _ in self._readings)

    def promised(self, promises: Sequence[Promise]) -> tuple[tuple[PrivacyModel, CodedColumn | None], ...]:
        """Give the model of each promise with its column, once for every reading of it."""
        readings = {
            known.name: [coded for coded in self.coded if coded.column == known.name] for known in self.values
        }
        return promised_columns(promises, readings)

    def piece(self, stored: Matrix[Floats]) -> Piece:
        """Give points, and the codes of every sensitive column."""
        points = np.empty((len(stored), len(self.axes)))
        for place, axis in enumerate(self.axes):
            points[:, place] = axis.axis(stored[:, place]).scaled()
        names = list(self.columns)
        codes = [
            looked_up(codes, stored[:, names.index(coded.column)]).astype(np.int64)
            for coded, codes in self._readings
        ]
        return points, codes

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Read all rows, so many at a time."""
        return map(self.piece, self.store.batches(rows))


class _PlacedNumbers:
    """A column of numbers or moments, laid on its axis batch by batch."""

    def __init__(self, column: Column, policy: Policy) -> None:
        self.column, self._policy = column, policy
        self.domain: Numbers | Moments | None = None
        self._none: Domain = Numbers(0.0, 0.0, whole=True)  # of a column without a value

    def number(self, cells: pl.Series) -> Positions:
        """Give the place of every cell; NaN is missing."""
        axis = coded_ends(encode_quasi(cells, self.column, decimal=self._policy.decimal), self._policy)
        self._none = axis.domain
        if isinstance(axis.domain, Numbers | Moments) and not np.isnan(axis.positions).all():
            self.domain = axis.domain if self.domain is None else _wider(self.domain, axis.domain)
        return axis.positions

    def spilled(self, policy: Policy) -> tuple[Column, Domain, None]:
        """Give what the column is, and where its numbers lie."""
        domain = self.domain or self._none
        coarse_axis(Axis(self.column.name, np.zeros(0), domain), policy)  # refuses what does not fit
        return self.column, domain, None


class _PlacedValues:
    """A quasi-identifier of which every different value is known in the end."""

    def __init__(self, name: str, most: int) -> None:
        self.values = ValueNumbers(name, most)
        self.number = self.values.number

    def spilled(self, policy: Policy) -> tuple[Column, Domain, Positions]:
        """Decide what the column is by all of its values, and where each lies."""
        column, read = column_of(policy, self.values.values, Role.QUASI, hierarchies_of(policy))
        axis = encode_quasi(read, column, decimal=policy.decimal)
        axis = coarse_axis(coded_ends(axis, policy), policy)
        return column, axis.domain, axis.positions


def _wider(one: Numbers | Moments, other: Numbers | Moments) -> Numbers | Moments:
    """Give the domain of two parts of a column."""
    wider = replace(other, low=min(one.low, other.low), high=max(one.high, other.high))
    if isinstance(one, Numbers) and isinstance(wider, Numbers):
        return replace(wider, whole=one.whole and wider.whole)
    return wider


def encode_table(
    batches: Iterator[pl.DataFrame],
    policy: Policy,
    store: RowStore,
    *,
    published: Sequence[str],
    numbers: frozenset[str],
    most: int,
    people: Callable[[pl.Series], Matrix[Floats]] | None = None,
    also: Callable[[pl.DataFrame], object] = lambda _: None,
) -> tuple[SpilledTable, TableSketch]:
    """Look at every cell once, and write the numbers that cuts depend on.

    Args:
        batches: All rows, in their order.
        policy: Roles, kinds and cells.
        store: Where numbers go; one for each quasi-identifier, then one for each sensitive column.
        published: Columns that are published.
        numbers: Columns of text that hold nothing but plain numbers.
        most: Different values of a column that are held.
        people: Gives numbers of the people behind rows, which are stored last; None where rows count.
        also: Called with every batch.

    Guarantees:
        - Kinds, domains, places and codes are those of the whole table in memory.
    """
    quasi: dict[str, _PlacedNumbers | _PlacedValues] = {}
    policy = policy.of_silenced()
    sensitive = {name: ValueNumbers(name, most) for name in policy.sensitive}
    sketch = None
    for as_read in batches:
        also(as_read)
        batch = policy.silenced(as_read)
        if not quasi:
            quasi = {name: _placed(batch[name], policy, numbers, most) for name in policy.quasi}
        batch_sketch = sketch_table(batch.select(published))
        sketch = batch_sketch if sketch is None else merge_sketches([sketch, batch_sketch])
        coded = [*quasi.items(), *sensitive.items()]
        stored = [known.number(batch[name]) for name, known in coded]
        if people is not None and policy.subject is not None:
            stored.append(people(as_read[policy.subject]))
        store.append(np.column_stack(stored))
    if sketch is None:
        raise InvalidParameter("the table has no rows to publish")
    columns, axes = _axes(quasi, policy)
    encoded = []
    for name, values in sensitive.items():
        columns[name], read = column_of(policy, values.values, Role.SENSITIVE, hierarchies_of(policy))
        encoded.append(encode_sensitive(read, columns[name], decimal=policy.decimal))
    return SpilledTable(store, columns, tuple(axes), tuple(encoded)), sketch


def _axes(
    quasi: Mapping[str, _PlacedNumbers | _PlacedValues], policy: Policy
) -> tuple[dict[str, Column], list[SpilledAxis]]:
    """Decide what quasi-identifiers are, now that all of their values are known."""
    columns: dict[str, Column] = {}
    axes = []
    for name, placed in quasi.items():
        columns[name], domain, places = placed.spilled(policy)
        axes.append(SpilledAxis(name, domain, places))
    return columns, axes


def _placed(
    cells: pl.Series, policy: Policy, numbers: frozenset[str], most: int
) -> _PlacedNumbers | _PlacedValues:
    """Lay numbers and moments on their axis at once; of all else every value must be known first."""
    name, kind = cells.name, policy.kind.get(cells.name)
    if name not in policy.order and name not in policy.hierarchy:
        numeric = cells.dtype.is_numeric() or name in numbers
        if numeric and kind in (None, Kind.NUMERIC):
            return _PlacedNumbers(Column(name=name, role=Role.QUASI, kind=Kind.NUMERIC), policy)
        if cells.dtype in (pl.Date, pl.Datetime) and kind in (None, Kind.DATE):
            return _PlacedNumbers(Column(name=name, role=Role.QUASI, kind=Kind.DATE), policy)
    return _PlacedValues(name, most)


def with_recodings(table: SpilledTable, policy: Policy, rows: int) -> SpilledTable:
    """Choose how columns are written; where values are heaped is counted over all rows."""
    recodings = []
    for axis, counted in zip(table.axes, _heaps(table, policy, rows), strict=True):
        known = Axis(axis.name, np.zeros(0), axis.domain)
        recodings.append(recoding_of(known, policy, None, heaps=partial(_as_counted, counted)))
    return replace(table, recodings=tuple(recodings))


def _as_counted(counted: HeapCount, axis: Axis) -> bool:
    return counted.heaped(axis.domain)


def _heaps(table: SpilledTable, policy: Policy, rows: int) -> list[HeapCount]:
    counts = [HeapCount() for _ in table.axes]
    ranged = [place for place, axis in enumerate(table.axes) if not isinstance(axis.domain, Words | Leaves)]
    if policy.bounds != "grid" or not ranged:
        return counts
    for stored in table.store.batches(rows):
        for place in ranged:
            axis = table.axes[place].axis(stored[:, place])
            ends = [
                end for limits in (policy.bottom, policy.top) if (end := limits.get(axis.name)) is not None
            ]
            if ends:  # many may lie on a declared end
                positions = np.where(np.isin(axis.positions, ends), np.nan, axis.positions)
                axis = replace(axis, positions=positions)
            counts[place] = counts[place] + count_heaps(axis)
    return counts
