"""Published cells: what every class shows in one column, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from mahrem.types import Floats, Mask

__all__ = ["Cells"]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What every class shows in one column; entry ``i`` belongs to class ``i``.

    Losses are measured on these cells, after snapping, and lie in [0, 1].
    """

    text: pl.Series = field(repr=False)  # (c,) String; null = missing
    low: pl.Series | None = field(
        repr=False
    )  # (c,) typed ends for pairs and midpoints; None where the cells have no order
    high: pl.Series | None = field(repr=False)
    ncp: Floats = field(repr=False)  # (c,) normalised certainty penalty
    iloss: Floats = field(repr=False)  # (c,) (leaves - 1) / domain
    exact: Mask = field(repr=False)  # (c,) the cell says the very value
    suppressed: Mask = field(repr=False)  # (c,) the cell says nothing
