"""Ends and steps: the extreme share of a column becomes one value, or all values are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class Coding:
    """Replace the largest or smallest share of every column by one value.

    Args:
        top: Share of the rows with the largest values.
        bottom: Share of the rows with the smallest values.
        by: ``end``: the value where the share begins. ``mean``: the mean of those replaced, which keeps the
            column's mean.

    Guarantees:
        - With ``end`` no value lies beyond the ends; order is kept either way.
        - Values between the ends are left as they are.

    Example:
        >>> Coding(top=0.25)(np.array([[1.0], [2.0], [3.0], [90.0]]), np.random.default_rng(0))[:, 0].tolist()
        [1.0, 2.0, 3.0, 3.0]
    """

    top: float = 0.0
    bottom: float = 0.0
    by: Literal["end", "mean"] = "end"

    def __post_init__(self) -> None:
        check.one_of(("end", "mean"), by=self.by)
        check.between(0, 1, top=self.top)
        check.between(0, 1, bottom=self.bottom)
        if self.top + self.bottom >= 1:
            raise InvalidParameter(
                f"top={self.top} and bottom={self.bottom} must leave something between them"
            )
        if self.top == self.bottom == 0:
            raise InvalidParameter("top=0 and bottom=0 would change nothing; say a share")

    def __call__(self, values: Floats, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - as all
        """Change ``(n, d)`` numbers."""
        changed = values.copy()
        rows = len(values)
        few, many = int(rows * self.bottom), rows - int(rows * self.top)
        for column in range(values.shape[1]):
            order = np.argsort(values[:, column], kind="stable")
            ordered = values[order, column]
            low, high = ordered[min(few, rows - 1)], ordered[max(many - 1, 0)]
            above, below = values[:, column] > high, values[:, column] < low
            if self.top and above.any():
                changed[above, column] = high if self.by == "end" else values[above, column].mean()
            if self.bottom and below.any():
                changed[below, column] = low if self.by == "end" else values[below, column].mean()
        return changed


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """Round every value to a multiple of ``step``.

    Args:
        step: Above 0.
        random: Round up or down by chance so that the expected value stays; else to the nearest.

    Guarantees:
        - Every value is a multiple of ``step``, at most a step off (half of one, unless random).

    Example:
        >>> Rounding(step=5)(np.array([[12.0], [13.0]]), np.random.default_rng(0))[:, 0].tolist()
        [10.0, 15.0]
    """

    step: float
    random: bool = False

    def __post_init__(self) -> None:
        check.finite(step=self.step)
        if self.step <= 0:
            raise InvalidParameter(f"step={self.step!r} must be above 0")

    def __call__(self, values: Floats, rng: np.random.Generator) -> Floats:
        """Change ``(n, d)`` numbers."""
        steps = values / self.step
        if not self.random:
            return np.asarray(np.floor(steps + 0.5) * self.step)
        down = np.floor(steps)
        return np.asarray((down + (rng.random(values.shape) < steps - down)) * self.step)
