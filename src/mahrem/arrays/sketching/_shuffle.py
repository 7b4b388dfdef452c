"""Put rows into an order nobody can guess."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.types import Rows, Written

__all__ = ["exchange", "shuffled"]

_HALF = np.uint64(32)


@kernel
def exchange(order: Written[Rows], draws: NDArray[np.uint64]) -> None:
    """Fisher and Yates: give every place, from the last down, one of the rows still waiting."""
    for last in range(len(order) - 1, 0, -1):
        # The upper half of a draw times the number of choices: off by less than 2**-32 of fair.
        choice = np.int64(((draws[last] >> _HALF) * np.uint64(last + 1)) >> _HALF)
        order[last], order[choice] = order[choice], order[last]


def shuffled(rows: int) -> Rows:
    """Give row numbers in an order drawn from the system's generator: a seed, once known, would undo it.

    Guarantees:
        - Every row number occurs once.
        - The order cannot be worked out from parts of it.

    Example:
        >>> sorted(shuffled(5).tolist())
        [0, 1, 2, 3, 4]
    """
    order = np.arange(rows, dtype=np.int32)
    exchange(order, np.frombuffer(os.urandom(8 * rows), np.uint64))
    return order
