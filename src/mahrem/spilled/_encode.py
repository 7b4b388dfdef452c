"""The first pass over the cells: what they give away, and numbers on disk that the cuts depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem.contents import TableSketch, merge_sketches, sketch_table
from mahrem.drafts import coarse_axis
from mahrem.errors import InvalidParameter
from mahrem.recode import HeapCount, Recoding, count_heaps
from mahrem.release.decisions import Policy, column_of, hierarchies_of, recoding_of
from mahrem.spark import CodedColumn, Piece
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
    Words,
    encode_quasi,
    encode_sensitive,
)
from mahrem.table.cells import all_whole
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
    coded: tuple[CodedColumn, ...]
    codes: tuple[Codes, ...] = field(repr=False)  # of each number on disk, by sensitive column
    recodings: tuple[Recoding, ...] = ()  # one for each quasi-identifier, once all rows are known

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.store.rows

    def piece(self, stored: Matrix[Floats]) -> Piece:
        """Give points, and the codes of every sensitive column."""
        points = np.empty((len(stored), len(self.axes)))
        for place, axis in enumerate(self.axes):
            points[:, place] = axis.axis(stored[:, place]).scaled()
        codes = [
            looked_up(codes, stored[:, len(self.axes) + place]).astype(np.int64)
            for place, codes in enumerate(self.codes)
        ]
        return points, codes

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Read all rows, so many at a time."""
        return map(self.piece, self.store.batches(rows))


class _PlacedNumbers:
    """A column of numbers or moments, laid on its axis batch by batch."""

    def __init__(self, column: Column, policy: Policy) -> None:
        self.column = column
        self._decimal = policy.decimal
        low, high = policy.bottom.get(column.name, -np.inf), policy.top.get(column.name, np.inf)
        self._ends = (low, high)
        self.domain: Numbers | Moments | None = None
        self._none: Domain | None = None  # of batches without a value

    def number(self, cells: pl.Series) -> Positions:
        """Give the place of every cell; NaN is missing."""
        axis = encode_quasi(cells, self.column, decimal=self._decimal)
        positions, domain = axis.positions, axis.domain
        if np.isfinite(self._ends).any():
            if not isinstance(domain, Numbers):
                raise _unfit_ends(self.column.name, self._ends)
            positions = np.clip(positions, *self._ends)
        known = positions[~np.isnan(positions)]
        assert isinstance(domain, Numbers | Moments)  # noqa: S101 - of these kinds alone
        self._none = domain
        if len(known):
            low, high = float(known.min()), float(known.max())
            if isinstance(domain, Numbers) and np.isfinite(self._ends).any():
                domain = Numbers(low, high, all_whole(known))
            self.domain = replace(domain, low=low, high=high) if self.domain is None else self._wider(domain)
        return positions

    def _wider(self, domain: Numbers | Moments) -> Numbers | Moments:
        mine = self.domain
        assert mine is not None  # noqa: S101
        wider = replace(domain, low=min(mine.low, domain.low), high=max(mine.high, domain.high))
        if isinstance(mine, Numbers) and isinstance(wider, Numbers):
            return replace(wider, whole=mine.whole and wider.whole)
        return wider

    def spilled(self, policy: Policy) -> tuple[Column, Domain, None]:
        """Give what the column is, and where its numbers lie."""
        domain = self.domain or self._none or Numbers(0.0, 0.0, whole=True)
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
        ends = policy.bottom.get(column.name, -np.inf), policy.top.get(column.name, np.inf)
        if np.isfinite(ends).any():
            if not isinstance(axis.domain, Numbers):
                raise _unfit_ends(column.name, ends)
            positions = np.clip(axis.positions, *ends)
            known = positions[~np.isnan(positions)]
            low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
            axis = replace(axis, positions=positions, domain=Numbers(low, high, all_whole(known)))
        axis = coarse_axis(axis, policy)
        return column, axis.domain, axis.positions


def _unfit_ends(name: str, ends: tuple[float, float]) -> InvalidParameter:
    setting = "top" if np.isfinite(ends[1]) else "bottom"
    return InvalidParameter(f"{setting}.{name} is for columns of numbers without a hierarchy")


def encode_table(
    batches: Iterator[pl.DataFrame],
    policy: Policy,
    store: RowStore,
    *,
    published: Sequence[str],
    numbers: frozenset[str],
    most: int,
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
        also: Called with every batch.

    Guarantees:
        - Kinds, domains, places and codes are those of the whole table in memory.
    """
    quasi: dict[str, _PlacedNumbers | _PlacedValues] = {}
    sensitive = {name: ValueNumbers(name, most) for name in policy.sensitive}
    sketch = None
    for batch in batches:
        if not quasi:
            quasi = {name: _placed(batch[name], policy, numbers, most) for name in policy.quasi}
        seen = sketch_table(batch.select(published))
        sketch = seen if sketch is None else merge_sketches([sketch, seen])
        coded = [*quasi.items(), *sensitive.items()]
        store.append(np.column_stack([known.number(batch[name]) for name, known in coded]))
        also(batch)
    if sketch is None:
        raise InvalidParameter("the table has no rows to publish")
    columns: dict[str, Column] = {}
    axes = []
    for name, placed in quasi.items():
        column, domain, places = placed.spilled(policy)
        if isinstance(domain, Leaves):
            raise InvalidParameter(
                f"hierarchy.{name}: tables that do not fit into memory are cut by order, not by trees; "
                "leave it out, or give more memory"
            )
        columns[name] = column
        axes.append(SpilledAxis(name, domain, places))
    coded_columns, codes = [], []
    for name, values in sensitive.items():
        column, read = column_of(policy, values.values, Role.SENSITIVE, hierarchies_of(policy))
        found = encode_sensitive(read, column, decimal=policy.decimal)
        columns[name] = column
        codes.append(found.codes)
        coded_columns.append(
            CodedColumn(name, name, found.size, found.ancestors, missing=found.missing, joined=found.joined)
        )
    table = SpilledTable(store, columns, tuple(axes), tuple(coded_columns), tuple(codes))
    return table, sketch


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
        heaped = counted.heaped(axis.domain)
        known = Axis(axis.name, np.zeros(0), axis.domain)
        recodings.append(recoding_of(known, policy, None, heaps=lambda _, heaped=heaped: heaped))
    return replace(table, recodings=tuple(recodings))


def _heaps(table: SpilledTable, policy: Policy, rows: int) -> list[HeapCount]:
    counts = [HeapCount() for _ in table.axes]
    ranged = [place for place, axis in enumerate(table.axes) if not isinstance(axis.domain, Words | Leaves)]
    if policy.bounds != "grid" or not ranged:
        return counts
    for stored in table.store.batches(rows):
        for place in ranged:
            axis = table.axes[place].axis(stored[:, place])
            ends = [end for said in (policy.bottom, policy.top) if (end := said.get(axis.name)) is not None]
            if ends:  # many may lie on a declared end
                positions = np.where(np.isin(axis.positions, ends), np.nan, axis.positions)
                axis = replace(axis, positions=positions)
            counts[place] = counts[place] + count_heaps(axis)
    return counts
