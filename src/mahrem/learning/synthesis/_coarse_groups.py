"""Fewer, fuller groups of declared cells, made from noisy counts alone: finer ones would drown in noise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mahrem.types import Floats, Integers


@dataclass(frozen=True)
class CoarseGroups:
    """Groups of the cells of one column.

    Attributes:
        group: ``(cells,)`` the group of each cell, from 0.
        share: ``(cells,)`` the share of each cell in its group; they add up to 1 there.
        weight: ``(groups,)`` the share of each group in all rows.
        by_class: ``(classes, cells)`` the same as ``share`` among rows of each class; None where classes were
            not told apart.
    """

    group: Integers = field(repr=False)
    share: Floats = field(repr=False)
    weight: Floats = field(repr=False)
    by_class: Floats | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """How many groups."""
        return len(self.weight)

    def with_classes(self, noisy: Floats, deviation: float) -> CoarseGroups:
        """Give the same groups with shares for each class, from ``(cells, classes)`` noisy counts."""
        shares = []
        for counts in noisy.T:
            clean = _denoised(counts, deviation)
            inside = np.bincount(self.group, weights=clean)[self.group]
            shares.append(np.where(inside > 0, clean / np.where(inside > 0, inside, 1.0), self.share))
        return replace(self, by_class=np.stack(shares))


def coarse_groups(
    noisy: Floats, *, deviation: float, ordered: bool, apart: int = 0, most: int = 16, least: float = 0.002
) -> CoarseGroups:
    """Gather cells so that every group holds far more than the noise.

    Neighbouring cells of a number are gathered until a group holds its part of the rows; a cell that holds
    that much by itself stays alone. Of words, the rare ones share one group.

    Args:
        noisy: ``(cells,)`` noisy counts.
        deviation: Standard deviation of the noise.
        ordered: Whether neighbouring cells belong together.
        apart: So many cells at the end (what is missing) are never gathered with others.
        most: At most so many groups, those apart not counted.
        least: No group holds less than this share of the rows, if it can be helped.

    Guarantees:
        - Every cell has one group; shares in a group add up to 1, weights of groups too.
        - Nothing but the arguments is used: on noisy counts it costs no privacy.

    Example:
        >>> coarse_groups(np.array([90.0, 2, 3, 5]), deviation=1.0, ordered=True, most=2).group.tolist()
        [0, 1, 1, 1]
    """
    counts = _denoised(np.asarray(noisy, dtype=np.float64), deviation)
    total = counts.sum()
    held = len(counts) - apart
    floor = max(deviation, least * total)
    main = counts[:held]
    if held <= 1:
        group = np.zeros(held, dtype=np.int64)
    elif ordered:
        group = _runs(main, floor, most)
    else:
        group = _rare_together(main, floor, most)
    group = np.concatenate([group, group.max(initial=-1) + 1 + np.arange(apart)])
    weight = np.bincount(group, weights=counts)
    even = np.bincount(group)[group]
    inside = weight[group]
    share = np.where(inside > 0, counts / np.where(inside > 0, inside, 1.0), 1 / even)
    return CoarseGroups(group, share, weight / weight.sum())


def _denoised(noisy: Floats, deviation: float) -> Floats:
    """Take counts to the nearest ones that are not negative and keep the total."""
    total = max(float(noisy.sum()), deviation, 1.0)
    ordered = np.sort(noisy)[::-1]
    surplus = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    last = int(np.flatnonzero(ordered > surplus).max(initial=0))
    counts: Floats = np.maximum(noisy - surplus[last], 0.0)
    return counts


def _runs(counts: Floats, floor: float, most: int) -> Integers:
    """Number runs of cells; a run ends when it is full, and before a cell that is full alone."""
    full = max(floor, _full(counts, most))
    group, held = np.zeros(len(counts), dtype=np.int64), 0.0
    number = 0
    for place, count in enumerate(counts.tolist()):  # a few dozen cells
        if held > 0 and (held >= full or count >= full):
            number, held = number + 1, 0.0
        group[place] = number
        held += count
    if number and held < floor / 2:
        group[group == number] = number - 1  # the last run stayed too thin
    return group


def _full(counts: Floats, most: int) -> float:
    """Share the rows among ``most`` groups, after those cells that are more than a part by themselves."""
    alone = np.zeros(len(counts), dtype=bool)
    full = float(counts.sum()) / most
    for _ in range(most):
        more = counts >= full
        if (more == alone).all() or more.sum() >= most or more.all():
            break
        alone = more
        full = float(counts[~alone].sum()) / (most - int(alone.sum()))
    return full


def _rare_together(counts: Floats, floor: float, most: int) -> Integers:
    """Keep frequent cells alone; the others share a group."""
    order = np.argsort(-counts, kind="stable")
    alone = [int(place) for place in order[: max(1, most - 1)] if counts[place] >= floor]
    if len(alone) >= len(counts) - 1:
        return np.arange(len(counts))
    group = np.full(len(counts), len(alone), dtype=np.int64)
    group[np.sort(np.asarray(alone, dtype=np.int64))] = np.arange(len(alone))
    return group
