"""What columns of a source look like, as far as crowds show it: for whoever has to decide about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mahrem.disclosed import of_crowd
from mahrem.report import moment_edges, number_edges, rounded, shared_out
from mahrem.table import Kind, read_kind
from mahrem.types import Floats

_BARS = 16
_WORDS = 6
_ROWS = 30_000  # that are looked at; more would not change a picture
_LARGEST = 1e300


def portray(
    frame: pl.DataFrame,
    columns: Sequence[str],
    *,
    floor: int,
    subject: str | None = None,
    decimal: str | None = None,
) -> dict[str, Mapping[str, Any]]:
    """Draw columns as shares of people: bars over round ranges, or the values that most people have.

    Args:
        frame: The table as it was read.
        columns: Which columns; those that name people are none of them.
        floor: How many people a bar must stand for.
        subject: The column that says whose row it is: each person counts once.
        decimal: The sign before decimals.

    Guarantees:
        - A value that fewer than ``floor`` people have is not named; it counts under ``other``.
        - Every bar stands for ``floor`` people, alone or shared out among its neighbours, and what it says is
          a multiple of ``floor``; where so many lie beyond the first or the last edge they count within it.

    Returns:
        By column ``kind`` (``range`` or ``words``), ``labels`` (edges, one more than bars, or values) and
        ``shares``, for words with ``other``. Columns of which nothing can be said are left out.

    Example:
        >>> found = portray(pl.DataFrame({"sex": ["f"] * 6 + ["m"] * 4}), ["sex"], floor=3)
        >>> found["sex"]["labels"], found["sex"]["shares"]
        (['f', 'm'], [0.6, 0.3])
    """
    if frame.height > _ROWS:
        frame = frame.sample(_ROWS, seed=0)
    if subject is not None and subject in frame.columns:
        frame = frame.unique(subject, keep="first", maintain_order=True)
    drawn = {name: _portrait(frame[name], floor, decimal) for name in columns if name in frame.columns}
    return {name: of_crowd(one) for name, one in drawn.items() if one}


def _portrait(series: pl.Series, floor: int, decimal: str | None) -> dict[str, object]:
    if series.dtype.is_nested() or series.dtype == pl.Object:
        return {}
    kind, typed = read_kind(series, decimal="," if decimal == "," else ".")
    known = typed.drop_nulls()
    if len(known) < 2 * floor:
        return {}
    if kind in {Kind.NUMERIC, Kind.DATE} and known.n_unique() > _WORDS:
        return _ranges(known, kind, floor)
    return _words(series.drop_nulls().cast(pl.String), floor)


def _ranges(known: pl.Series, kind: Kind, floor: int) -> dict[str, object]:
    days = known.dtype.is_temporal()
    unit = "D" if known.dtype == pl.Date else "us"
    plain = known.cast(pl.Date if unit == "D" else pl.Datetime("us")).to_physical() if days else known
    values: Floats = np.sort(plain.cast(pl.Float64).to_numpy())
    values = values[np.isfinite(values)]
    if len(values) < 2 * floor or np.abs(values).max() > _LARGEST:
        return {}
    low, high = float(values[floor - 1]), float(values[-floor])  # so many lie at the ends or beyond
    if kind is Kind.DATE and days:
        edges, labels = moment_edges(low, high, unit=unit, most=_BARS)
    else:
        edges = number_edges(low, high, whole=bool(np.all(values == np.floor(values))), most=_BARS)
        labels = [f"{edge:.6g}" for edge in edges]
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1).astype(np.float64)
    return {"kind": "range", "labels": labels, "shares": _shares(shared_out(counts, floor), len(values))}


def _words(texts: pl.Series, floor: int) -> dict[str, object]:
    counted = (
        texts.alias("value").value_counts(name="people").sort("people", "value", descending=[True, False])
    )
    shown = counted.filter(pl.col("people") >= floor).head(_WORDS)
    rest = len(texts) - int(shown["people"].sum())
    while shown.height and 0 < rest < floor:  # the others must be a crowd, too
        rest += int(shown["people"][-1])
        shown = shown.head(shown.height - 1)
    if not shown.height:
        return {}
    counts = rounded(np.append(shown["people"].to_numpy(), rest).astype(np.float64), floor)
    *shares, other = _shares(counts, len(texts))
    return {"kind": "words", "labels": shown["value"].to_list(), "shares": shares, "other": other}


def _shares(counts: Floats, of: int) -> list[float]:
    return [round(min(float(count) / of, 1.0), 4) for count in counts]
