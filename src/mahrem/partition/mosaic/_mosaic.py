"""Mosaic: tiles by cuts, classes grown inside tiles, and repair across their borders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from mahrem import check
from mahrem.arrays import cutting, growing, tiling
from mahrem.errors import InvalidInput
from mahrem.partition._entries import LARGE
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.partition.cutting import Mondrian, UtilityAware, forest_of
from mahrem.partition.judging import ColumnCosts, Within, class_boxes, judge_classes, plain_costs
from mahrem.partition.mosaic._repaired import FEW_ROWS, Bench, Repair, in_their_order, steady_order
from mahrem.table import Hierarchy
from mahrem.types import Integers, Labels, Mask, Offsets, Points, Rows

OBJECTIVES = ("ncp", "sse")

_SMALL = 50_000  # rows up to which a thorough repair takes a few seconds
_TILE = 256
_MOST = 2_048  # rows of a tile that classes are grown in
_COARSE = (
    2_048  # a minimum above which tiles would be too large to grow in: the cuts themselves are the classes
)
_HOPELESS = 0.5  # share of refused classes above which larger ones are laid instead of merging these
_FEW = 0.1  # share of refused classes up to which merging them is a start worth a look
_NEIGHBOURS = 32  # classes among which a class that may not stand looks for the nearest


@dataclass(frozen=True)
class Mosaic:
    """Grow classes under their promises in small tiles, and repair them until published cells lose no less.

    A tile is a part of a strict Mondrian partition with a larger minimum, cut only where both sides keep
    every promise. In it a class starts with the record farthest from the class before and takes, one by one,
    the record that widens its published cells least and brings it no farther from its promises. Repair then
    lowers the total loss, with every promise kept at each step: a record moves to another class, two records
    change places, a class is formed of what others can spare, a class is dissolved and another one formed.
    Every round has tiles with other borders. It begins with the best of these classes, Mondrian's,
    u-Mondrian's and those laid by size; up to 5,000 rows it begins with each and takes the best.

    Tables above 200,000 rows, or above 50,000 with a minimum alone, are laid by widths on the axes: classes
    by size, a light repair, and what a promise refuses is merged with the near class that costs least.

    Args:
        tile: Rows of a tile at least; None for 16 times the minimum, not below 256 (128 in large tables).
        rounds: Repairs: 0 for none; None for at most 8 (16 where numbers of values are promised, 12 to 32
            where sizes alone are; up to 5,000 rows 12; above 50,000 rows 3), in large tables 2.
        reach: Dissolving a class is tried when it adds at most so many times its loss to others, 0 for
            never; None for 2 (4 where sizes alone are promised), in large tables 1.
        objective: Loss that is lowered: ``"ncp"`` for what published cells lose, ``"sse"`` for squared
            distances to the means.
        seconds: Begin no round of repair that would end later than so; None for no limit.
        blind: Let cells alone say where a record should go, and promises only whether it may: members are
            then not chosen by their sensitive values. Classes whose members are guessed better than those
            of Mondrian's, by more than a hundredth over chance, are not taken; where all classes were
            laid by size (squared distances, a minimum above 2,048), Mondrian's are given instead.
        hierarchies: One for each column or None, for cells that are nodes of a tree: there the loss of a
            class is the share of the lowest node over its leaves. Squared distances do not look at them.
        cells: What published cells cost; by default widths on the scaled axes, and shares of nodes.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite, or no leaf stands there.
        InvalidParameter: If a setting does not fit.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Repair never raises the loss, and up to 50,000 rows that is never above Mondrian's or (unless blind,
          which keeps to what members of Mondrian's classes give away) u-Mondrian's.
        - Blind, up to 200,000 rows: members are guessed (:func:`mahrem.metrics.guess_within_classes`) at
          most 0.01 better over chance than in Mondrian's classes, for every column with a promise.
        - The result does not depend on the number of threads.

    References:
        Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques, 2007.
        Solanas, Martinez-Balleste, Domingo-Ferrer, Mateo-Sanz: A 2^d-tree-based blocking method for
        microaggregating very large data sets, 2006.
        Thaeter, Reischuk: Scalable k-anonymous microaggregation: exploiting the tradeoff between
        computational complexity and information loss, 2021.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0], [0.05]])
        >>> Mosaic()(points, Admission(((KAnonymity(2), None),), rows=5)).labels
        array([0, 1, 0, 1, 0])
    """

    tile: int | None = None
    rounds: int | None = None
    reach: float | None = None
    objective: str = "ncp"
    seconds: float | None = None
    blind: bool = False
    hierarchies: tuple[Hierarchy | None, ...] = field(default=(), repr=False)
    cells: tuple[ColumnCosts, ...] = field(default=(), repr=False)

    def __call__(self, points: Points, admits: Admits, *, threads: int | None = None) -> Partition:
        """Sort rows into classes that ``admits`` accepts; the result does not depend on ``threads``."""
        minimum = least_rows(len(points), admits)
        check.one_of(OBJECTIVES, objective=self.objective)
        repair = Repair(
            rounds=self.rounds,
            seconds=self.seconds,
            reach=self.reach,
            blind=self.blind,
            tile=self.tile,
        )
        trees = tiling.plant(forest_of(self.hierarchies, points.shape[1]))
        outside = int((points[:, trees.forest.first >= 0] > 1).sum())
        if outside:
            raise InvalidInput(
                f"points: {outside} places above 1 in columns with a hierarchy, which has no such leaf"
            )
        if self._by_size(points, admits, minimum):
            laid = Partition(*self._merged(points, minimum, admits, trees, threads))
            return self._or_cut(laid, points, admits, threads)
        order = steady_order(points, admits)
        points, admits = points[order], Within(admits, order)
        bench = Bench(points, admits, self.cells or plain_costs(points, self.hierarchies), threads)

        def cost(start: tuple[Labels, int]) -> tuple[float, int]:
            return bench.total(*start), -start[1]

        starts = list(self._starts(points, admits, minimum, trees, bench, threads))
        bounds = bench.bounds(starts[0][0]) if self.blind else None  # Mondrian's are the first
        starts = sorted((start for start in starts if bench.within(start[0], bounds)), key=cost)
        tried = starts if len(points) <= FEW_ROWS and self.seconds is None else starts[:1]
        repaired_labels, classes = min((bench.repaired(*start, repair, bounds) for start in tried), key=cost)
        labels = np.empty(len(order), np.int64)
        labels[order] = repaired_labels
        return Partition(labels=in_their_order(labels, classes), classes=classes)

    def _or_cut(self, laid: Partition, points: Points, admits: Admits, threads: int | None) -> Partition:
        """Give classes that were laid; blind, Mondrian's if members of those are guessed better."""
        if not self.blind or admits.plain or points.shape[1] == 0 or len(points) > LARGE:
            return laid
        cut = Mondrian(hierarchies=self.hierarchies)(points, admits, threads=threads)
        bench = Bench(points, admits, self.cells or plain_costs(points, self.hierarchies), threads)
        if bench.within(laid.labels, bench.bounds(cut.labels)):
            return laid
        return Partition(labels=cut.labels, classes=cut.classes)

    def _by_size(self, points: Points, admits: Admits, minimum: int) -> bool:
        """Say whether classes are laid by widths and sizes, as fast as that goes."""
        if self.objective != "ncp" or minimum > _COARSE or points.shape[1] == 0 or len(points) < 2 * minimum:
            return True
        alone = admits.plain and not self.cells
        return (minimum == 1 and admits.plain) or len(points) > (_SMALL if alone else LARGE)

    def _starts(
        self,
        points: Points,
        admits: Admits,
        minimum: int,
        trees: tiling.Trees,
        bench: Bench,
        threads: int | None,
    ) -> Iterator[tuple[Labels, int]]:
        """Give classes that keep every promise: what repair may begin with."""
        mondrian = Mondrian(hierarchies=self.hierarchies)
        cut = mondrian(points, admits, threads=threads)
        yield cut.labels, cut.classes
        around = UtilityAware(mondrian)(points, admits)
        yield around.labels, around.classes
        if self.blind or len(points) <= FEW_ROWS:  # where growth has no say, or time is no matter
            by_cells = Mondrian(cut="cells", hierarchies=self.hierarchies, cells=self.cells)
            cut = by_cells(points, admits, threads=threads)
            yield cut.labels, cut.classes
        if self.rounds != 0:
            yield from self._laid_starts(points, admits, minimum, trees, threads)
        if self.blind:  # growth chooses members by what a class lacks
            return
        tile = self.tile or max(_TILE, min(16 * minimum, _COARSE))
        tiles = mondrian(points, Coarser(admits, max(minimum, min(tile, len(points)))), threads=threads)
        of_row = _halved(points, tiles.labels, tiles.classes, threads)
        labels, classes = growing.grow_under_promises(
            bench.costs, bench.promises, of_row, int(of_row.max()) + 1, threads
        )
        if classes == 0:  # nothing holds but the whole of a tile
            return
        kept = judge_classes(labels, np.arange(classes), classes, admits)
        labels, classes = bench.placed(np.where(labels < 0, -1, _only(kept)[labels]), int(kept.sum()))
        waiting = labels < 0
        labels = np.where(waiting, classes + np.cumsum(waiting) - 1, labels)
        refused = ~judge_classes(labels, np.arange(classes + waiting.sum()), classes + waiting.sum(), admits)
        yield _merge_refused(points, labels, refused, admits, trees, threads)

    def _laid_starts(
        self, points: Points, admits: Admits, minimum: int, trees: tiling.Trees, threads: int | None
    ) -> Iterator[tuple[Labels, int]]:
        """Give classes laid by size, if a few at most are refused and merged.

        Classes that are only grown say whether that will be so: repair by size does not ask about promises.
        """
        efforts = (None,) if admits.plain or len(points) <= FEW_ROWS else (0, None)
        for rounds in efforts:
            laid = replace(self, rounds=rounds, reach=None)
            labels, classes = laid._lay(points, minimum, trees, threads)  # noqa: SLF001 - one of us
            refused = ~judge_classes(labels, np.arange(classes), classes, admits)
            if refused.mean() > (_FEW if rounds is None else 2 * _FEW):
                return
        yield _merge_refused(points, labels, refused, admits, trees, threads)

    def _merged(
        self, points: Points, minimum: int, admits: Admits, trees: tiling.Trees, threads: int | None
    ) -> tuple[Labels, int]:
        """Lay classes by size alone and merge those that may not stand; if they are most, lay larger ones."""
        labels, classes = self._lay(points, minimum, trees, threads)
        if admits.plain:
            return labels, classes
        refused = ~judge_classes(labels, np.arange(classes), classes, admits)
        while refused.sum() > _HOPELESS * classes and 2 * minimum <= len(points):
            minimum *= 2  # classes that are larger from the start fit better than merged ones
            labels, classes = self._lay(points, minimum, trees, threads)
            refused = ~judge_classes(labels, np.arange(classes), classes, admits)
        return _merge_refused(points, labels, refused, admits, trees, threads)

    def _lay(
        self, points: Points, minimum: int, trees: tiling.Trees, threads: int | None
    ) -> tuple[Labels, int]:
        """Sort rows by size alone, with what was not asked for chosen by the number of rows."""
        if minimum == 1:
            return np.arange(len(points)), len(points)
        if minimum > _COARSE or points.shape[1] == 0:
            branches = tiling.branches_of(trees) if self.objective == "ncp" else None
            split = cutting.grow(points, minimum, strict=False, branches=branches, threads=threads)
            return split.labels, split.classes
        small = len(points) <= _SMALL
        rounds = self.rounds if self.rounds is not None else (10 if small else 2)
        usual = max(256 if small else 128, min(16 * minimum, _COARSE), 4 * minimum)
        thorough = rounds > 2
        reach = self.reach if self.reach is not None else (2.0 if thorough else 1.0)
        return tiling.lay_mosaic(
            points,
            minimum,
            tile=max(minimum, usual if self.tile is None else self.tile),
            rounds=rounds,
            effort=tiling.Effort(passes=2 if thorough else 1, swaps=True, reach=float(reach)),
            objective=OBJECTIVES.index(self.objective),
            trees=trees,
            threads=threads,
        )


@dataclass(frozen=True)
class Coarser:
    """Another judge, and at least so many rows."""

    admits: Admits
    minimum: int

    @property
    def plain(self) -> bool:
        """As the other judge."""
        return self.admits.plain

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        """Judge candidates."""
        return (np.diff(offsets) >= self.minimum) & self.admits(rows, offsets)


def _halved(points: Points, labels: Labels, tiles: int, threads: int | None) -> Labels:
    """Cut tiles that are too large to grow in, promise or not: growing takes the square of a tile."""
    sizes = np.bincount(labels, minlength=tiles)
    for large in np.flatnonzero(sizes > _MOST).tolist():
        rows = np.flatnonzero(labels == large)
        cut = cutting.grow(np.ascontiguousarray(points[rows]), _MOST // 2, strict=False, threads=threads)
        labels[rows] = np.where(cut.labels == 0, large, tiles + cut.labels - 1)
        tiles += cut.classes - 1
    return labels


def _only(kept: Mask) -> Labels:
    """Number the classes that are kept; -1 for the others."""
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _merge_refused(
    points: Points, labels: Labels, refused: Mask, admits: Admits, trees: tiling.Trees, threads: int | None
) -> tuple[Labels, int]:
    """Merge classes that may not stand with near ones, round by round, until all may."""
    classes = len(refused)
    low, high = class_boxes(tiling.seated(points, trees), labels, classes)
    sizes = np.bincount(labels, minlength=classes)
    turn = 0
    while refused.any():
        turn += 1
        alive = np.flatnonzero(sizes)
        centres = (low[alive] + high[alive]) / 2 * trees.scale
        members, starts = tiling.rows_by_label(*tiling.class_tiles(centres, _NEIGHBOURS, turn, threads))
        target, grown = np.arange(classes), np.zeros(classes, np.bool_)
        tiling.merge_in_tiles(
            alive[members].astype(np.int32), starts, refused, low, high, sizes, target, grown, trees
        )
        labels = _settled(target)[labels]
        refused &= sizes > 0
        asked = np.flatnonzero(grown & (sizes > 0))
        refused[asked] = ~judge_classes(labels, asked, classes, admits)
    numbers = np.cumsum(sizes > 0) - 1
    return numbers[labels], int(numbers[-1]) + 1


def _settled(target: Integers) -> Integers:
    """Follow every class to the one it ended up in."""
    while (target[target] != target).any():
        target = target[target]
    return target
