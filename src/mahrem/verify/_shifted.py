"""Check dates that were moved: one number of days for each person, and not too far."""

from __future__ import annotations

import polars as pl

from mahrem.table.cells import moments_of_text

_DAY = 86_400_000_000  # microseconds


def rows_badly_shifted(before: pl.DataFrame, published: pl.DataFrame, people: pl.Series, most: int) -> int:
    """Count the dates that moved otherwise than all of their person's, not at all, or too far.

    Args:
        before: Columns of dates as they came, row by row.
        published: The same rows and columns as read back.
        people: Whose rows they are.
        most: Days that dates may move at most.

    Example:
        >>> from datetime import date
        >>> came = pl.DataFrame({"day": [date(2024, 1, 1), date(2024, 1, 9)]})
        >>> shown = pl.DataFrame({"day": ["2024-01-03", "2024-01-11"]})
        >>> rows_badly_shifted(came, shown, pl.Series(["a", "a"]), 30)
        0
        >>> rows_badly_shifted(came, shown, pl.Series(["a", "a"]), 1)
        2
    """
    moved = pl.concat(
        [
            pl.DataFrame(
                {
                    "person": people.cast(pl.String),
                    "before": _ticks(before[name]),
                    "after": _ticks(published[name]),
                }
            )
            for name in before.columns
        ]
    )
    gone = moved["before"].is_null() != moved["after"].is_null()
    by = pl.col("after") - pl.col("before")
    judged = moved.drop_nulls(["before", "after"]).with_columns(by=by)
    wrong = judged.filter(
        (pl.col("by") % _DAY != 0)
        | (pl.col("by") == 0)
        | (pl.col("by").abs() > most * _DAY)
        | (pl.col("by").min().over("person") != pl.col("by").max().over("person"))
    )
    return int(gone.sum()) + wrong.height


def _ticks(column: pl.Series) -> pl.Series:
    moments = moments_of_text(column) if column.dtype == pl.String else column
    if isinstance(moments.dtype, pl.Datetime):
        return moments.dt.cast_time_unit("us").to_physical().cast(pl.Int64)
    return moments.to_physical().cast(pl.Int64) * _DAY
