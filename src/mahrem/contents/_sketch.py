"""A sketch of a table: some different values of every column, all ways of writing among them, and some rows.

Every row is looked at once. What is kept is chosen by hashes of values, so neither the order of rows nor how
they are spread over machines matters: sketches of parts add up to the sketch of the whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.arrays.sketching import NO_TEXT, SHAPES, SPREAD, LeastTexts, hashes_and_shapes, stay
from mahrem.contents._distinct import LONGEST, DistinctCells, as_text, tidied_cells
from mahrem.contents._repeats import are_sparse_numbers, repeats_evenly
from mahrem.threads import in_parallel
from mahrem.types import Floats, Integers, Mask

VALUES = 1500  # different values of a column that are kept whatever they look like
OF_EACH = 48  # different values that are kept of every way of writing
ROWS = 3000  # different rows that are kept
FEW_OF = 0.1  # of the rows stand out; more are a group
AT_ONCE = 1 << 16  # rows of a column, which stay in the processor's cache
_SHARED = 4  # rows that have a value, on average, from which on each value is looked at once
Hashes = NDArray[np.uint64]
AddHashes = Callable[[int, Hashes], None]


@dataclass(frozen=True)
class ColumnSketch:
    """Some different values of a column, by ascending hash, and how all of its rows are written."""

    values: pl.Series = field(repr=False)  # (m,) as they came
    hashes: Hashes = field(repr=False)  # (m,)
    shapes: NDArray[np.int32] = field(repr=False)  # (m,) how each is written
    counts: Integers = field(repr=False)  # (m,) rows that have it
    rows: int  # with and without a value
    written: Integers = field(repr=False)  # (SHAPES,) rows by how they are written
    more: Mask = field(repr=False)  # (SHAPES,) written so are values that are not kept

    @cached_property
    def present(self) -> int:
        """Rows that have a value."""
        return int(self.written.sum())

    @cached_property
    def distinct(self) -> int:
        """Different values: counted where all are kept, else estimated by how densely hashes lie."""
        kept = np.bincount(self.shapes, minlength=SHAPES)
        last = np.zeros(SHAPES)
        np.maximum.at(last, self.shapes, self.hashes.astype(np.float64))
        estimated = (kept - 1) * 2.0**64 / np.maximum(last, 1.0)
        each = np.where(self.more, np.maximum(kept, np.minimum(estimated, self.written)), kept)
        return max(len(self.hashes), min(self.present, round(float(each.sum()))))

    @cached_property
    def weights(self) -> Floats:
        """How many rows every value stands for: those written like it are shared out by their own rows."""
        kept = np.bincount(self.shapes, weights=self.counts, minlength=SHAPES)
        factor = np.where(self.more, self.written / np.maximum(kept, 1), 1.0)
        return np.asarray(self.counts * factor[self.shapes])

    @property
    def complete(self) -> bool:
        """Whether every value is kept."""
        return not self.more.any()

    def rarely_shared(self, fewer: int) -> float:
        """Give the share of rows whose value fewer rows than this have."""
        return self._share_of(self.counts < fewer)

    def singled_out(self, fewer: int) -> float:
        """Give the share of rows with less company than this, where a measure one step off is company."""
        from mahrem.contents._measures import rows_nearby

        nearby = rows_nearby(self.values, self.counts) if self.complete else None
        return self.rarely_shared(fewer) if nearby is None else self._share_of(nearby < fewer)

    @cached_property
    def is_given_out(self) -> bool:
        """Tell whether numbers come more evenly than by chance: somebody gave them out."""
        from mahrem.contents._measures import are_given_out

        return self.complete and are_given_out(self.values, self.counts)

    def stands_out(self, k: int) -> bool:
        """Tell whether nearly all rows have the same value, or none, and fewer than k another one."""
        if not self.complete or not self.present:
            return False
        missing = self.rows - self.present
        others = self.rows - max(missing, int(self.counts.max()))
        return 0 < others < min(k, FEW_OF * self.rows)

    def _share_of(self, some: Mask) -> float:
        return float(self.weights[some].sum() / self.weights.sum()) if self.present else 0.0

    @cached_property
    def has_own_amounts(self) -> bool:
        """Tell whether numbers are so fine that rows which share one belong to one person."""
        evenly = repeats_evenly(self.counts, self.distinct, self.present)
        return evenly and are_sparse_numbers(self.values, self.distinct)

    def cells(self, region: str | None = None) -> DistinctCells:
        """Give the values as detectors look at them."""
        frame = pl.DataFrame({"text": as_text(self.values), "rows": self.weights})
        cells = tidied_cells(frame, self.rows, self.values.dtype.is_numeric(), region)
        return cells if self.complete else replace(cells, sampled=(self.distinct, self.present))

    def written_so(self, shapes: Mask) -> ColumnSketch:
        """Give the part of a column that is written in some ways."""
        here = shapes[self.shapes]
        return ColumnSketch(
            self.values.filter(pl.Series(here)),
            self.hashes[here],
            self.shapes[here],
            self.counts[here],
            self.rows,
            np.where(shapes, self.written, 0),
            self.more & shapes,
        )


@dataclass(frozen=True)
class TableSketch:
    """What a look at every row of a table leaves: sketches of its columns, and some rows.

    Guarantees:
        - The order of rows and how they are spread over parts change nothing.
    """

    columns: Mapping[str, ColumnSketch]
    sample: pl.DataFrame = field(repr=False)  # different rows, by ascending hash
    counts: Integers = field(repr=False)  # (m,) rows that are like each
    hashes: Hashes = field(repr=False)  # (m,)
    rows: int
    rows_with: Callable[[Sequence[str], pl.DataFrame], pl.DataFrame] | None = field(
        default=None, repr=False, compare=False
    )

    def pack(self) -> bytes:
        """Write it as bytes, for other processes of ours."""
        return pickle.dumps(replace(self, rows_with=None))

    @staticmethod
    def unpack(data: bytes) -> TableSketch:
        """Read what :meth:`pack` wrote."""
        sketch: TableSketch = pickle.loads(data)  # noqa: S301 - from a worker of our own
        return sketch

    def only(self, names: Sequence[str]) -> TableSketch:
        """Keep some columns alone; rows that are alike in them still stand side by side."""
        kept = {name: self.columns[name] for name in names}
        rows_having = self.having

        def rows_with(asked: Sequence[str], values: pl.DataFrame) -> pl.DataFrame:
            return rows_having(asked, values).select(names)

        return replace(self, columns=kept, sample=self.sample.select(names), rows_with=rows_with)

    def having(self, columns: Sequence[str], values: pl.DataFrame) -> pl.DataFrame:
        """Give all rows of the table that have some values in some columns."""
        return (rows_of(self.sample) if self.rows_with is None else self.rows_with)(columns, values)


def sketch_table(
    frame: pl.DataFrame, numbered: Mapping[str, pl.Series] | None = None, *, texts: Collection[str] = ()
) -> TableSketch:
    """Look at every row of a table once.

    Args:
        frame: The table.
        numbered: Columns of text of which is known which cells are equal, as categories: a text is looked at
            once.
        texts: Columns that are categories because somebody numbered their texts: they are told of as texts.

    Example:
        >>> sketch_table(pl.DataFrame({"x": ["a", "b", "a"]})).columns["x"].distinct
        2
    """
    together = _RowHashes(frame)

    def sketch(place: int) -> ColumnSketch:
        column = frame.to_series(place)
        with together.adding(place) as add:
            numbers = _numbers_of((numbered or {}).get(column.name, column))
            if numbers is not None:
                return _look_at_different(column, numbers, add)
            return _look_at_each(column.cast(pl.String) if column.name in texts else column, add)

    sketched = in_parallel(sketch, range(frame.width), rows=frame.height)
    columns = dict(zip(frame.columns, sketched, strict=True))
    least = LeastTexts(overall=ROWS, each=ROWS)
    least.add(together.total(), np.zeros(frame.height, np.int32))
    places, hashes, _, counts, _ = least.chosen()
    sample = _as_texts(frame[places], texts)
    return TableSketch(columns, sample, counts, hashes, frame.height, rows_of(frame, texts))


def _as_texts(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    return frame.with_columns(pl.col(sorted(names)).cast(pl.String)) if names else frame


def _look_at_each(column: pl.Series, add: AddHashes) -> ColumnSketch:
    """Look at every cell, some at a time."""
    least = LeastTexts(overall=VALUES, each=OF_EACH)
    for first in range(0, len(column), AT_ONCE):
        hashes, shapes = hashes_and_shapes(as_text(column.slice(first, AT_ONCE)))
        least.add(hashes, shapes)
        add(first, hashes)
    places, kept_hashes, kept_shapes, counts, more = least.chosen()
    kept = _cut(column.gather(places))
    return ColumnSketch(kept, kept_hashes, kept_shapes, counts, len(column), least.written, more)


def _look_at_different(column: pl.Series, numbers: Integers, add: AddHashes) -> ColumnSketch:
    """Look at the different values of a column alone; gives what a look at every cell would.

    Args:
        column: The column.
        numbers: ``(rows,)`` which of its values each cell has; the last number is that of missing ones.
        add: Takes the hashes of all cells.
    """
    counts = np.bincount(numbers)
    somewhere = np.zeros(len(counts), np.int64)
    somewhere[numbers] = np.arange(len(numbers))
    there = np.flatnonzero(counts)
    values = column.gather(somewhere[there])
    values = values.cast(pl.String) if isinstance(values.dtype, pl.Categorical) else values
    hashes, shapes = hashes_and_shapes(as_text(values))
    by_number = np.zeros(len(counts), np.uint64)
    by_number[there] = hashes
    for first in range(0, len(column), AT_ONCE):
        add(first, by_number[numbers[first : first + AT_ONCE]])
    order = np.argsort(hashes)
    order = order[shapes[order] != NO_TEXT]
    hashes, shapes, counts = hashes[order], shapes[order], counts[there[order]]
    chosen, more = stay(shapes, overall=VALUES, each=OF_EACH), np.zeros(SHAPES, np.bool_)
    more[shapes[~chosen]] = True
    written = np.bincount(shapes, weights=counts, minlength=SHAPES).astype(np.int64)
    kept = _cut(values.gather(order[chosen]))
    return ColumnSketch(kept, hashes[chosen], shapes[chosen], counts[chosen], len(column), written, more)


def _numbers_of(column: pl.Series) -> Integers | None:
    """Number the values of a column where that is easy: categories, small integers, days, fractions."""
    if len(column) < AT_ONCE:
        return None
    if column.dtype.is_float():
        return _numbers_of_fractions(column)
    if not (column.dtype.is_integer() or isinstance(column.dtype, pl.Categorical | pl.Date)):
        return None
    places = column.to_physical()
    low, high = cast("int | None", places.min()), cast("int | None", places.max())
    if low is None or high is None or high - low >= max(AT_ONCE, len(column) // _SHARED):
        return None
    shifted = (places.cast(pl.Int64) - low) if low else places
    return (shifted.fill_null(high - low + 1) if places.null_count() else shifted).to_numpy()


def _numbers_of_fractions(column: pl.Series) -> Integers | None:
    if len(column) <= AT_ONCE:  # they are looked at as quickly one by one
        return None
    from mahrem.arrays.counting import number_different

    words = column.cast(pl.Float64).fill_null(0.0).to_numpy().view(np.uint64)
    different = number_different(words)
    if different is None:
        return None
    firsts, numbers = different
    if not column.null_count():
        return numbers.astype(np.int64)
    return np.where(column.is_null().to_numpy(), len(firsts), numbers)


def _cut(values: pl.Series) -> pl.Series:
    return values.str.slice(0, LONGEST + 1) if values.dtype == pl.String else values


class _RowHashes:
    """Hashes of rows, from those of their cells, in whatever order columns come.

    A row's hash is that of the row up to a column, plus that of the next cell, times ``SPREAD``: a sum of
    cells by powers, to which columns can be added by themselves.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._rows, self._columns = frame.shape
        self._spare: list[Hashes] = []  # sums of some columns each, that nobody adds to just now

    @contextmanager
    def adding(self, place: int) -> Iterator[AddHashes]:
        """Give what adds the cells of a column, from a row on."""
        rows = self._spare.pop() if self._spare else np.zeros(self._rows, np.uint64)
        power = np.uint64(pow(int(SPREAD), self._columns - place, 1 << 64))

        def add(first: int, cells: Hashes) -> None:
            rows[first : first + len(cells)] += cells * power

        yield add
        self._spare.append(rows)

    def total(self) -> Hashes:
        """Give the hashes of all rows."""
        return sum(self._spare[1:], start=self._spare[0]) if self._spare else np.zeros(self._rows, np.uint64)


def content_hashes(frame: pl.DataFrame) -> Hashes:
    """Give a hash of every row: an order of rows that does not depend on how they stand."""
    together = _RowHashes(frame)
    for place, column in enumerate(frame):
        with together.adding(place) as add:
            add(0, hashes_and_shapes(as_text(column))[0])
    return together.total()


def rows_of(
    frame: pl.DataFrame, texts: Collection[str] = ()
) -> Callable[[Sequence[str], pl.DataFrame], pl.DataFrame]:
    """Give what finds all rows of a table that have some values in some columns."""

    def rows_with(names: Sequence[str], values: pl.DataFrame) -> pl.DataFrame:
        asked = _as_texts(frame, [name for name in names if name in texts])
        if len(names) == 1:
            there = asked.filter(pl.col(names[0]).is_in(values[names[0]].implode()))
        else:
            there = asked.join(values, on=list(names), how="semi")
        return _as_texts(there, texts)

    return rows_with


def merge_sketches(parts: Sequence[TableSketch]) -> TableSketch:
    """Add up the sketches of the parts of a table."""
    hashes = np.concatenate([part.hashes for part in parts])
    places, counts = _added(hashes, np.concatenate([part.counts for part in parts]))
    places, counts = places[:ROWS], counts[:ROWS]
    names = list(parts[0].columns)
    return TableSketch(
        {name: _merge_columns([part.columns[name] for part in parts]) for name in names},
        _alone(pl.concat([part.sample for part in parts])[places]),
        counts,
        hashes[places],
        sum(part.rows for part in parts),
    )


def _alone(some: pl.DataFrame) -> pl.DataFrame:
    """Copy texts: those chosen of many would keep the memory of all."""
    names = [name for name, kind in some.schema.items() if kind == pl.String]
    copied = some.select(names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return some.with_columns(pl.DataFrame(copied))


def _merge_columns(parts: Sequence[ColumnSketch]) -> ColumnSketch:
    hashes = np.concatenate([part.hashes for part in parts])
    shapes = np.concatenate([part.shapes for part in parts])
    places, counts = _added(hashes, np.concatenate([part.counts for part in parts]))
    chosen = stay(shapes[places], overall=VALUES, each=OF_EACH)
    more = np.any([part.more for part in parts], axis=0)
    more[shapes[places][~chosen]] = True
    kept = places[chosen]
    return ColumnSketch(
        _alone(pl.concat([part.values for part in parts])[kept].to_frame()).to_series(),
        hashes[kept],
        shapes[kept],
        counts[chosen],
        sum(part.rows for part in parts),
        np.sum([part.written for part in parts], axis=0),
        more,
    )


def _added(hashes: Hashes, counts: Integers) -> tuple[Integers, Integers]:
    """Add up the counts of equal hashes: where each stands, by ascending hash, and its count."""
    _, first, where = np.unique(hashes, return_index=True, return_inverse=True)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, where.reshape(-1), counts)
    return first, total
