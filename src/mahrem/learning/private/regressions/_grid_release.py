"""Release a vector on an integer grid: what is left of it after noise is exact to the last bit."""

from __future__ import annotations

import math

import numpy as np

from mahrem.dp import Relation
from mahrem.dp.noise import GlobalSensitivity, IntegerNoise, gaussian_integers, laplace_integers
from mahrem.learning.private._secret_stream import new_stream
from mahrem.types import Floats

FINE = 1024  # steps per distance: rounding adds a thousandth to the sensitivity


def _step(distance: float, width: int) -> float:
    """Give the width of a grid step: a power of two, so that dividing by it is exact."""
    return 2.0 ** math.floor(math.log2(distance / (FINE * math.sqrt(width))))


def grid_noise(
    distance: float, width: int, relation: Relation, *, epsilon: float, delta: float
) -> IntegerNoise:
    """Fit integer noise for a vector that moves by at most ``distance`` (Euclidean) between neighbours.

    Entries are rounded to the grid first, which moves two vectors apart by at most one step in each entry.

    Args:
        distance: Largest Euclidean distance between the vectors of two neighbours.
        width: Entries of the vector.
        relation: Which tables are neighbours.
        epsilon: The promise.
        delta: The same; 0 for discrete Laplace noise, else discrete Gaussian noise.
    """
    steps = distance / _step(distance, width)
    length = steps + math.sqrt(width)
    reach = GlobalSensitivity(
        relation=relation,
        l1=math.ceil(math.sqrt(width) * length),
        l2_squared=math.ceil(length**2 * (1 + 1e-12)),
        linf=math.ceil(steps) + 1,
        single=False,  # a fine grid is too long for the exact sum of one entry
    )
    if delta == 0:
        return laplace_integers(reach, epsilon=epsilon)
    return gaussian_integers(reach, epsilon=epsilon, delta=delta)


def grid_release(values: Floats, noise: IntegerNoise, distance: float) -> Floats:
    """Round a vector to the grid of :func:`grid_noise` and add the noise.

    Guarantees:
        - The promise of the noise, if no two neighbours' vectors are further apart than ``distance``.

    Example:
        >>> noise = grid_noise(1.0, 3, Relation.ADD_REMOVE, epsilon=1.0, delta=1e-6)
        >>> grid_release(np.zeros(3), noise, 1.0).shape
        (3,)
    """
    step = _step(distance, len(values))
    whole = noise([round(value / step) for value in values.tolist()])
    return np.asarray(whole, dtype=np.float64) * step


def gamma_vector(width: int, scale: float) -> Floats:
    """Draw a vector with density proportional to ``exp(-|v| / scale)``: its norm is gamma-distributed."""
    stream = new_stream()
    direction = stream.normals("direction", 0, width)
    size = np.abs(stream.laplaces("norm", 0, width)).sum()
    return np.asarray(direction / np.linalg.norm(direction) * size * scale)
