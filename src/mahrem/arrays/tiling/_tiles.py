"""Mosaic over the whole table: tiles, classes grown in them, new tiles of classes to repair across borders.

Tiles are worked on in threads and share nothing, so the result does not depend on how many there are. From
the second round on a tile holds whole classes, sorted by their centres in a mirrored space: its borders run
where those of the round before did not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.cutting import Branches, fill_labels, grow
from mahrem.arrays.tiling._classes import NCP, Tile, open_tile
from mahrem.arrays.tiling._growth import grow_classes
from mahrem.arrays.tiling._normals import rows_by_label
from mahrem.arrays.tiling._repair import fill_tile, repair
from mahrem.arrays.tiling._trees import Trees, branches_of, no_trees, seated
from mahrem.threads import in_threads
from mahrem.types import Floats, Integers, Labels, Matrix, Points, Rows, Sizes, Written

__all__ = ["Effort", "class_tiles", "grow_tiles", "lay_mosaic", "record_tiles", "repair_tiles"]

_PARTS = 64  # runs of tiles: enough for an even load
_LARGEST = 4  # times the smallest tile: more rows are cut again, as growing takes the square of a tile
_MIRRORS = 2


class Effort(NamedTuple):
    """How far repair goes in every tile."""

    passes: int  # times over all records; 0 = no repair
    swaps: bool  # let records of different classes change places
    reach: float  # dissolve a class when that adds at most so many times its cost to others; 0 = never


@inner
def _read(points: Points, rows: Rows, tile: Tile) -> None:
    for i in range(len(rows)):
        row = rows[i]
        for column in range(points.shape[1]):
            tile.values[column, i] = points[row, column]


@inner
def _write(
    tile: Tile, rows: Rows, classes: int, objective: int, order: Rows, sizes: Sizes, centres: Floats
) -> None:
    """Write the rows of a tile class by class, and the classes' sizes and centres."""
    place = 0
    for group in range(classes):
        size = tile.size[group]
        sizes[group] = size
        for column in range(tile.values.shape[0]):
            low, high = tile.low[column, group], tile.high[column, group]
            centres[group, column] = (low + high) / 2 if objective == NCP else low / max(1, size)
        one = tile.head[group]
        while one >= 0:
            order[place] = rows[one]
            place += 1
            one = tile.after[one]


@kernel
def grow_tiles(
    points: Points,
    rows: Rows,
    starts: Integers,
    first: int,
    last: int,
    minimum: int,
    objective: int,
    effort: Effort,
    trees: Trees,
    order: Written[Rows],
    sizes: Written[Sizes],
    centres: Written[Matrix[Floats]],
) -> None:
    """Grow and repair classes in tiles ``first .. last``; tile ``i`` holds ``rows[starts[i]:starts[i + 1]]``.

    Class ``j`` of a tile goes to place ``starts[i] // minimum + j`` of ``sizes`` and ``centres``.
    """
    most = 0
    for i in range(first, last):
        most = max(most, starts[i + 1] - starts[i])
    columns = points.shape[1]
    tile = open_tile(columns, most, most // minimum + 1, trees)
    waiting, who = np.empty((columns, most)), np.empty(most, np.int64)
    for i in range(first, last):
        start, stop = starts[i], starts[i + 1]
        records, slot = stop - start, start // minimum
        _read(points, rows[start:stop], tile)
        classes = grow_classes(tile.values, records, minimum, objective, waiting, who, tile.label, trees)
        fill_tile(tile, records, classes, objective)
        repair(tile, records, classes, minimum, objective, effort.passes, effort.swaps, effort.reach)
        _write(tile, rows[start:stop], classes, objective, order[start:stop], sizes[slot:], centres[slot:])


@kernel
def repair_tiles(
    points: Points,
    rows: Rows,
    class_starts: Integers,
    members: Rows,
    starts: Integers,
    row_starts: Integers,
    first: int,
    last: int,
    minimum: int,
    objective: int,
    effort: Effort,
    trees: Trees,
    order: Written[Rows],
    sizes: Written[Sizes],
    centres: Written[Matrix[Floats]],
) -> None:
    """Repair the tiles ``first .. last``; tile ``i`` holds the classes ``members[starts[i]:starts[i + 1]]``.

    Class ``c`` holds ``rows[class_starts[c]:class_starts[c + 1]]``; the rows of tile ``i`` go to
    ``order[row_starts[i]:row_starts[i + 1]]``.
    """
    most, many = 0, 0
    for i in range(first, last):
        most = max(most, row_starts[i + 1] - row_starts[i])
        many = max(many, starts[i + 1] - starts[i])
    tile = open_tile(points.shape[1], most, many, trees)
    here = np.empty(most, np.int32)
    for i in range(first, last):
        classes, slot = starts[i + 1] - starts[i], starts[i]
        records = 0
        for group in range(classes):
            name = members[slot + group]
            for j in range(class_starts[name], class_starts[name + 1]):
                here[records] = rows[j]
                tile.label[records] = group
                records += 1
        _read(points, here[:records], tile)
        fill_tile(tile, records, classes, objective)
        repair(tile, records, classes, minimum, objective, effort.passes, effort.swaps, effort.reach)
        _write(tile, here[:records], classes, objective, order[row_starts[i] :], sizes[slot:], centres[slot:])


def record_tiles(
    points: Points, tile: int, threads: int | None = None, branches: Branches | None = None
) -> tuple[Labels, int]:
    """Sort rows into tiles of ``tile`` rows or more, equal rows together unless a tile grows too large."""
    split = grow(points, tile, strict=True, branches=branches, threads=threads)
    labels, tiles = split.labels, split.classes
    sizes = np.bincount(labels, minlength=tiles)
    for large in np.flatnonzero(sizes > _LARGEST * tile).tolist():
        rows = np.flatnonzero(labels == large)
        cut = grow(np.ascontiguousarray(points[rows]), tile, strict=False, threads=threads)
        labels[rows] = np.where(cut.labels == 0, large, tiles + cut.labels - 1)
        tiles += cut.classes - 1
    return labels, tiles


def class_tiles(centres: Floats, tile: int, turn: int, threads: int | None = None) -> tuple[Labels, int]:
    """Sort classes into tiles of ``tile`` classes or more; every turn has other borders.

    Args:
        centres: ``(c, d)`` middles of the classes.
        tile: Classes of a tile at least.
        turn: Which borders.
        threads: How many; None for one per core.
    """
    count, columns = centres.shape
    if count < 2 * tile or columns == 0:
        return np.zeros(count, np.int64), 1
    if columns == 1:  # there is nothing to mirror: shift the borders by part of a tile
        rank = np.argsort(np.argsort(centres[:, 0], kind="stable"), kind="stable")
        labels = (rank + (turn % 3) * tile // 3) // tile
        return labels, int(labels.max()) + 1
    rng = np.random.default_rng(turn)
    for _ in range(_MIRRORS):
        normal: Floats = rng.standard_normal((columns,))
        centres = centres - np.outer(centres @ normal, normal) * (2.0 / float(normal @ normal))
    split = grow(centres, tile, strict=False, threads=threads)
    return split.labels, split.classes


class _Laid(NamedTuple):
    """Rows class by class."""

    order: Rows
    sizes: Sizes
    centres: Floats

    @property
    def starts(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def kept(self) -> _Laid:
        """Leave out classes that are empty."""
        some = self.sizes > 0
        return self if some.all() else _Laid(self.order, self.sizes[some], self.centres[some])


def _grow_all(
    points: Points,
    tiles: tuple[Labels, int],
    minimum: int,
    objective: int,
    effort: Effort,
    trees: Trees,
    threads: int | None,
) -> _Laid:
    rows, starts = rows_by_label(*tiles)
    slots = len(points) // minimum + 1
    laid = _Laid(np.empty(len(rows), np.int32), np.zeros(slots, np.int64), np.zeros((slots, points.shape[1])))

    def run(first: int, last: int) -> None:
        grow_tiles(points, rows, starts, first, last, minimum, objective, effort, trees, *laid)

    in_threads(run, np.diff(starts), _PARTS, threads)
    return laid.kept()


def _repair_all(
    points: Points,
    laid: _Laid,
    minimum: int,
    tile: int,
    objective: int,
    effort: Effort,
    trees: Trees,
    turn: int,
    threads: int | None,
) -> _Laid:
    centres = laid.centres * trees.scale
    members, starts = rows_by_label(*class_tiles(centres, max(2, tile // minimum), turn, threads))
    ends = np.concatenate([[0], np.cumsum(laid.sizes[members])])
    new = _Laid(np.empty_like(laid.order), np.empty_like(laid.sizes), np.empty_like(laid.centres))

    def run(first: int, last: int) -> None:
        repair_tiles(
            points,
            laid.order,
            laid.starts,
            members,
            starts,
            ends[starts],
            first,
            last,
            minimum,
            objective,
            effort,
            trees,
            *new,
        )

    in_threads(run, np.diff(ends[starts]), _PARTS, threads)
    return new.kept()


def lay_mosaic(
    points: Points,
    minimum: int,
    *,
    tile: int,
    rounds: int,
    effort: Effort,
    objective: int = NCP,
    trees: Trees | None = None,
    threads: int | None = None,
) -> tuple[Labels, int]:
    """Sort rows into classes of at least ``minimum`` rows.

    Args:
        points: ``(n, d)`` finite numbers, ``n >= minimum``; at most 1 where there is a tree.
        minimum: Rows that every class must have, at least 2.
        tile: Rows of a tile at least, not fewer than ``minimum``.
        rounds: How often to repair; the first time in the tiles the classes were grown in. 0 = only grow.
        effort: How far each repair goes.
        objective: What a class costs, NCP or SSE.
        trees: Of the columns, for NCP; None for none.
        threads: How many; None for one per core. The result does not depend on it.

    Returns:
        The class of every row, and how many classes there are.
    """
    points = np.require(points, np.float64, ["C", "W"])  # read-only would be compiled a second time
    first = effort if rounds else effort._replace(passes=0)
    trees = no_trees(points.shape[1]) if trees is None or objective != NCP else trees
    tiles = record_tiles(points, tile, threads, branches_of(trees))
    points = seated(points, trees)
    laid = _grow_all(points, tiles, minimum, objective, first, trees, threads)
    for turn in range(1, rounds):
        laid = _repair_all(points, laid, minimum, tile, objective, effort, trees, turn, threads)
    labels, starts = np.empty(len(points), np.int64), laid.starts

    def run(begin: int, end: int) -> None:
        fill_labels(laid.order, starts, begin, end, labels)

    in_threads(run, laid.sizes, 1 + len(points) // 50_000, threads)
    return labels, len(laid.sizes)
