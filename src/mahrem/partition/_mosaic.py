"""Mosaic: tiles by cuts, classes grown inside tiles, and repair across their borders."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem import arrays, check
from mahrem.errors import InvalidInput
from mahrem.partition._forest import forest_of
from mahrem.partition._leftovers import class_boxes, judge_classes
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.table import Hierarchy
from mahrem.types import Integers, Labels, Mask, Points

OBJECTIVES = ("ncp", "sse")

_SMALL = 50_000  # rows up to which a thorough repair takes about a second
_COARSE = (
    2_048  # a minimum above which tiles would be too large to grow in: the cuts themselves are the classes
)
_HOPELESS = 0.5  # share of refused classes above which larger ones are laid instead of merging these
_NEIGHBOURS = 32  # classes among which a class that may not stand looks for the nearest


@dataclass(frozen=True)
class Mosaic:
    """Sort rows into small tiles, grow classes in them, and repair the classes across the tiles' borders.

    A tile is a part of a strict Mondrian partition with a larger minimum. In it a class starts with the
    record farthest from the class before and takes, one by one, the record that widens it least. Repair then
    lowers the total loss: a record moves to another class, two records change places, a class is dissolved
    and, if that leaves enough to spare, another one formed. From the second round on, tiles hold whole
    classes and have other borders. Promises beyond a minimum size are kept by merging: a class that
    ``admits`` refuses joins the near one that costs least, until none is refused; where most are refused,
    the minimum is doubled first.

    Args:
        tile: Rows of a tile at least; None for 16 times the minimum, not below 128 (256 in small tables).
        rounds: Repairs: 0 for none, 1 inside the tiles only; None for 10 up to 50,000 rows, else 2.
        reach: Dissolving a class is tried when it adds at most so many times its loss to others, 0 for
            never; None for 2 with more than two rounds, else 1.
        objective: Loss that is lowered: ``"ncp"`` for rows times widths, ``"sse"`` for squared distances
            to the means.
        hierarchies: One for each column or None, for cells that are nodes of a tree: there the loss of a
            class is the share of the lowest node over its leaves. Squared distances do not look at them.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite, or no leaf stands there.
        InvalidParameter: If a setting does not fit.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - With a plain minimum, repair never raises the loss.
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
    hierarchies: tuple[Hierarchy | None, ...] = field(default=(), repr=False)

    def __call__(self, points: Points, admits: Admits, *, threads: int | None = None) -> Partition:
        """Sort rows into classes that ``admits`` accepts; the result does not depend on ``threads``."""
        minimum = least_rows(len(points), admits)
        check.one_of(OBJECTIVES, objective=self.objective)
        if self.tile is not None:
            check.at_least(1, tile=check.whole(tile=self.tile))
        if self.rounds is not None:
            check.at_least(0, rounds=check.whole(rounds=self.rounds))
        if self.reach is not None:
            check.at_least(0, reach=self.reach)
        trees = arrays.plant(forest_of(self.hierarchies, points.shape[1]))
        outside = int((points[:, trees.forest.first >= 0] > 1).sum())
        if outside:
            raise InvalidInput(
                f"points: {outside} places above 1 in columns with a hierarchy, which has no such leaf"
            )
        labels, classes = self._lay(points, minimum, trees, threads)
        if admits.plain:
            return Partition(labels=labels, classes=classes)
        refused = ~judge_classes(labels, np.arange(classes), classes, admits)
        while refused.sum() > _HOPELESS * classes and 2 * minimum <= len(points):
            minimum *= 2  # classes that are larger from the start fit better than merged ones
            labels, classes = self._lay(points, minimum, trees, threads)
            refused = ~judge_classes(labels, np.arange(classes), classes, admits)
        labels, classes = _merge_refused(points, labels, refused, admits, trees, threads)
        return Partition(labels=labels, classes=classes)

    def _lay(
        self, points: Points, minimum: int, trees: arrays.Trees, threads: int | None
    ) -> tuple[Labels, int]:
        """Sort rows by size alone, with what was not asked for chosen by the number of rows."""
        if minimum == 1:
            return np.arange(len(points)), len(points)
        if minimum > _COARSE or points.shape[1] == 0:
            branches = arrays.branches_of(trees) if self.objective == "ncp" else None
            split = arrays.grow(points, minimum, strict=False, branches=branches, threads=threads)
            return split.labels, split.classes
        small = len(points) <= _SMALL
        rounds = self.rounds if self.rounds is not None else (10 if small else 2)
        usual = max(256 if small else 128, min(16 * minimum, _COARSE), 4 * minimum)
        thorough = rounds > 2
        reach = self.reach if self.reach is not None else (2.0 if thorough else 1.0)
        return arrays.lay_mosaic(
            points,
            minimum,
            tile=max(minimum, usual if self.tile is None else self.tile),
            rounds=rounds,
            effort=arrays.Effort(passes=2 if thorough else 1, swaps=True, reach=float(reach)),
            objective=OBJECTIVES.index(self.objective),
            trees=trees,
            threads=threads,
        )


def _merge_refused(
    points: Points, labels: Labels, refused: Mask, admits: Admits, trees: arrays.Trees, threads: int | None
) -> tuple[Labels, int]:
    """Merge classes that may not stand with near ones, round by round, until all may."""
    classes = len(refused)
    low, high = class_boxes(arrays.seated(points, trees), labels, classes)
    sizes = np.bincount(labels, minlength=classes)
    turn = 0
    while refused.any():
        turn += 1
        alive = np.flatnonzero(sizes)
        centres = (low[alive] + high[alive]) / 2 * trees.scale
        members, starts = arrays.rows_by_label(*arrays.class_tiles(centres, _NEIGHBOURS, turn, threads))
        target, grown = np.arange(classes), np.zeros(classes, np.bool_)
        arrays.merge_in_tiles(
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
