"""What a worker does with a part: the same methods and cells as on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.arrays import sketching
from mahrem.partition import Admits, Mondrian, Mosaic, Partition, Partitioner, Repaired
from mahrem.partition.judging import ColumnCosts
from mahrem.recode import Recoding, render
from mahrem.release.decisions import CellPricing
from mahrem.spark._frame import CLASS, PlacedColumn
from mahrem.spark._judge import Judge
from mahrem.spark._points import Axes, open_pieces
from mahrem.types import Codes, Labels, Points, Positions, Rows

if TYPE_CHECKING:
    import pyarrow as pa

CLASS_BITS = 32  # a class is numbered by its leaf, shifted by so many bits, and its place in the leaf


@dataclass(frozen=True)
class PartFinisher:
    """Sorts the rows of whole parts into classes and rewrites their cells.

    Its batches hold leaves and pieces of their rows: positions, codes, then what is carried along. What comes
    out is the class and what is carried along, cells in the place of quasi-identifiers.
    """

    quasi: tuple[PlacedColumn, ...]
    judge: Judge
    method: Partitioner
    ordered: bool  # bring rows into an order of their own first, for methods whose classes depend on it
    recodings: tuple[Recoding, ...] = field(default=())
    shuffled: bool = False  # give rows back in an order that says nothing of the one they came in
    pricing: tuple[CellPricing, ...] = ()  # of each quasi-identifier; none = widths count

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Finish the parts of one worker."""
        import pyarrow as pa

        parts: dict[int, list[pa.Table]] = {}
        for batch in batches:
            for leaf, blob in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                parts.setdefault(leaf, []).extend(open_pieces([blob]))
        for leaf in sorted(parts):
            table = pa.concat_tables(parts.pop(leaf))
            yield from self._finished(table, leaf).to_batches(max_chunksize=100_000)

    @property
    def _axes(self) -> Axes:
        return Axes(self.quasi, tuple(coded.size for coded in self.judge.columns))

    def _finished(self, table: pa.Table, leaf: int) -> pa.Table:
        import pyarrow as pa

        axes = self._axes
        points = axes.points(table)
        codes = [
            table.column(len(self.quasi) + place).to_numpy().astype(np.int32)
            for place in range(len(self.judge.columns))
        ]
        if self.ordered:
            order = np.lexsort((*_ties(table, axes.width), *codes, *points.T[::-1]))
            table = table.take(pa.array(order))
            points, codes = points[order], [code[order] for code in codes]
        positions = [axes.positions(table, place) for place in range(len(self.pricing))]
        partition = self.classes(points, codes, positions)
        mixed = sketching.shuffled(table.num_rows) if self.shuffled else None
        labels = np.where(partition.labels < 0, -1, partition.labels + (leaf << CLASS_BITS))
        cells = self.cells(table, partition.labels, partition.classes, mixed)
        carried = table.select(range(axes.width, table.num_columns))
        if mixed is not None:
            labels, carried = labels[mixed], carried.take(pa.array(mixed))
        columns = [pa.array(labels), *cells, *carried.columns]
        names = [CLASS, *(quasi.name for quasi in self.quasi[: len(cells)]), *carried.column_names]
        return pa.Table.from_arrays(columns, names=names)

    def classes(self, points: Points, codes: list[Codes], positions: Sequence[Positions] = ()) -> Partition:
        """Sort the rows of one part."""
        admits: Admits = self.judge.admission(len(points), codes)
        costs = tuple(
            pricing.costs(quasi.beside_its_ends(part))
            for quasi, pricing, part in zip(self.quasi, self.pricing, positions, strict=False)
        )
        return priced(self.method, costs)(points, admits)

    def cells(self, table: pa.Table, labels: Labels, classes: int, order: Rows | None = None) -> list[Any]:
        """Write what every row shows, as text; rows in the given order."""
        import pyarrow as pa

        shown = []
        for place, recoding in enumerate(self.recodings):
            quasi = self.quasi[place]
            cells = recoding(quasi.axis(self._axes.positions(table, place)), labels, classes)
            (text,) = render(cells, labels if order is None else labels[order], "text", quasi.name)
            shown.append(text.cast(pl.String).to_arrow().cast(pa.string()))
        return shown


def priced(method: Partitioner, cells: tuple[ColumnCosts, ...]) -> Partitioner:
    """Tell a method that lowers what cells cost, how much that is; others stay as they are."""
    if isinstance(method, Repaired):
        return replace(method, method=priced(method.method, cells), cells=cells)
    return replace(method, cells=cells) if isinstance(method, Mosaic | Mondrian) else method


def _ties(table: pa.Table, begin: int) -> list[Any]:
    """Give hashes of what rows carry along: they arrive in any order, and work done twice must see one."""
    carried = table.columns[begin:]
    if not carried:
        return []
    frame = pl.DataFrame({str(place): pl.Series(values) for place, values in enumerate(carried)})
    return [frame.hash_rows().to_numpy()]
