"""Local recoding after full-domain generalisation: what is left over is lifted again by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mahrem.errors import Infeasible
from mahrem.partition._partition import Admits, Partition
from mahrem.partition.cutting import leaves_of
from mahrem.partition.judging import Admission, Within, rows_shown, standing_classes
from mahrem.partition.lattice._lattice_search import FullDomain
from mahrem.types import Integers, Labels, Points, Rows, Sizes

_PASSES = 50
_ROUNDING = 1e-9


@dataclass(frozen=True)
class LocalRecoding:
    """Let a full-domain method sort what it would suppress once more, and what that leaves, and so on.

    In every pass but the last as many rows may be left over as the loss likes; the last keeps to the limit.
    Classes are published by the lowest nodes over them, so that one column shows several levels.

    Args:
        method: A full-domain method, whose hierarchies cover all columns.

    Raises:
        Infeasible: If the method alone finds nothing.

    Guarantees:
        - Labels are ``0 .. c-1`` and none is empty; suppressed rows, at most the share allowed, have -1.
        - ``admits`` accepts every class in the table that is shown.
        - By the share of the domain that cells cover, classes lose no more than those of the method alone.

    References:
        Prasser, Kohlmayer, Kuhn: The importance of context: risk-based de-identification of biomedical
        data, 2016; local recoding of ARX.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Flash
        >>> from mahrem.table import Hierarchy
        >>> tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"], ["d", "y"]])
        >>> points = np.array([[0], [0], [1], [1], [2], [3]]) / 3
        >>> admits = Admission(((KAnonymity(2), None),), rows=6)
        >>> Flash(hierarchies=[tree])(points, admits).labels.tolist()
        [0, 0, 0, 0, 1, 1]
        >>> LocalRecoding(Flash(hierarchies=[tree]))(points, admits).labels.tolist()
        [0, 0, 1, 1, 2, 2]
    """

    method: FullDomain
    whole_table: ClassVar[bool] = True

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows pass by pass."""
        alone = self.method(points, admits)
        budget = math.floor(self.method.suppression_limit * len(points) + _ROUNDING)
        candidates = [replace(alone, how=None)]
        passes = self._passes(points, admits)
        for labels in reversed(passes):
            closed = self._closed(points, admits, labels, budget)
            if closed is not None:
                candidates.append(closed)
                break
        return min(candidates, key=lambda partition: self._lost(points, partition))

    def _passes(self, points: Points, admits: Admits) -> list[Labels]:
        """Give the labels after each pass that showed more rows."""
        labels = np.full(len(points), -1, np.int64)
        passes = []
        for _ in range(_PASSES):
            rows = np.flatnonzero(labels < 0).astype(np.int32)
            part = self._part(points, admits, rows, 1.0) if len(rows) else None
            if part is None:
                break
            labels = labels.copy()
            labels[rows] = np.where(part.labels >= 0, part.labels + labels.max(initial=-1) + 1, -1)
            passes.append(labels)
        return passes

    def _part(self, points: Points, admits: Admits, rows: Rows, limit: float) -> Partition | None:
        target = self.method.target
        if target is not None:
            target = replace(target, codes=target.codes[rows])
        method = replace(self.method, suppression_limit=limit, target=target)
        try:
            return method(points[rows], Within(admits, rows))
        except Infeasible:
            return None

    def _closed(self, points: Points, admits: Admits, done: Labels, budget: int) -> Partition | None:
        """Sort what some passes left over so that few enough rows are suppressed; None if that cannot be."""
        labels = done.copy()
        rows = np.flatnonzero(done < 0).astype(np.int32)
        if len(rows) > budget:
            part = self._part(points, admits, rows, budget / len(rows))
            if part is None:
                return None
            labels[rows] = np.where(part.labels >= 0, part.labels + labels.max(initial=-1) + 1, -1)
        if isinstance(admits, Admission) and admits.relative and (labels < 0).any():
            sizes: Sizes = np.bincount(labels[labels >= 0], minlength=int(labels.max()) + 1)
            labels = np.where(
                rows_shown(labels, standing_classes(labels, sizes, sizes > 0, admits)), labels, -1
            )
        if np.count_nonzero(labels < 0) > budget or not (labels >= 0).any():
            return None
        kept = np.unique(labels[labels >= 0])
        return Partition(labels=np.where(labels >= 0, np.searchsorted(kept, labels), -1), classes=len(kept))

    def _lost(self, points: Points, partition: Partition) -> float:
        """Add up shares of domains that the lowest nodes over classes cover; a suppressed cell counts 1."""
        shown = partition.labels >= 0
        lost = float(np.count_nonzero(~shown) * points.shape[1])
        for column, tree in enumerate(self.method.hierarchies):
            if tree is None:
                continue
            leaf = leaves_of(points, column, tree)[shown]
            low, high = _ends(leaf, partition.labels[shown], partition.classes)
            height, node = tree.lowest_common(np.maximum(low, 0), np.maximum(high, 0))
            starts = np.cumsum([0, *map(len, tree.leaf_counts)])
            covered = np.concatenate(tree.leaf_counts)[starts[height] + node]
            share = np.where(covered > 1, covered / tree.leaves, 0.0)
            share = np.where(high < 0, 0.0, np.where((low < 0) | (height == tree.levels - 1), 1.0, share))
            lost += float(partition.sizes @ share)
        return lost


def _ends(leaf: Integers, labels: Labels, classes: int) -> tuple[Integers, Integers]:
    low = np.full(classes, np.iinfo(np.int64).max)
    high = np.full(classes, -1, np.int64)
    np.minimum.at(low, labels, leaf)
    np.maximum.at(high, labels, leaf)
    return low, high
