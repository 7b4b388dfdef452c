"""What published cells cost, by the places of values on their axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mahrem.arrays import growing
from mahrem.errors import InvalidParameter
from mahrem.table import Hierarchy
from mahrem.types import Floats, Integers, Points

_KINDS = {"range": growing.RANGE, "set": growing.SET, "tree": growing.TREE}
_FAR = 4.0  # times what a column counts: a missing value lies so far below all others
_WORDS = 4  # columns that stand for the words of a set where classes are laid into tiles


@dataclass(frozen=True)
class ColumnCosts:
    """What the published cell of a class costs in one column, from the values of its rows.

    ==========  ========================================================  ================================
    kind        the cell of a class                                       costs
    ==========  ========================================================  ================================
    ``range``   from the lowest to the highest end of its rows' own       its width, and ``jump`` where
                cells                                                     its ends differ
    ``set``     all values that occur                                     ``price[number of values]``
    ``tree``    the lowest node, or the longest beginning, over them      the dearest ``price[v]`` (value v
                                                                          beside the one before) between
                                                                          its ends; ``alone[v]`` for one
    ==========  ========================================================  ================================

    Missing values beside others cost ``most``, but are a value more in a set; alone they cost nothing.
    """

    kind: Literal["range", "set", "tree"]
    places: Floats = field(repr=False)  # (v,) values on the scaled axis, ascending
    most: float = 1.0
    jump: float = 0.0
    low: Floats | None = field(default=None, repr=False)  # (v,) of ranges: ends of the cell of a value alone
    high: Floats | None = field(default=None, repr=False)
    price: Floats | None = field(default=None, repr=False)  # of sets (v + 3,), of trees (v,)
    alone: Floats | None = field(default=None, repr=False)  # of trees (v,)


def plain_costs(points: Points, hierarchies: Sequence[Hierarchy | None] = ()) -> tuple[ColumnCosts, ...]:
    """Say that cells cost their widths on the scaled axes, or the share of their node."""
    trees = list(hierarchies) or [None] * points.shape[1]
    if len(trees) != points.shape[1]:
        raise InvalidParameter(
            f"hierarchies={len(trees)} must be one for each of the {points.shape[1]} columns"
        )
    return tuple(ColumnCosts("range", np.empty(0)) if tree is None else _of_tree(tree) for tree in trees)


def _of_tree(tree: Hierarchy) -> ColumnCosts:
    leaves = tree.leaves
    height, node = tree.lowest_common(np.arange(leaves - 1), np.arange(1, leaves))
    covered = np.array([tree.leaf_counts[level][one] for level, one in zip(height, node, strict=True)])
    price = np.concatenate([[0.0], covered / leaves])
    return ColumnCosts("tree", np.arange(leaves) / max(1, leaves - 1), price=price, alone=np.zeros(leaves))


def pack_costs(points: Points, columns: Sequence[ColumnCosts]) -> growing.CellCosts:
    """Lay out for kernels what the cells of some rows cost.

    Args:
        points: ``(n, d)`` places of values; below 0 where they are missing.
        columns: What cells cost in each.
    """
    many = [len(column.places) + 1 for column in columns]
    low, high = np.empty((2, *points.shape))
    # a set with every value, and missing ones, is still asked what one more would cost
    price, alone = np.zeros((2, len(columns), max(many, default=0) + 2))
    for place, column in enumerate(columns):
        low[:, place], high[:, place] = _ends(points[:, place], column)
        if column.kind == "set" and column.price is not None:
            price[place, : len(column.price)] = column.price
        elif column.price is not None and column.alone is not None:  # missing stands before the first value
            price[place, 1 : many[place]] = np.concatenate([[column.most], column.price[1:]])
            alone[place, 1 : many[place]] = column.alone
    return growing.CellCosts(
        np.array([_KINDS[column.kind] for column in columns], np.int64),
        np.array(many, np.int64),
        np.array(
            [
                column.most if column.low is not None or column.kind != "range" else np.inf
                for column in columns
            ]
        ),
        np.array([column.jump for column in columns], np.float64),
        price,
        alone,
        low,
        high,
    )


def _ends(places: Floats, column: ColumnCosts) -> tuple[Floats, Floats]:
    """Give the ends of each row's own cell, or twice the number of its value."""
    if column.kind == "range" and column.low is None:
        return places, places
    which = np.minimum(np.searchsorted(column.places, places), max(len(column.places) - 1, 0))
    missing = places < 0
    if column.low is not None and column.high is not None:
        far = -_FAR * max(column.most, 1e-9)
        if len(column.places) == 0:
            return np.full(len(places), far), np.full(len(places), far)
        return np.where(missing, far, column.low[which]), np.where(missing, far, column.high[which])
    if column.kind == "set":
        numbers = np.where(missing, len(column.places), which).astype(np.float64)
    else:
        numbers = np.where(missing, 0, which + 1).astype(np.float64)
    return numbers, numbers


def features(points: Points, columns: Sequence[ColumnCosts]) -> Floats:
    """Give where rows lie, for tiles of near classes: words of a set are far from each other all alike."""
    coordinates = []
    for place, column in enumerate(columns):
        if column.kind != "set":
            coordinates.append(points[:, place : place + 1] * min(column.most, 1.0))
            continue
        numbers = _ends(points[:, place], column)[0].astype(np.int64)
        coordinates.append(_scattered(len(column.places) + 1)[numbers] * column.most)
    return np.ascontiguousarray(np.concatenate(coordinates, axis=1)) if coordinates else points


def _scattered(words: int) -> Floats:
    """Give each word a point, no two near each other."""
    if words <= _WORDS:
        return np.eye(words) * 0.5
    spread: Floats = np.random.default_rng(words).standard_normal((words, _WORDS))
    points: Floats = spread / np.linalg.norm(spread, axis=1, keepdims=True) * 0.5
    return points


def class_means(rows: Floats, labels: Integers, classes: int) -> Floats:
    """Give the mean of the rows of every class."""
    sizes = np.maximum(np.bincount(labels, minlength=classes), 1)
    means = np.empty((classes, rows.shape[1]))
    for column in range(rows.shape[1]):
        means[:, column] = np.bincount(labels, weights=rows[:, column], minlength=classes) / sizes
    return means
