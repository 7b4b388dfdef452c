"""Rows in pieces: Spark moves and keeps thousands of them as one value, and only workers look inside.

Spark turns rows into Arrow value by value, and does it anew for every pass that runs in Python. Here it is
done once: a worker packs its batches into bytes, and later passes and the way to the parts see only those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.spark._frame import PlacedColumn, column, position
from mahrem.spark._glance import GlanceTaker, TableGlance
from mahrem.spark._judge import CodedColumn
from mahrem.spark._plan import CutPlan
from mahrem.spark._tally import PassCount, Piece, Survey, merge
from mahrem.types import Floats, Points

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_ROWS = 100_000  # of a piece
_BYTES = 4 << 20  # of a piece: what Spark keeps together when it keeps a table
_AT_ONCE = 32 << 20  # bytes that a worker sorts by leaf at a time
_MANY_WORKERS = 32  # from here on workers add up counts before the driver does


@dataclass(frozen=True)
class Axes:
    """Reads packed rows: positions come first, then codes, then whatever else is carried along."""

    quasi: tuple[PlacedColumn, ...]
    sizes: tuple[int, ...]  # how many values each sensitive column knows

    @property
    def width(self) -> int:
        """How many columns are positions and codes."""
        return len(self.quasi) + len(self.sizes)

    def positions(self, table: pa.Table, place: int) -> Floats:
        """Give the positions of a column; NaN is missing."""
        numbers: Floats = _numbers(table.column(place)).astype(np.float64, copy=False)
        return numbers

    def points(self, table: pa.Table) -> Points:
        """Give positions in [0, 1] as on one machine, missing values at -1."""
        points = np.empty((table.num_rows, len(self.quasi)))
        for place, quasi in enumerate(self.quasi):
            points[:, place] = quasi.axis(self.positions(table, place)).scaled()
        return points

    def piece(self, table: pa.Table) -> Piece:
        """Give points, and the codes of every sensitive column."""
        places = range(len(self.quasi), self.width)
        return self.points(table), [_numbers(table.column(place)).astype(np.int64) for place in places]


def _numbers(values: Any) -> Any:
    return values.to_numpy(zero_copy_only=False)


def pack_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Pack Arrow batches into pieces of a size that Spark handles well."""
    import pyarrow as pa

    # Every pass moves all pieces from Java to Python: half the bytes move in half the time.
    tight = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)

    def written(parts: list[pa.RecordBatch]) -> bytes:
        room = pa.BufferOutputStream()
        with pa.ipc.new_stream(room, parts[0].schema, options=tight) as stream:
            for part in parts:
                stream.write_batch(part)
        piece: bytes = room.getvalue().to_pybytes()
        return piece

    waiting: list[Any] = []
    rows = size = 0
    for batch in batches:
        most = min(_ROWS, max(1, _BYTES * batch.num_rows // max(batch.nbytes, 1)))
        for begin in range(0, batch.num_rows, most):
            part = batch.slice(begin, most)
            if waiting and (rows + part.num_rows > _ROWS or size + part.nbytes > _BYTES):
                yield written(waiting)
                waiting, rows, size = [], 0, 0
            waiting.append(part)
            rows, size = rows + part.num_rows, size + part.nbytes
    if waiting:
        yield written(waiting)


def open_pieces(blobs: pa.Array) -> Iterator[pa.Table]:
    """Give the Arrow tables that were packed into a column of pieces."""
    import pyarrow as pa

    alone = pa.ipc.IpcReadOptions(use_threads=False)  # the other cores have workers of their own
    for blob in blobs:
        yield pa.ipc.open_stream(blob.as_buffer(), options=alone).read_all()


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack the rows of one worker."""
    for piece in pack_rows(batches):
        yield _row(piece)


def _row(blob: bytes, **more: int) -> pa.RecordBatch:
    import pyarrow as pa

    named = {name: pa.array([number], pa.int32()) for name, number in more.items()}
    return pa.RecordBatch.from_pydict({**named, "blob": pa.array([blob], pa.binary())})


@dataclass(frozen=True)
class _PieceWorker:
    """Shows all pieces of a worker to somebody who sums them up."""

    axes: Axes
    work: Callable[[Iterator[Piece]], bytes]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = (table for batch in batches for table in open_pieces(batch.column(0)))
        yield _row(self.work(self.axes.piece(table) for table in tables if table.num_rows))


@dataclass(frozen=True)
class PackedRows:
    """What the cuts depend on, for every row of a distributed table, kept on the cluster in pieces."""

    frame: DataFrame = field(repr=False)  # one column of pieces
    axes: Axes

    @staticmethod
    def of(frame: DataFrame, quasi: Sequence[PlacedColumn], coded: Sequence[CodedColumn]) -> PackedRows:
        """Pack the positions and codes of a Spark DataFrame, when they are first asked for."""
        rows = frame.select(*shipped_columns(quasi, coded))
        return PackedRows(
            rows.mapInArrow(_pack, "blob binary").persist(),
            Axes(tuple(quasi), tuple(coded_column.size for coded_column in coded)),
        )

    def let_go(self) -> None:
        """Keep the pieces no longer."""
        self.frame.unpersist()

    @cached_property
    def glance(self) -> TableGlance:
        """What a first pass finds: patterns of missing values, sensitive values, edges."""
        look = GlanceTaker(len(self.axes.quasi), self.axes.sizes)
        glances = [TableGlance.unpack(bytes(row["blob"])) for row in self._answers(look).collect()]
        return TableGlance.merged([look.nothing(), *glances])  # a table without a row may have no workers

    def ask(self, survey: Survey, cores: int) -> PassCount:
        """Run one pass."""
        counted = self._answers(survey)
        if cores > _MANY_WORKERS:
            counted = counted.repartition(_MANY_WORKERS).mapInArrow(_added, "blob binary")
        counts = (PassCount.unpack(bytes(row["blob"])) for row in counted.collect())
        return reduce(lambda count, more: merge([count, more]), counts)  # never all of them unpacked at once

    def _answers(self, work: Callable[[Iterator[Piece]], bytes]) -> DataFrame:
        return self.frame.mapInArrow(_PieceWorker(self.axes, work), "blob binary")


def shipped_columns(quasi: Sequence[PlacedColumn], coded: Sequence[CodedColumn]) -> list[SparkColumn]:
    """Give positions and codes as the columns that a worker reads first."""
    return [
        *(position(placed).alias(f"__p{place}") for place, placed in enumerate(quasi)),
        *(column(codes.column).cast("int").alias(f"__c{place}") for place, codes in enumerate(coded)),
    ]


def _added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up counts inside a worker."""
    counts = [PassCount.unpack(blob.as_py()) for batch in batches for blob in batch.column(0)]
    if counts:
        yield _row(merge(counts).pack())


@dataclass(frozen=True)
class LeafSorter:
    """Sorts rows into pieces of one leaf each; rows of leaves that are whole stay behind."""

    axes: Axes
    plan: CutPlan
    packed: bool  # what comes in are pieces, not rows

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sort the rows of one worker."""
        waiting: list[Any] = []
        size = 0
        for table in self._tables(batches):
            waiting.append(table)
            size += table.nbytes
            if size > _AT_ONCE:
                yield from self._sorted(waiting)
                waiting, size = [], 0
        if waiting:
            yield from self._sorted(waiting)

    def _tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            yield from open_pieces(batch.column(0)) if self.packed else [pa.Table.from_batches([batch])]

    def _sorted(self, parts: list[Any]) -> Iterator[Any]:
        import pyarrow as pa

        table = pa.concat_tables(parts)
        leaf = self.plan.number[self.plan.survey().stand(self.axes.points(table))]
        if len(self.plan.sizes) > 1:
            order = np.argsort(leaf.astype(np.min_scalar_type(len(self.plan.sizes))), kind="stable")
            table = table.take(pa.array(order)).combine_chunks()
        ends = np.cumsum(np.bincount(leaf, minlength=len(self.plan.sizes)))
        for number, (begin, end) in enumerate(zip(np.append(0, ends), ends, strict=False)):
            if end > begin and not self.plan.whole[number]:
                for piece in pack_rows(table.slice(begin, end - begin).to_batches()):
                    yield _row(piece, leaf=number)
