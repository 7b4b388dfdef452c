"""Real numbers as whole ones, so that secure sums add them exactly."""

from __future__ import annotations

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.types import Floats, Integers

PLACES = 24  # binary places kept of each number
LARGEST_ROWS = 1 << 26  # of all clients together: times 1,000 and 2^24 it stays below 2^60


def to_fixed(values: Floats, largest: float) -> Integers:
    """Write numbers as multiples of 2^-24.

    Raises:
        InvalidInput: If one is not finite or beyond ``largest``: a wrapped sum would be silently wrong.

    Example:
        >>> from_fixed(to_fixed(np.array([0.5, -1.25]), 2.0) + to_fixed(np.array([1.0, 1.0]), 2.0)).tolist()
        [1.5, -0.25]
    """
    numbers = np.asarray(values, np.float64)
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > largest:
        raise InvalidInput(f"numbers that are not finite or beyond {largest:g} cannot be added under masks")
    return np.rint(numbers * (1 << PLACES)).astype(np.int64)


def from_fixed(total: Integers) -> Floats:
    """Read a sum of such numbers."""
    return np.asarray(total, np.float64) / (1 << PLACES)
