"""Rows going down a tree of cuts, and what a pass over them counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mahrem.types import Floats, Integers, Mask, Points

__all__ = ["SIDES", "Asked", "CutTree", "Tally", "descend", "tally"]

SIDES = 3  # surely left, equal to the bracket's upper end, surely right
_UNDECIDED = 3


class CutTree(NamedTuple):
    """A tree of cuts; node ``i`` is a leaf where ``column[i]`` is -1."""

    column: Integers  # (m,)
    value: Floats  # (m,)
    below: Mask  # (m,) True: left is < value; False: left is <= value
    left: Integers  # (m,)
    right: Integers  # (m,)


class Asked(NamedTuple):
    """What a pass asks about open leaves: where a bracket around the median lies, and which bins to count."""

    of_node: Integers  # (m,) question about a node, -1 = none
    column: Integers  # (q,) column of the bracket; -1 = no bracket, every row counts as surely left
    low: Floats  # (q,) up to here a row is surely left
    high: Floats  # (q,) above this it is surely right
    spread: Mask  # (q,) count bins too
    first: Integers  # (q, d) the first edge that the part needs
    width: Integers  # (q, d) how many edges it needs


class Tally(NamedTuple):
    """What a pass has counted, by question and side."""

    rows: Integers  # (q, 3)
    least: Floats  # (q, 3, d)
    most: Floats  # (q, 3, d)
    bins: NDArray[np.int32]  # (q, 3, d, b)


@njit(cache=True, nogil=True)
def descend(points: Points, tree: CutTree, nodes: Integers) -> None:
    """Take every row from the node it stands at down to its leaf."""
    for row in range(len(points)):
        node = nodes[row]
        column = tree.column[node]
        while column >= 0:
            value = points[row, column]
            cut = tree.value[node]
            goes_left = value < cut if tree.below[node] else value <= cut
            node = tree.left[node] if goes_left else tree.right[node]
            column = tree.column[node]
        nodes[row] = node


_GUESSES = 2048  # places in [-1, 1] from which the search for an edge starts


@njit(cache=True, nogil=True)
def _first_guesses(edges: Floats) -> Integers:
    """Say for places at equal distances in [-1, 1] which edge is the first that is not below."""
    guesses = np.empty((edges.shape[0], _GUESSES + 1), np.int64)
    for column in range(edges.shape[0]):
        at = 0
        for i in range(_GUESSES + 1):
            while edges[column, at] < 2.0 * i / _GUESSES - 1.0:
                at += 1
            guesses[column, i] = at
    return guesses


@njit(cache=True, nogil=True)
def _place(edges: Floats, guesses: Integers, column: int, value: float) -> int:
    """Give the first edge that is not below the value; the last edge is infinity."""
    low, high = 0, edges.shape[1] - 1
    if -1.0 <= value <= 1.0:  # one place more on both sides, as the product is rounded
        guess = int((value + 1.0) * (_GUESSES // 2))
        low = guesses[column, max(guess - 1, 0)]
        high = guesses[column, guess + 2] if guess + 2 <= _GUESSES else high
    while low < high:
        middle = (low + high) // 2
        if edges[column, middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def tally(
    points: Points, nodes: Integers, asked: Asked, edges: Floats, found: Tally, side: NDArray[np.int8]
) -> int:
    """Count rows, extremes and bins of every question; gives how many rows lie inside their bracket.

    Args:
        points: ``(n, d)`` rows.
        nodes: ``(n,)`` leaf of each row.
        asked: What to count.
        edges: ``(d, e)`` ascending edges of each column, the last one infinity.
        found: Added to.
        side: ``(n,)`` written: 0, 1, 2 as in :class:`Tally`, 3 = inside the bracket, -1 = nobody asked.
    """
    undecided = 0
    bins = found.bins.shape[3]
    guesses = _first_guesses(edges)
    for row in range(len(points)):
        question = asked.of_node[nodes[row]]
        if question < 0:
            side[row] = -1
            continue
        at, column = 0, asked.column[question]
        if column >= 0:
            value = points[row, column]
            if value > asked.high[question]:
                at = 2
            elif value == asked.high[question]:
                at = 1
            elif value > asked.low[question]:
                at = _UNDECIDED
        side[row] = at
        if at == _UNDECIDED:
            undecided += 1
            continue
        found.rows[question, at] += 1
        for i in range(points.shape[1]):
            value = points[row, i]
            found.least[question, at, i] = min(found.least[question, at, i], value)
            found.most[question, at, i] = max(found.most[question, at, i], value)
            if asked.spread[question]:
                place = _place(edges, guesses, i, value) - asked.first[question, i]
                found.bins[question, at, i, place * bins // asked.width[question, i]] += 1
    return undecided
