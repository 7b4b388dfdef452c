"""Mosaic: tiles by cuts, classes grown inside tiles, and repair across their borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import arrays, check
from mahrem.errors import Infeasible
from mahrem.partition._partition import Admits, Partition
from mahrem.types import Floats, Integers, Labels, Mask, Points

__all__ = ["OBJECTIVES", "Mosaic", "mosaic"]

OBJECTIVES = ("ncp", "sse")

_SMALL = 50_000  # rows up to which a thorough repair takes about a second
_COARSE = (
    2_048  # a minimum above which tiles would be too large to grow in: the cuts themselves are the classes
)
_NEIGHBOURS = 32  # classes among which a class that may not stand looks for the nearest


def mosaic(
    points: Points,
    admits: Admits,
    *,
    tile: int | None = None,
    rounds: int | None = None,
    reach: float | None = None,
    objective: str = "ncp",
    threads: int | None = None,
) -> Partition:
    """Sort rows into small tiles, grow classes in them, and repair the classes across the tiles' borders.

    A tile is a part of a strict Mondrian partition with a larger minimum. In it a class starts with the
    record farthest from the class before and takes, one by one, the record that widens it least. Repair then
    lowers the total loss: a record moves to another class, two records change places, a class is dissolved
    and, if that leaves enough to spare, another one formed. From the second round on, tiles hold whole
    classes and have other borders. Promises beyond a minimum size are kept by merging: a class that
    ``admits`` refuses joins the near one that costs least, until none is refused.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        admits: Says of many candidate classes at once which may stand.
        tile: Rows of a tile at least; None for 16 times the minimum, not below 128 (256 in small tables).
        rounds: Repairs: 0 for none, 1 inside the tiles only; None for 6 up to 50,000 rows, else 2.
        reach: Dissolving a class is tried when it adds at most so many times its loss to others, 0 for
            never; None for 2 with more than two rounds, else 1.
        objective: Loss that is lowered: ``"ncp"`` for rows times widths, ``"sse"`` for squared distances
            to the means.
        threads: How many; None for one per core. The result does not depend on it.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
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
        >>> mosaic(points, Admission(((KAnonymity(2), None),), rows=5)).labels
        array([1, 0, 1, 0, 1])
    """
    minimum = _feasible(points, admits)
    objective = check.one_of(OBJECTIVES, objective=objective)
    small = len(points) <= _SMALL
    if rounds is None:
        rounds = 6 if small else 2
    check.at_least(0, rounds=check.whole(rounds=rounds))
    thorough = rounds > 2
    if reach is None:
        reach = 2.0 if thorough else 1.0
    check.at_least(0, reach=reach)
    if tile is None:
        tile = max(256 if small else 128, min(16 * minimum, _COARSE), 4 * minimum)
    check.at_least(1, tile=check.whole(tile=tile))
    if minimum == 1:
        labels, classes = np.arange(len(points)), len(points)
    elif minimum > _COARSE or points.shape[1] == 0:
        split = arrays.grow(points, minimum, strict=False, threads=threads)
        labels, classes = split.labels, split.classes
    else:
        labels, classes = arrays.lay_mosaic(
            points,
            minimum,
            tile=max(tile, minimum),
            rounds=rounds,
            effort=arrays.Effort(passes=2 if thorough else 1, swaps=True, reach=float(reach)),
            objective=OBJECTIVES.index(objective),
            threads=threads,
        )
    if not admits.plain:
        labels, classes = _merge_refused(points, labels, classes, admits, threads)
    return Partition(labels=labels, classes=classes)


def _feasible(points: Points, admits: Admits) -> int:
    """Give the minimum size of a class, if the table may stand as one."""
    minimum, rows = max(1, admits.minimum), len(points)
    if rows < minimum:
        raise Infeasible(f"rows={rows} must be at least {minimum} for one class; ask for less", reached=rows)
    if not admits(np.arange(rows, dtype=np.int32), np.array([0, rows], np.int64)).all():
        raise Infeasible(
            f"the table of rows={rows} does not keep the promise even as one class; ask for less"
        )
    return minimum


def _merge_refused(
    points: Points, labels: Labels, classes: int, admits: Admits, threads: int | None
) -> tuple[Labels, int]:
    """Merge classes that may not stand with near ones, round by round, until all may."""
    low, high = _boxes(points, labels, classes)
    sizes = np.bincount(labels, minlength=classes)
    refused: Mask = np.zeros(classes, np.bool_)
    asked, turn = np.arange(classes), 0
    while True:
        refused[asked] = ~_judge(labels, asked, classes, admits)
        alive = np.flatnonzero(sizes)
        if len(alive) < 2 or not refused[alive].any():
            break
        turn += 1
        centres = (low[alive] + high[alive]) / 2
        members, starts = arrays.rows_by_label(*arrays.class_tiles(centres, _NEIGHBOURS, turn, threads))
        target, grown = np.arange(classes), np.zeros(classes, np.bool_)
        arrays.merge_in_tiles(
            alive[members].astype(np.int32), starts, refused, low, high, sizes, target, grown
        )
        labels = _settled(target)[labels]
        asked = np.flatnonzero(grown & (sizes > 0))
    numbers = np.cumsum(sizes > 0) - 1
    return numbers[labels], len(alive)


def _boxes(points: Points, labels: Labels, classes: int) -> tuple[Floats, Floats]:
    """Give the least and the greatest value of every class in every column."""
    low, high = np.empty((2, classes, points.shape[1]))
    for column in range(points.shape[1]):
        low[:, column], high[:, column], _ = arrays.class_extremes(points[:, column], labels, classes)
    return low, high


def _settled(target: Integers) -> Integers:
    """Follow every class to the one it ended up in."""
    while (target[target] != target).any():
        target = target[target]
    return target


def _judge(labels: Labels, which: Integers, classes: int, admits: Admits) -> Mask:
    """Ask ``admits`` about some of the classes."""
    numbers = np.full(classes, -1, np.int64)
    numbers[which] = np.arange(len(which))
    return admits(*arrays.rows_by_label(numbers[labels], len(which)))


@dataclass(frozen=True)
class Mosaic:
    """:func:`mosaic` as data: its settings can be printed, compared and stored."""

    tile: int | None = None
    rounds: int | None = None
    reach: float | None = None
    objective: str = "ncp"

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return mosaic(
            points, admits, tile=self.tile, rounds=self.rounds, reach=self.reach, objective=self.objective
        )
