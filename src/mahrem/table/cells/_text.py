"""Values as the text that stands for them."""

from __future__ import annotations

import polars as pl

from mahrem.errors import InvalidInput
from mahrem.table.cells._number_grid import EXACT
from mahrem.table.cells._zones import moment_text

__all__ = ["as_text", "whole_numbers"]


def as_text(series: pl.Series) -> pl.Series:
    """Give values as text, whole numbers without a point."""
    shown = whole_numbers(series)
    if shown.dtype.is_nested() or shown.dtype in (pl.Object, pl.Binary):
        raise InvalidInput(
            f"column={series.name!r} holds {series.dtype} values; it needs text, numbers or dates"
        )
    if isinstance(shown.dtype, pl.Datetime):
        return moment_text(shown)
    return shown.dt.to_string() if shown.dtype == pl.Duration else shown.cast(pl.String)


def whole_numbers(series: pl.Series) -> pl.Series:
    """Turn whole numbers that came as floats (beside missing ones) into whole numbers."""
    if (
        series.dtype.is_float()
        and (series.is_null() | ((series == series.floor()) & (series.abs() < EXACT))).all()
    ):
        return series.cast(pl.Int64)
    return series
