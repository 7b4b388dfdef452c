"""A grid of round numbers that bounds are moved out to, so that no real extreme is published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.table import Numbers
from mahrem.types import Floats

__all__ = ["NumberGrid", "number_grid"]

_LINES = 32  # about so many grid lines cross the domain
_EXACT = 2**53  # whole numbers up to here are exact as floats
_POWERS = 22  # so are powers of ten up to here
_FINEST = 1e-300  # a finer step would leave the range of normal floats


@dataclass(frozen=True)
class NumberGrid:
    """All multiples of ``mantissa * 10**exponent``."""

    mantissa: int
    exponent: int

    @property
    def step(self) -> float:
        """The distance between two lines."""
        return float(f"{self.mantissa}e{self.exponent}")

    def line(self, count: Floats) -> Floats:
        """Give the lines with these numbers, each the float nearest to its decimal (0.3, not 0.1 + 0.2)."""
        multiples = count * self.mantissa
        if abs(self.exponent) <= _POWERS and bool(np.all(np.abs(multiples) < _EXACT)):
            power = 10.0 ** abs(self.exponent)  # exact, so that one operation rounds once
            return multiples * power if self.exponent >= 0 else multiples / power
        digits = pl.Series(count.astype(np.int64) * self.mantissa).cast(pl.String)
        return (digits + f"e{self.exponent}").cast(pl.Float64).to_numpy()

    def below(self, values: Floats) -> Floats:
        """Give for each value the nearest line that is not above it."""
        count = np.floor(values / self.step)
        for _ in range(2):  # the division may have rounded across a line
            count = np.where(self.line(count) > values, count - 1, count)
            count = np.where(self.line(count + 1) <= values, count + 1, count)
        return self.line(count) + 0.0

    def above(self, values: Floats) -> Floats:
        """Give for each value the nearest line that is not below it."""
        return -self.below(-values) + 0.0


def number_grid(domain: Numbers, step: float | str | None = None) -> NumberGrid:
    """Choose the grid: the given step, or the smallest of 1, 2, 5 times a power of ten that is wide enough.

    Example:
        >>> number_grid(Numbers(17, 90, True)).step, number_grid(Numbers(0.0, 1.0, False)).step
        (5.0, 0.05)
    """
    largest = max(abs(domain.low), abs(domain.high))
    if step is not None:
        return _given(step, largest)
    width = domain.high / _LINES - domain.low / _LINES
    if domain.low == domain.high:
        width = largest / _LINES or 1.0
    target = max(width, 2 * float(np.spacing(largest)), _FINEST, 1.0 if domain.whole else 0.0)
    exponent = math.floor(math.log10(target))
    grids = (NumberGrid(m, e) for e in (exponent - 1, exponent, exponent + 1) for m in (1, 2, 5))
    return next(grid for grid in grids if grid.step >= target and not (domain.whole and grid.exponent < 0))


def _given(step: float | str, largest: float) -> NumberGrid:
    try:
        number = Decimal(str(step)).normalize()
    except InvalidOperation as error:
        raise InvalidParameter(f"step={step!r} must be a number for a numeric column") from error
    if not number.is_finite() or number <= 0 or not _FINEST <= float(number) <= 1 / _FINEST:
        raise InvalidParameter(f"step={step!r} must be a finite number above 0")
    _, digits, exponent = number.as_tuple()
    grid = NumberGrid(int("".join(map(str, digits))), int(exponent))
    if largest / grid.step > _EXACT / 2 or (largest / grid.step + 2) * grid.mantissa > 2**62:
        raise InvalidParameter(
            f"step={step!r} is too fine for numbers as large as this column's; choose a wider one"
        )
    return grid
