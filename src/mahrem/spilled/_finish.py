"""Parts that fit: sorted into classes, rewritten, and sent to where their rows belong in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.partition import Partitioner
from mahrem.recode import render
from mahrem.spilled._bound import MemoryBound
from mahrem.spilled._cut import PartPlan
from mahrem.spilled._encode import SpilledTable
from mahrem.spilled._frames import FrameFiles
from mahrem.spilled._order import RowOrder, class_hashes, row_hashes
from mahrem.spilled._pace import Pace
from mahrem.table import Cells
from mahrem.types import Floats, Integers, Labels, Matrix

_LEAF = "leaf"


@dataclass(frozen=True)
class PartFinisher:
    """What is done with the rows of a part."""

    table: SpilledTable
    plan: PartPlan
    method: Partitioner
    published: tuple[str, ...]  # columns in their order

    def labels(self, stored: Matrix[Floats], leaves: Integers) -> tuple[Labels, int]:
        """Sort the rows of a part into classes, numbered from left to right; gives how many there are."""
        points, codes = self.table.piece(stored)
        judge, coded = self.plan.judge, self.table.coded
        codes = [codes[coded.index(column)] for column in judge.columns]
        labels, classes = np.empty(len(stored), np.int64), 0
        ranks = self.plan.rank_of_leaf[leaves]
        order = np.argsort(ranks, kind="stable")  # rows of a leaf stay in the order of the table
        borders = np.flatnonzero(np.diff(ranks[order])) + 1
        for rows in np.split(order, borders):
            if self.plan.cuts.whole[leaves[rows[0]]]:
                labels[rows], count = classes, 1
            else:
                admits = judge.admission(len(rows), [code[rows].astype(np.int32) for code in codes])
                partition = self.method(points[rows], admits)
                labels[rows], count = partition.labels + classes, partition.classes
            classes += count
        return labels, classes

    def cells(self, stored: Matrix[Floats], labels: Labels, classes: int) -> dict[str, Cells]:
        """Write what classes show."""
        axes = zip(self.table.axes, self.table.recodings, strict=True)
        return {
            axis.name: recoding(axis.axis(stored[:, place]), labels, classes)
            for place, (axis, recoding) in enumerate(axes)
        }

    def shown(self, carried: pl.DataFrame, cells: dict[str, Cells], labels: Labels) -> pl.DataFrame:
        """Put the published columns together."""
        return pl.DataFrame(
            [
                render(cells[name], labels, "text", name)[0] if name in cells else carried[name]
                for name in self.published
            ]
        )


def scatter_rows(
    batches: Iterator[pl.DataFrame], table: SpilledTable, plan: PartPlan, files: FrameFiles, pace: Pace
) -> None:
    """Send every row, as it came and with its numbers, to the file of its part."""
    width = table.store.width
    with table.store.path.open("rb") as stream:
        for batch in batches:
            stored = table.store.next_rows(stream, batch.height)
            points, _ = table.piece(stored)
            leaves = plan.leaves(points)
            numbers = [pl.Series(f"n{place}", stored[:, place]) for place in range(width)]
            own = [column.alias(f"c{place}") for place, column in enumerate(batch)]
            frame = pl.DataFrame([pl.Series(_LEAF, leaves), *numbers, *own])
            files.scatter(frame, plan.part_of_leaf[leaves])
            pace.add(batch.height)
    files.close()


def finish_parts(
    files: FrameFiles,
    finisher: PartFinisher,
    order: RowOrder,
    carried: Sequence[str],
    bound: MemoryBound,
    pace: Pace,
) -> None:
    """Finish part after part; their rows go to the buckets of the order they are published in."""
    plan = finisher.plan
    for part in range(plan.parts):
        held = plan.part_of_leaf == part
        if plan.cuts.whole[held].all() and plan.cuts.sizes[held].sum() > bound.part_rows:
            _finish_large(files, part, finisher, order, carried, pace)
            continue
        frame = files.take(part)
        if frame is None:
            continue
        leaves, stored, own = _taken_apart(frame, finisher.table.store.width, carried)
        labels, classes = finisher.labels(stored, leaves)
        cells = finisher.cells(stored, labels, classes)
        order.add(finisher.shown(own, cells, labels), row_hashes(own, class_hashes(cells), labels))
        pace.add(len(labels))
    order.close()


def _finish_large(
    files: FrameFiles,
    part: int,
    finisher: PartFinisher,
    order: RowOrder,
    carried: Sequence[str],
    pace: Pace,
) -> None:
    """Finish a part that is one class and does not fit: its cells follow from the values that occur."""
    width = finisher.table.store.width
    present = np.zeros((0, width))
    for piece in files.pieces(part):
        _, stored, _ = _taken_apart(piece, width, carried)
        present = np.unique(np.concatenate([present, stored]), axis=0)
    cells = finisher.cells(present, np.zeros(len(present), np.int64), 1)
    hashes = class_hashes(cells)
    for piece in files.pieces(part):
        _, stored, own = _taken_apart(piece, width, carried)
        labels = np.zeros(len(stored), np.int64)
        order.add(finisher.shown(own, cells, labels), row_hashes(own, hashes, labels))
        pace.add(len(labels))
    files.remove(part)


def _taken_apart(
    frame: pl.DataFrame, width: int, carried: Sequence[str]
) -> tuple[Integers, Matrix[Floats], pl.DataFrame]:
    stored = np.column_stack([frame[f"n{place}"].to_numpy() for place in range(width)])
    own = pl.DataFrame([frame[f"c{place}"].alias(name) for place, name in enumerate(carried)])
    return frame[_LEAF].to_numpy(), stored, own
