"""Show what a class shares, and nothing where it shares nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.recode._recoding import Recoding, class_ends
from mahrem.table import Axis, Cells
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Labels


@dataclass(frozen=True)
class Kept:
    """Write a column as ``inner`` does where all rows of a class have one value, else ``*``.

    Args:
        inner: Writes the value that a class shares.

    Guarantees:
        - A cell tells of a value only if every row of its class has it.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    Example:
        >>> from mahrem.recode import Intervals
        >>> from mahrem.table import Numbers
        >>> axis = Axis("age", np.array([18.0, 23.0, 64.0, 64.0]), Numbers(18, 64, True))
        >>> Kept(Intervals(bounds="exact"))(axis, np.array([0, 0, 1, 1]), 2).text.to_list()
        ['*', '64']
    """

    inner: Recoding

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        low, high, missing = class_ends(axis, labels, classes)
        cells = self.inner(axis, labels, classes)
        hidden = cells.suppressed | (~np.isnan(low) & ((low != high) | (missing > 0)))
        return _starred(cells, pl.Series(hidden))


def _starred(cells: Cells, hidden: pl.Series) -> Cells:
    def without(ends: pl.Series | None) -> pl.Series | None:
        return None if ends is None else ends.set(hidden, None)

    return Cells(
        text=cells.text.set(hidden, SUPPRESSED),
        low=without(cells.low),
        high=without(cells.high),
        suppressed=hidden.to_numpy(),
        behind=None if cells.behind is None else _starred(cells.behind, hidden),
    )
