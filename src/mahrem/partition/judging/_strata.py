"""Missing values apart: rows that miss the same columns are partitioned on their own where that may stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.types import Integers, Labels, Mask, Offsets, Points, Rows

if TYPE_CHECKING:
    from mahrem.partition.judging._class_promises import Needs


@dataclass(frozen=True)
class Within:
    """An :class:`Admits` of the whole table for a part of it: row ``i`` of the part is ``rows[i]``."""

    admits: Admits
    rows: Rows = field(repr=False)

    @property
    def minimum(self) -> int:
        """As in the whole table."""
        return self.admits.minimum

    @property
    def plain(self) -> bool:
        """As in the whole table."""
        return self.admits.plain

    def needs(self, rows: Rows | None = None) -> Needs | None:
        """Give what classes of the part need, where the whole table's judge knows."""
        needs = getattr(self.admits, "needs", None)
        return None if needs is None else needs(self.rows if rows is None else self.rows[rows])

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        """Judge candidates by their rows in the whole table."""
        return self.admits(self.rows[rows], offsets)


def within_patterns(partitioner: Partitioner, points: Points, missing: Mask, admits: Admits) -> Partition:
    """Partition the rows of every pattern of missing values on their own.

    A class then does not mix missing and present values. A pattern that may not stand as one class is
    merged into the one that differs in the fewest columns, the smallest pattern first.

    Args:
        partitioner: Sorts the rows of one pattern into classes.
        points: ``(n, d)`` quasi-identifiers; missing values have a place of their own below all others.
        missing: ``(n, d)`` True where a value is missing.
        admits: Judges classes of the whole table.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - When every pattern may stand, no class mixes missing and present values of a column.
        - A method with ``whole_table`` gets the whole table.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission, Mondrian
        >>> points = np.array([[0.0], [-1.0], [0.5], [-1.0]])
        >>> admits = Admission(((KAnonymity(2), None),), rows=4)
        >>> within_patterns(Mondrian(), points, points < 0, admits).labels
        array([0, 1, 0, 1])
    """
    # A method whose levels are about the whole table tells missing values apart by itself.
    if not missing.any() or getattr(partitioner, "whole_table", False):
        return partitioner(points, admits)
    strata, count = _strata(missing, admits)
    if count == 1:
        return partitioner(points, admits)
    begin = getattr(partitioner, "begin", None)  # a method with a budget shares it out among the patterns
    method: Partitioner = partitioner if begin is None else begin(len(points))
    labels = np.empty(len(points), np.int64)
    classes = 0
    order = np.argsort(strata, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(strata, minlength=count))
    for rows in np.split(order, ends[:-1]):
        part = method(points[rows], Within(admits, rows))
        labels[rows] = np.where(part.labels >= 0, part.labels + classes, -1)
        classes += part.classes
    return Partition(labels=labels, classes=classes)


def _strata(missing: Mask, admits: Admits) -> tuple[Labels, int]:
    """Give every row a stratum, numbered in the order of the patterns, and how many there are."""
    patterns, of_row = _patterns(missing)
    sizes = np.bincount(of_row, minlength=len(patterns))
    target = merge_patterns(patterns, sizes, lambda target, changed: _judge(target[of_row], changed, admits))
    alive = np.unique(target)
    return np.searchsorted(alive, target)[of_row], len(alive)


def merge_patterns(
    patterns: NDArray[np.uint8], sizes: Integers, accepts: Callable[[Integers, Integers], Mask]
) -> Integers:
    """Merge patterns of missing values until each stratum may stand, or only one is left.

    Args:
        patterns: ``(p, bytes)`` distinct patterns as packed bits, sorted.
        sizes: ``(p,)`` rows of each. Changed.
        accepts: Called with the stratum of each pattern and the strata to judge; says which may stand.

    Returns:
        ``(p,)`` the stratum of each pattern, named by one of its patterns.
    """
    target = np.arange(len(patterns))  # the stratum a pattern belongs to
    changed = target
    refused: Mask = np.zeros(len(patterns), np.bool_)
    while True:
        refused[changed] = ~accepts(target, changed)
        alive = np.unique(target)
        if len(alive) == 1 or not refused[alive].any():
            return target
        changed = _merge(patterns, sizes, target, refused)


def _patterns(missing: Mask) -> tuple[NDArray[np.uint8], Integers]:
    """Give the distinct rows of ``missing`` as packed bits, and which one each row has."""
    packed = np.packbits(missing, axis=1)
    some = packed.any(axis=1)
    keys = np.ascontiguousarray(packed[some]).view(np.dtype((np.void, packed.shape[1])))[:, 0]
    distinct, inverse = np.unique(keys, return_inverse=True)
    patterns = distinct.view(np.uint8).reshape(len(distinct), -1)
    full = int(not some.all())  # rows that miss nothing come first
    of_row = np.zeros(len(missing), np.int64)
    of_row[some] = inverse + full
    return np.concatenate([np.zeros((full, packed.shape[1]), np.uint8), patterns]), of_row


def _judge(strata: Labels, which: Integers, admits: Admits) -> Mask:
    """Ask ``admits`` about some of the strata, each as one class."""
    wanted = np.flatnonzero(np.isin(strata, which))
    rows = wanted[np.argsort(strata[wanted], kind="stable")].astype(np.int32)
    offsets = np.searchsorted(strata[rows], np.append(which, np.iinfo(np.int64).max))
    offsets[-1] = len(rows)
    return admits(rows, offsets.astype(np.int64))


def _merge(patterns: NDArray[np.uint8], sizes: Integers, target: Integers, refused: Mask) -> Integers:
    """Merge each refused stratum, the smallest first, into its nearest; gives the strata that grew."""
    alive = np.unique(target)
    waiting = alive[refused[alive]]
    grown: set[int] = set()
    for stratum in waiting[np.argsort(sizes[waiting], kind="stable")].tolist():
        others = alive[alive != stratum]
        if stratum in grown or len(others) == 0:  # what has grown is judged again before it moves
            continue
        apart = np.bitwise_count(patterns[others] ^ patterns[stratum]).sum(axis=1, dtype=np.int64)
        into = int(others[apart.argmin()])
        target[target == stratum] = into
        sizes[into] += sizes[stratum]
        alive = others
        grown.add(into)
    return np.array(sorted(grown), np.int64)
