"""A grid of round numbers that bounds are moved out to, so that no real extreme is published."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.table import Numbers
from mahrem.table.cells import NumberGrid
from mahrem.types import Floats

_LINES = 32  # about so many grid lines cross the domain
_EXACT = 2**53  # whole numbers up to here are exact as floats
_FINEST = 1e-300  # a finer step would leave the range of normal floats


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
    target = max(width, 2 * math.ulp(largest), _FINEST, 1.0 if domain.whole else 0.0)
    exponent = math.floor(math.log10(target))
    grids = (NumberGrid(m, e) for e in (exponent - 1, exponent, exponent + 1) for m in (1, 2, 5))
    return next(grid for grid in grids if grid.step >= target and not (domain.whole and grid.exponent < 0))


def dividing_step(domain: Numbers, most: float) -> float:
    """Choose a step that divides ``most``, about as wide as the one that would be chosen without it.

    Example:
        >>> dividing_step(Numbers(17, 90, True), 10), dividing_step(Numbers(17, 900, True), 10)
        (5.0, 10.0)
    """
    usual, whole = number_grid(domain).step, Decimal(str(most))
    parts = (whole / share for share in (20, 10, 5, 4, 2, 1))
    fits = (part for part in parts if not domain.whole or part == part.to_integral_value())
    return float(next((part for part in fits if part >= usual), whole))


def lines_around(
    grid: NumberGrid, low: Floats, high: Floats, *, shifted: bool, whole: bool
) -> tuple[Floats, Floats]:
    """Move ends out to lines of a grid, or of one that lies half a step off.

    Between shifted lines whole numbers end where the last one lies: ``[38, 42]``, and the next begins at 43.

    Example:
        >>> lines_around(NumberGrid(5, 0), np.array([40.0]), np.array([41.0]), shifted=True, whole=True)
        (array([38.]), array([42.]))
    """
    if not shifted:
        return grid.below(low), grid.above(high)
    half = NumberGrid(grid.mantissa * 5, grid.exponent - 1)  # every second of its lines is one of the grid

    def below(values: Floats) -> Floats:
        count = half.count_below(values)
        return half.line(np.where(count % 2 == 0, count - 1, count))

    first, last = below(low), -below(-high)
    return (np.ceil(first) + 0.0, np.floor(last) + 0.0) if whole else (first + 0.0, last + 0.0)


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
