"""Lines at round numbers: bounds of published ranges lie on them, so that no real extreme is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.types import Floats

EXACT = 2**53  # whole numbers up to here are exact as floats
_POWERS = 22  # so are powers of ten up to here
_FURTHEST = 2**62


def all_whole(values: Floats) -> bool:
    """Say whether all are whole numbers that floats tell apart."""
    return bool(np.all(values == np.floor(values)) and np.all(np.abs(values) < EXACT))


def finite(lines: Floats) -> Floats:
    """Give the outermost floats for lines beyond them: every value lies within, and no cell is open."""
    largest = np.finfo(np.float64).max
    return np.clip(lines, -largest, largest)


@dataclass(frozen=True)
class NumberGrid:
    """All multiples of ``mantissa * 10**exponent``.

    Example:
        >>> NumberGrid(5, -1).below(np.array([0.7, -0.1])).tolist()
        [0.5, -0.5]
    """

    mantissa: int
    exponent: int

    @property
    def step(self) -> float:
        """The distance between two lines."""
        return float(f"{self.mantissa}e{self.exponent}")

    def line(self, count: Floats) -> Floats:
        """Give the lines with these numbers, each the float nearest to its decimal (0.3, not 0.1 + 0.2)."""
        multiples = count * self.mantissa
        if abs(self.exponent) <= _POWERS and bool(np.all(np.abs(multiples) < EXACT)):
            power = 10.0 ** abs(self.exponent)  # exact, so that one operation rounds once
            return multiples * power if self.exponent >= 0 else multiples / power
        most = float(_FURTHEST // self.mantissa)  # what lies further off is no line that anybody shows
        digits = pl.Series(np.clip(count, -most, most).astype(np.int64) * self.mantissa).cast(pl.String)
        return (digits + f"e{self.exponent}").cast(pl.Float64).to_numpy()

    def count_below(self, values: Floats) -> Floats:
        """Give for each value the number of the nearest line that is not above it."""
        count = np.floor(values / self.step)
        for _ in range(2):  # the division may have rounded across a line
            count = np.where(self.line(count) > values, count - 1, count)
            count = np.where(self.line(count + 1) <= values, count + 1, count)
        return count

    def below(self, values: Floats) -> Floats:
        """Give for each value the nearest line that is not above it, or the lowest float there is."""
        return finite(self.line(self.count_below(values))) + 0.0

    def above(self, values: Floats) -> Floats:
        """Give for each value the nearest line that is not below it, or the highest float there is."""
        return -self.below(-values) + 0.0
