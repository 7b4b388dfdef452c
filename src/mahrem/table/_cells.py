"""Published cells: what a class shows in one column, and the grammar they are written in."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from mahrem.types import Floats, Mask

__all__ = ["Cells"]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What every class shows in one column; entry ``i`` belongs to class ``i``.

    Losses are measured on these cells, after snapping, and lie in [0, 1].
    """

    text: pl.Series  # (c,) String; null = missing
    low: pl.Series | None  # (c,) typed ends for pairs and midpoints; None where the cells have no order
    high: pl.Series | None
    ncp: Floats  # (c,) normalised certainty penalty
    iloss: Floats  # (c,) (leaves - 1) / domain
    exact: Mask  # (c,) the cell says the very value
    suppressed: Mask  # (c,) the cell says nothing
