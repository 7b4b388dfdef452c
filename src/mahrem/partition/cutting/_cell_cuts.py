"""Cuts chosen by what published cells will cost, all parts of a level at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mahrem.arrays import growing, tiling
from mahrem.errors import InvalidInput
from mahrem.partition._partition import Admits
from mahrem.partition.judging import ColumnCosts, pack_costs, pack_promises
from mahrem.types import Floats, Integers, Labels, Mask, Points


def cut_by_cells(
    points: Points, admits: Admits, minimum: int, columns: tuple[ColumnCosts, ...], threads: int | None
) -> tuple[Labels, int]:
    """Cut parts at medians of the column whose two sides lose least together, while both may stand.

    Args:
        points: ``(n, d)`` places of values.
        admits: Judges the sides of cuts.
        minimum: Rows of a side at least.
        columns: What cells cost in each column.
        threads: How many; None for one per core. The result does not depend on it.

    Raises:
        InvalidInput: If a number is not finite.

    Returns:
        The class of every row, and how many there are.
    """
    strange = points.size - int(np.isfinite(points).sum())
    if strange:
        raise InvalidInput(
            f"points hold {strange} numbers that are not finite; missing values need a place first"
        )
    pricing = _Pricing(pack_costs(np.ascontiguousarray(points), columns), len(points), threads)
    labels: Labels = np.zeros(len(points), np.int64)
    parts = 1
    open_ = np.full(1, len(points) >= 2 * minimum)
    while open_.any():
        within = np.where(open_[labels], labels, -1)
        sides, costs = [], []
        for right in _borders(points, within, parts):
            sides.append(right)
            costs.append(pricing(within, right, parts, minimum))
        right, cut = _chosen(within, np.stack(costs), sides, admits)
        numbers = parts + np.cumsum(cut) - 1
        labels = np.where(right & cut[labels], numbers[labels], labels)
        parts += int(cut.sum())
        sizes = np.bincount(labels, minlength=parts)
        open_ = np.concatenate([open_ & cut, np.ones(parts - len(cut), np.bool_)]) & (sizes >= 2 * minimum)
    return labels, parts


def _borders(points: Points, within: Labels, parts: int) -> Iterator[Mask]:
    """Give which rows lie right of each cut: for every column above the median, then from it on."""
    inside = np.flatnonzero(within >= 0)
    part = within[inside]
    sizes = np.bincount(part, minlength=parts)
    middle = np.cumsum(sizes) - sizes + np.maximum(sizes - 1, 0) // 2
    held = sizes > 0
    for place in range(points.shape[1]):
        values = points[inside, place]
        median = np.zeros(parts)
        median[held] = values[np.lexsort((values, part))][middle[held]]
        for right in (values > median[part], values >= median[part]):
            border = np.zeros(len(within), np.bool_)
            border[inside] = right
            yield border


@dataclass(frozen=True)
class _Pricing:
    """What the two sides of a cut cost, for all parts at once."""

    costs: growing.CellCosts
    rows: int
    threads: int | None

    def __call__(self, within: Labels, right: Mask, parts: int, minimum: int) -> Floats:
        """Add up both sides of each part; infinity where one is too small."""
        sides = np.where(within >= 0, 2 * within + right, -1)
        sizes = np.bincount(sides[sides >= 0], minlength=2 * parts)
        alone = pack_promises(1, (), self.rows)  # cells are priced, nobody is counted
        side_costs = growing.class_costs(self.costs, alone, sides, 2 * parts, self.threads)
        short = (sizes < minimum).reshape(parts, 2).any(axis=1)
        return np.where(short, np.inf, side_costs.reshape(parts, 2).sum(axis=1))


def _chosen(within: Labels, costs: Floats, sides: list[Mask], admits: Admits) -> tuple[Mask, Mask]:
    """Take for every part the cheapest cut whose sides may both stand; gives who goes right, what is cut."""
    parts = costs.shape[1]
    order = np.argsort(costs, axis=0, kind="stable")
    right, cut = np.zeros(len(within), np.bool_), np.zeros(parts, np.bool_)
    for turn in range(len(sides)):
        which = order[turn]
        asked = ~cut & np.isfinite(costs[which, np.arange(parts)])
        if not asked.any():
            break
        tried = _sides_of(within, which, sides, asked)
        numbers = np.append(np.where(asked, np.cumsum(asked) - 1, -1), -1)[within]
        candidates = np.where(numbers >= 0, 2 * numbers + tried, -1)
        stands = admits(*tiling.rows_by_label(candidates, 2 * int(asked.sum())))
        taken = np.zeros(parts, np.bool_)
        taken[asked] = stands.reshape(-1, 2).all(axis=1)
        right |= tried & np.append(taken, np.False_)[within]
        cut |= taken
    return right, cut


def _sides_of(within: Labels, which: Integers, sides: list[Mask], asked: Mask) -> Mask:
    """Say who goes right where each part has its own cut."""
    right = np.zeros(len(within), np.bool_)
    chosen = np.append(np.where(asked, which, -1), -1)[within]
    for place, side in enumerate(sides):
        right |= side & (chosen == place)
    return right
