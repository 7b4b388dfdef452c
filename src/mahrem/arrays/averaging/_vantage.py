"""Canon's cuts: rows near a vantage point go left, the others right.

Rows lie as columns of numbers; row numbers move along. The vantage point of a segment is drawn from its place
alone, so that neither threads nor the order of the work change anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.arrays.cutting import Scratch, divide, move, nth, signed
from mahrem.types import Floats, Mask, Matrix, Rows

__all__ = ["Vantage", "Yard", "draw", "measure_from", "near_and_far", "part"]

_EUCLID, _MANHATTAN, _MINKOWSKI, _HAMMING = range(4)  # 4 = mixed
_U = np.uint64
_FAR = 2  # how often the farthest record is looked for, starting from a random one


class Vantage(NamedTuple):
    """How a segment is cut."""

    distance: int  # 0 Euclid, 1 Manhattan, 2 Minkowski, 3 Hamming, 4 mixed
    power: float  # of Minkowski's distance
    scale: Floats  # (d,) 1 / range of every column
    category: Mask  # (d,) True: values are equal or not, for the mixed distance
    far: bool  # the vantage point is far from a random record; else it is that record
    share: float  # of the rows that goes left
    seed: np.uint64
    minimum: int


class Yard(NamedTuple):
    """The rows being moved, and where segments begin."""

    columns: Matrix[Floats]  # (d, n)
    order: Rows  # (n,)
    begins: Mask  # (n,) True where a segment begins


@inner
def draw(seed: np.uint64, start: int, size: int) -> int:
    """Draw one of ``size`` places for the segment at ``start``: a hash, the same whoever asks when."""
    state = seed ^ (_U(start) * _U(0x9E3779B97F4A7C15)) ^ (_U(size) * _U(0xC2B2AE3D27D4EB4F))
    for _ in range(2):
        state += _U(0x9E3779B97F4A7C15)
        state = (state ^ (state >> _U(30))) * _U(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> _U(27))) * _U(0x94D049BB133111EB)
        state ^= state >> _U(31)
    return signed(((state >> _U(32)) * _U(size)) >> _U(32))


@inner
def _add_column(
    values: Floats, start: int, size: int, origin: float, column: int, vantage: Vantage, distances: Floats
) -> None:
    """Add what one column contributes."""
    begin = _U(start)
    if vantage.distance == _EUCLID:
        for i in range(_U(size)):
            difference = values[begin + i] - origin
            distances[i] += difference * difference
    elif vantage.distance == _MANHATTAN:
        for i in range(_U(size)):
            distances[i] += abs(values[begin + i] - origin)
    elif vantage.distance == _MINKOWSKI:
        for i in range(_U(size)):
            distances[i] += abs(values[begin + i] - origin) ** vantage.power
    elif vantage.distance == _HAMMING or vantage.category[column]:
        for i in range(_U(size)):
            distances[i] += values[begin + i] != origin
    else:
        scale = vantage.scale[column]
        for i in range(_U(size)):
            distances[i] += abs(values[begin + i] - origin) * scale


@inner
def measure_from(
    columns: Floats, start: int, size: int, place: int, vantage: Vantage, distances: Floats
) -> None:
    """Write how far the rows of a segment lie from its row ``place``; without roots, only order counts."""
    for i in range(_U(size)):
        distances[i] = 0.0
    for column in range(columns.shape[0]):
        values = columns[column]
        _add_column(values, start, size, values[start + place], column, vantage, distances)


@inner
def near_and_far(
    yard: Yard, start: int, size: int, tried: int, vantage: Vantage, scratch: Scratch, base: int
) -> tuple[int, int]:
    """List the rows of the next cut that leaves enough on both sides; gives how many go left, and which."""
    if size < 2 * vantage.minimum or tried >= 2:
        return 0, 2
    keys = scratch.keys[3]
    distances = keys.view(np.float64)  # numbers not below zero lie in the order of their bits
    place = draw(vantage.seed, start, size)
    measure_from(yard.columns, start, size, place, vantage, distances)
    if vantage.far:
        for _ in range(_FAR):
            place = signed(np.argmax(distances[:size]))
            measure_from(yard.columns, start, size, place, vantage, distances)
    rank = int(vantage.share * (size - 1))
    rank = min(max(rank, vantage.minimum - 1), size - vantage.minimum - 1)
    value = nth(keys, 0, size, rank, scratch.keys)
    if tried == 0:
        left = divide(scratch.keys, 3, 0, size, value, scratch.listed, base)
        if size - left >= vantage.minimum:
            return left, 1
    left = divide(scratch.keys, 3, 0, size, value - 1, scratch.listed, base)
    return (left, 2) if left >= vantage.minimum else (0, 2)


@inner
def part(yard: Yard, start: int, size: int, left: int, minimum: int, scratch: Scratch, base: int) -> None:
    """Move the rows of a segment as listed; columns only when a side can be cut again."""
    yard.begins[start + left] = True
    move(yard.order, start, size, left, scratch.listed, base, scratch.rows)
    if max(left, size - left) >= 2 * minimum:
        aside = scratch.keys[0].view(np.float64)
        for column in range(yard.columns.shape[0]):
            move(yard.columns[column], start, size, left, scratch.listed, base, aside)
