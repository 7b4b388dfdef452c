"""Group a few neighbouring groups anew, from random centres, wherever that lowers the squared error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.averaging._anonymeans import groups_from_centres
from mahrem.arrays.averaging._lloyd import least, measure
from mahrem.arrays.averaging._merge import INNER
from mahrem.arrays.averaging._reassign import improve
from mahrem.types import Floats, Integers, Labels, Points, Rows, Sizes, Written

__all__ = ["polish"]

_U = np.uint64
_FAR = 1e150  # where a group that is no more lies: its square is still a number
_LEAST, _MOST = 3, 8  # neighbouring groups looked at together
_ROUNDS = 5  # of k-means among so few rows
_TRIES = 4  # groups in which a partner for a swap is looked for
_LITTLE = 1e-9  # share of the squared error that a change must gain: rounding is no gain


class Tiles(NamedTuple):
    """All groups, with their rows and centres."""

    points: Points  # (n, d)
    labels: Labels  # (n,)
    members: Rows  # (g, 2 * minimum)
    sizes: Sizes  # (g,) 0 = the group is no more
    columns: Floats  # (d, g) centres
    room: Floats  # (g,)
    state: NDArray[np.uint64]  # (1,) of the random numbers
    minimum: int


@inner
def _draw(state: NDArray[np.uint64], below: int) -> int:
    """Draw a whole number (xorshift64*)."""
    number = state[0]
    number ^= number >> _U(12)
    number ^= number << _U(25)
    number ^= number >> _U(27)
    state[0] = number
    return np.int64(((number * _U(2685821657736338717)) >> _U(33)) % _U(below))  # type: ignore[return-value]


@inner
def _lay(points: Points, labels: Labels, minimum: int, seed: int) -> Tiles:
    slots = len(points) // minimum
    tiles = Tiles(
        points,
        labels,
        np.empty((slots, 2 * minimum), np.int32),
        np.zeros(slots, np.int64),
        np.full((points.shape[1], slots), _FAR),
        np.empty(slots),
        np.array([_U(seed) * _U(2) + _U(1)], np.uint64),  # never zero
        minimum,
    )
    for row in range(len(points)):
        group = labels[row]
        tiles.members[group, tiles.sizes[group]] = row
        tiles.sizes[group] += 1
    for group in range(slots):
        if tiles.sizes[group] > 0:
            _centre(tiles, group)
    return tiles


@inner
def _centre(tiles: Tiles, group: int) -> None:
    size = tiles.sizes[group]
    for column in range(len(tiles.columns)):
        total = 0.0
        for i in range(size):
            total += tiles.points[tiles.members[group, i], column]
        tiles.columns[column, group] = total / size


@inner
def _neighbours(tiles: Tiles, chosen: Integers) -> int:
    """Choose the group of a random row and those with the nearest centres; gives how many."""
    row = _draw(tiles.state, len(tiles.points))
    wanted = _LEAST + _draw(tiles.state, _MOST - _LEAST + 1)
    measure(tiles.columns, tiles.points[row], tiles.room)
    tiles.room[tiles.labels[row]] = 0.0
    bits = tiles.room.view(np.int64)
    for turn in range(wanted):
        group = tiles.labels[row] if turn == 0 else least(bits)
        if tiles.room[group] >= _FAR:
            return turn
        tiles.room[group] = np.inf
        chosen[turn] = group
    return wanted


@inner
def _regroup(tiles: Tiles, points: Points, wanted: int, labels: Labels) -> float:
    """Group the rows of a neighbourhood from random centres; gives their squared error."""
    order = np.arange(len(points))
    columns = np.empty((points.shape[1], wanted))
    for centre in range(wanted):
        other = centre + _draw(tiles.state, len(points) - centre)
        order[centre], order[other] = order[other], order[centre]
        for column in range(len(columns)):
            columns[column, centre] = points[order[centre], column]
    groups_from_centres(points, columns, tiles.minimum, INNER, False, False, _ROUNDS, labels)
    return improve(points, labels, tiles.minimum, _TRIES, 100)


@inner
def _replace(tiles: Tiles, chosen: Integers, count: int, rows: Rows, labels: Labels) -> None:
    """Put a neighbourhood's new groups in the place of its old ones."""
    for i in range(count):
        tiles.sizes[chosen[i]] = 0
        for column in range(len(tiles.columns)):
            tiles.columns[column, chosen[i]] = _FAR
    numbers = np.full(len(rows), -1, np.int64)
    free = 0
    for i in range(len(rows)):
        if numbers[labels[i]] < 0:
            while tiles.sizes[free] > 0:
                free += 1
            numbers[labels[i]] = free
        group = numbers[labels[i]]
        tiles.members[group, tiles.sizes[group]] = rows[i]
        tiles.sizes[group] += 1
        tiles.labels[rows[i]] = group
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            _centre(tiles, numbers[i])


@inner
def _step(tiles: Tiles, chosen: Integers, force: bool) -> None:  # noqa: FBT001 - as all kernels
    """Try to group one neighbourhood better; with ``force`` take whatever comes out."""
    count = _neighbours(tiles, chosen)
    total = 0
    for i in range(count):
        total += tiles.sizes[chosen[i]]
    rows, points = np.empty(total, np.int32), np.empty((total, tiles.points.shape[1]))
    at, error = 0, 0.0
    for i in range(count):
        for member in range(tiles.sizes[chosen[i]]):
            rows[at] = tiles.members[chosen[i], member]
            for column in range(points.shape[1]):
                points[at, column] = tiles.points[rows[at], column]
                error += (points[at, column] - tiles.columns[column, chosen[i]]) ** 2
            at += 1
    if count < 2 or error == 0.0:
        return
    labels = np.empty(total, np.int64)
    wanted = min(count + _draw(tiles.state, 2), total // tiles.minimum)
    new_error = _regroup(tiles, points, wanted, labels)
    if force or new_error < error * (1.0 - _LITTLE):
        _replace(tiles, chosen, count, rows, labels)


@kernel
def polish(points: Points, labels: Written[Labels], minimum: int, shakes: int, steps: int, seed: int) -> None:
    """Group random neighbourhoods anew, each a few groups with near centres, and keep what is better.

    Args:
        points: ``(n, d)``.
        labels: ``(n,)`` groups of ``minimum .. 2 * minimum - 1`` rows below ``n // minimum``; changed.
        minimum: Rows each group keeps.
        shakes: Neighbourhoods that are grouped anew at first, better or not.
        steps: Neighbourhoods that are tried.
        seed: Of the choices, not below 0.
    """
    tiles = _lay(points, labels, minimum, seed)
    chosen = np.empty(_MOST, np.int64)
    for turn in range(shakes + steps):
        _step(tiles, chosen, turn < shakes)
