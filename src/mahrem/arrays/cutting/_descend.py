"""Rows going down a tree of cuts, and what a pass over them counts."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Cube, Floats, Integers, Mask, Matrix, Points, Written

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
    first: Matrix[Integers]  # (q, d) the first edge that the part needs
    width: Matrix[Integers]  # (q, d) how many edges it needs


class Tally(NamedTuple):
    """What a pass has counted, by question and side."""

    rows: Matrix[Integers]  # (q, 3)
    least: Cube[Floats]  # (q, 3, d)
    most: Cube[Floats]  # (q, 3, d)
    bins: Annotated[NDArray[np.int32], 4]  # (q, 3, d, b)


@kernel
def descend(points: Points, tree: CutTree, nodes: Written[Integers]) -> None:
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


_GUESSES = 1 << 14  # steps of [0, 1] that say where the search for an edge starts; a power of two: exact


@inner
def _first_guesses(edges: Floats) -> NDArray[np.int32]:
    """Say for the beginning of every step of [0, 1] which edge is the first that is not below."""
    last = edges.shape[1] - 1
    guesses = np.full((edges.shape[0], _GUESSES + 2), last, np.int32)
    for column in range(edges.shape[0]):
        at = 0
        for step in range(_GUESSES + 1):
            while edges[column, at] < step / _GUESSES:
                at += 1
            guesses[column, step] = at
    return guesses


@inner
def _place(edges: Floats, guesses: NDArray[np.int32], column: int, value: float) -> int:
    """Give the first edge that is not below the value; the last edge is infinity."""
    low, high = 0, edges.shape[1] - 1
    if 0.0 <= value <= 1.0:
        step = int(value * _GUESSES)
        low, high = guesses[column, step], guesses[column, step + 1]
    elif value < 0.0:  # missing
        high = guesses[column, 0]
    while low < high:
        middle = (low + high) // 2
        if edges[column, middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _side(asked: Asked, question: int, point: Floats) -> int:
    """Give the side of the bracket that a row lies on."""
    column = asked.column[question]
    if column < 0:
        return 0
    if point[column] >= asked.high[question]:
        return 1 if point[column] == asked.high[question] else 2
    return _UNDECIDED if point[column] > asked.low[question] else 0


@kernel
def tally(
    points: Points,
    nodes: Integers,
    asked: Asked,
    edges: Matrix[Floats],
    counts: Written[Tally],
    side: Written[NDArray[np.int8]],
) -> int:
    """Count rows, extremes and bins of every question; gives how many rows lie inside their bracket.

    Args:
        points: ``(n, d)`` rows.
        nodes: ``(n,)`` leaf of each row.
        asked: What to count.
        edges: ``(d, e)`` ascending edges of each column, the last one infinity.
        counts: Added to.
        side: ``(n,)`` written: 0, 1, 2 as in :class:`Tally`, 3 = inside the bracket, -1 = nobody asked.
    """
    undecided = 0
    questions = np.empty(len(points), np.int32)  # -1: the row is not counted
    for row in range(len(points)):
        question = asked.of_node[nodes[row]]
        questions[row] = question
        side[row] = -1 if question < 0 else _side(asked, question, points[row])
        if side[row] == _UNDECIDED:
            undecided += 1
            questions[row] = -1
        elif question >= 0:
            counts.rows[question, side[row]] += 1
    guesses = _first_guesses(edges)
    for column in range(points.shape[1]):  # one at a time: its guesses and bins stay close at hand
        _tally_column(points[:, column], column, questions, asked, edges, guesses, counts, side)
    return undecided


@inner
def _tally_column(
    values: Floats,
    column: int,
    questions: NDArray[np.int32],
    asked: Asked,
    edges: Floats,
    guesses: NDArray[np.int32],
    counts: Tally,
    side: NDArray[np.int8],
) -> None:
    bins = counts.bins.shape[3]
    for row in range(len(values)):
        question, at, value = questions[row], side[row], values[row]
        if question < 0:
            continue
        if value < counts.least[question, at, column]:  # noqa: PLR1730 - min() would write every time
            counts.least[question, at, column] = value
        if value > counts.most[question, at, column]:  # noqa: PLR1730
            counts.most[question, at, column] = value
        if asked.spread[question]:
            place = _place(edges, guesses, column, value) - asked.first[question, column]
            counts.bins[question, at, column, place * bins // asked.width[question, column]] += 1
