"""Sensitive columns as codes: one for each value that a reader tells apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from mahrem.table._schema import Column, Kind
from mahrem.table.cells import as_text, read_ranges, with_point
from mahrem.table.columns._axis import Moments, Numbers, Values
from mahrem.table.columns._encode import moment_places, number_places, ordinal_places, sorted_places
from mahrem.table.columns._spellings import fold_spellings, is_no_value
from mahrem.table.hierarchies import Hierarchy
from mahrem.types import Codes, Integers, Mask, Positions


def encode_sensitive(series: pl.Series, column: Column, *, decimal: str | None = None) -> Values:
    """Number the values of a sensitive column in the column's own order; no value is the last one.

    Spellings that a reader takes for one value get one code (:func:`fold_spellings`), and what shows no
    value (missing, empty, stars) is missing.

    Args:
        series: The column, typed or as text; null is missing.
        column: Its kind, and its order or hierarchy where it has one.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - Codes are ``0 .. size-1``; every code occurs (of ordinals: every declared value has one).
        - Codes ascend with the number, the date, the declared order, the tree, or the text; published ranges
          with their ends.
        - Two spellings of one value never have two codes.

    Example:
        >>> from mahrem.table import Role
        >>> cost = Column(name="cost", role=Role.SENSITIVE, kind=Kind.NUMERIC)
        >>> encode_sensitive(pl.Series("cost", [10, None, 9]), cost).codes.tolist()
        [1, 2, 0]
        >>> disease = Column(name="disease", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
        >>> encode_sensitive(pl.Series("disease", ["flu", "HIV", "hiv ", "*"]), disease).codes.tolist()
        [1, 0, 0, 2]
    """
    if column.hierarchy is not None:
        leaves = column.hierarchy.codes(_without_stars(as_text(series)))
        return _sensitive_leaves(column.name, leaves, column.hierarchy)
    if column.kind is Kind.ORDINAL:
        return _sensitive_ordinals(series, column)
    if not column.words and (ranges := _sensitive_ranges(series, column.name, decimal)) is not None:
        return ranges
    if column.kind in (Kind.CATEGORICAL, Kind.CODE):
        labels, places = sorted_places(as_text(series))
        return _sensitive_words(column, places, labels)
    shown = _without_stars(series)
    if column.kind is Kind.NUMERIC:
        return _sensitive_ranks(column.name, *number_places(shown, column.name, decimal))
    return _sensitive_ranks(column.name, *moment_places(shown, column.name))


def _sensitive_ranges(series: pl.Series, name: str, decimal: str | None) -> Values | None:
    """Number numbers or dates that were made coarser by their ends; None where a cell is something else."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype != pl.String or not text.str.starts_with("[").any():
        return None
    labels, places = sorted_places(_without_stars(text))
    low, high = read_ranges(with_point(labels, decimal))
    if np.isnan(low).any():
        return None
    ends, number = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    missing = np.isnan(places)
    codes = number.reshape(-1)[np.where(missing, 0, places).astype(np.int64)].astype(np.int32)
    return _with_missing(name, codes, len(ends), missing, joined=len(ends) < len(labels))


def _with_missing(name: str, codes: Codes, size: int, missing: Mask, *, joined: bool = False) -> Values:
    """Give cells without a value the last code."""
    codes[missing] = size
    any_missing = bool(missing.any())
    return Values(name, codes, size + any_missing, missing=any_missing, joined=joined)


def _without_stars(series: pl.Series) -> pl.Series:
    """Take out what is no number and no date because it shows nothing."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype != pl.String:
        return series
    return text.set(is_no_value(text), None)


def _sensitive_words(column: Column, places: Positions, labels: pl.Series) -> Values:
    """Number words in the order of the first spelling of each."""
    number, size, joined = _folded(labels, numbers=not column.words)
    codes = np.append(number, -1)[np.where(np.isnan(places), -1, places).astype(np.int64)]
    return _with_missing(column.name, codes.astype(np.int32), size, codes < 0, joined=joined)


def _sensitive_ordinals(series: pl.Series, column: Column) -> Values:
    """Number words by the place of their declared spelling."""
    order = fold_spellings(pl.Series(column.order or (), dtype=pl.String))
    text = as_text(series)
    labels, places = sorted_places(text)
    folded = fold_spellings(labels)
    known = replace(column, order=tuple(order.drop_nulls().to_list()) or None)
    by_label, domain = ordinal_places(folded, known)
    codes = np.append(by_label, np.nan)[np.where(np.isnan(places), -1, places).astype(np.int64)]
    missing = np.isnan(codes)
    joined = folded.drop_nulls().n_unique() < len(folded.drop_nulls())
    return _with_missing(
        column.name, np.where(missing, 0, codes).astype(np.int32), len(domain.labels), missing, joined=joined
    )


def _folded(labels: pl.Series, *, numbers: bool = True) -> tuple[Integers, int, bool]:
    """Number distinct spellings, -1 for no value; equal ones share the place of the first of them."""
    folded = fold_spellings(labels, numbers=numbers)
    first = pl.DataFrame({"form": folded, "place": np.arange(len(labels))}).select(
        pl.when(pl.col("form").is_not_null()).then(pl.col("place").min().over("form"))
    )
    rank = first.to_series().rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    size = int(rank.max(initial=-1)) + 1
    return rank, size, size < len(folded) - folded.null_count()


def _sensitive_ranks(name: str, positions: Positions, domain: Numbers | Moments) -> Values:
    """Number distinct positions from the lowest up."""
    missing = np.isnan(positions)
    width = domain.high - domain.low
    if (isinstance(domain, Moments) or domain.whole) and width <= 4 * len(positions):
        # counting beats sorting
        steps = np.where(missing, 0, positions - domain.low).astype(np.int64)
        seen = np.zeros(int(width) + 1, np.int64)
        seen[steps[~missing]] = 1
        return _with_missing(name, (np.cumsum(seen) - 1)[steps].astype(np.int32), int(seen.sum()), missing)
    distinct, inverse = np.unique(positions, return_inverse=True)  # all NaN are one, and the last
    return _with_missing(name, inverse.astype(np.int32), len(distinct) - bool(missing.any()), missing)


def _sensitive_leaves(name: str, leaves: Integers, hierarchy: Hierarchy) -> Values:
    """Number the leaves that occur in the order of the tree; missing gets its own branch below the root."""
    present, inverse = np.unique(leaves, return_inverse=True)
    known = present[present >= 0]
    number, size, joined = _folded(pl.Series(hierarchy.labels[0], dtype=pl.String).gather(known))
    first = np.zeros(size, np.int64)
    counted = number >= 0
    first[number[counted][::-1]] = known[counted][::-1]  # the first spelling of each is written last
    codes = np.append(number, -1)[np.where(leaves < 0, -1, inverse - (len(present) - len(known)))]
    values = _with_missing(name, codes.astype(np.int32), size, codes < 0, joined=joined)
    ancestors = hierarchy.nodes[:, first]
    if values.missing:
        branch = np.array([len(level) for level in hierarchy.labels], np.int64)  # a node nobody else has
        branch[-1] = 0  # the root is everyone's
        ancestors = np.column_stack([ancestors, branch])
    return replace(values, ancestors=ancestors)
