"""Classes of a published table: rows that show the same in every quasi-identifier."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.types import Codes, Integers, Labels, Sizes

SUPPRESSED = "*"
TEXTS = (pl.String, pl.Categorical)  # kinds of cells that are read as text, or as numbers of texts
_NOTHING = 2**64 - 1


def published_classes(frame: pl.DataFrame, quasi: Sequence[str]) -> tuple[Labels, Sizes]:
    """Number the rows of a published table by what they show in the quasi-identifiers.

    Missing cells are equal to each other, as they are to a reader of the file.

    Guarantees:
        - Two rows share a label exactly when they show the same in every column of ``quasi``.
        - Labels are ``0 .. c-1`` and none is empty.

    Example:
        >>> shown = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", None], "zip": ["061**", "061**", "061**"]})
        >>> labels, sizes = published_classes(shown, ["age", "zip"])
        >>> sorted(sizes.tolist())
        [1, 2]
    """
    if frame.height == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    kinds = frame.schema
    alike = _one_key(frame, quasi)
    if alike is not None:
        return _number_alike(alike)
    keys = frame.select(_numbered(name, kinds[name]).alias(str(i)) for i, name in enumerate(quasi))
    grouped = keys.with_row_index("row").group_by(keys.columns).agg("row")
    sizes = grouped["row"].list.len().to_numpy().astype(np.int64)
    rows = grouped["row"].explode().to_numpy()
    labels = np.empty(frame.height, np.int64)
    labels[rows] = np.repeat(np.arange(len(sizes)), sizes)
    return labels, sizes


def _number_alike(keys: NDArray[np.uint64]) -> tuple[Labels, Sizes]:
    """Number equal keys by sorting them, which takes less than half as long as gathering their rows.

    Where a key leaves room for the number of its row, both are one number: that halves the time again.
    """
    room = len(keys).bit_length()
    if int(keys.max()).bit_length() + room <= 64:
        both = (keys << np.uint64(room)) | np.arange(len(keys), dtype=np.uint64)
        both = pl.Series(both).sort().to_numpy()
        order, ranked = (both & np.uint64((1 << room) - 1)).astype(np.int64), both >> np.uint64(room)
    else:
        order = pl.Series(keys).arg_sort().to_numpy().astype(np.int64)
        ranked = keys[order]
    new = np.ones(len(ranked), np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    labels = np.empty(len(ranked), np.int64)
    labels[order] = np.cumsum(new) - 1
    return labels, np.diff(np.append(np.flatnonzero(new), len(ranked)))


def _numbered(name: str, kind: pl.DataType) -> pl.Expr:
    """Number the cells of a column from 1, missing ones 0; numbers are grouped more quickly than text."""
    if not isinstance(kind, TEXTS):
        return pl.col(name)
    coded = pl.col(name)
    if not isinstance(kind, pl.Categorical):
        coded = coded.cast(pl.Categorical(pl.Categories.random()))
    return coded.to_physical().cast(pl.UInt64).fill_null(_NOTHING) + 1  # the largest number wraps around to 0


def _one_key(frame: pl.DataFrame, quasi: Sequence[str]) -> NDArray[np.uint64] | None:
    """Put the numbers of texts into one for each row; None where one cannot hold them, or has other cells."""
    kinds = frame.schema
    if not quasi or not all(isinstance(kinds[name], TEXTS) for name in quasi):
        return None
    columns, choices = [], []
    for name in quasi:
        codes = as_categories(frame[name]).to_physical()
        if codes.null_count():
            codes = (codes.cast(pl.UInt64) + 1).fill_null(0)
        columns.append(codes.to_numpy())
        choices.append(int(columns[-1].max()) + 1)
    if math.prod(choices) > _NOTHING:
        return None
    key = np.zeros(frame.height, np.uint64)
    for numbers, count in zip(columns, choices, strict=True):
        key *= np.uint64(count)
        key += numbers
    return key


def as_categories(cells: pl.Series) -> pl.Series:
    """Give texts as numbers of the different ones."""
    # Categories of one's own are not equal to the class of all.
    known = isinstance(cells.dtype, pl.Categorical)
    return cells if known else cells.cast(pl.Categorical(pl.Categories.random()))


def suppressed_rows(
    quasi: Sequence[str], sensitive: Sequence[str], schema: pl.Schema, *, meant: bool
) -> pl.Expr:
    """Say which rows show nothing: ``*`` in every quasi-identifier and in everything sensitive.

    A row that still shows its sensitive value is not suppressed: its class must hide it like any other.
    Columns of numbers have no star; there a missing value shows nothing, but only in rows ``meant`` to be
    suppressed: in any other file it may just be missing. Without a sensitive column nobody knows what such
    a row shows.
    """
    if not meant and not sensitive:
        return pl.lit(value=False)
    words = (*TEXTS, pl.Enum)
    hidden = [
        (_as_word(name, schema[name]) == SUPPRESSED).fill_null(value=False)
        if isinstance(schema[name], words)
        else (pl.col(name).is_null() if meant else pl.lit(value=False))
        for name in (*quasi, *sensitive)
    ]
    return pl.all_horizontal(*hidden)


def _as_word(name: str, kind: pl.DataType) -> pl.Expr:
    """Give a column as polars compares it with a word: one that a list does not have is an error there."""
    return pl.col(name).cast(pl.String) if isinstance(kind, pl.Enum) else pl.col(name)


def people_per_class(labels: Labels, subjects: Codes | Integers, classes: int) -> Sizes:
    """Count the different people in each class; whoever has several rows counts once."""
    people = subjects.astype(np.int64) + 1
    width = int(people.max(initial=0)) + 1
    # One number for both is found again quickly, by polars thirty times more so than by NumPy.
    pairs = pl.Series(labels * width + people).unique().to_numpy()
    return np.bincount(pairs // width, minlength=classes)


def fresh_names(taken: Sequence[str], count: int) -> list[str]:
    """Give names for helping columns that no column of the table has."""
    stem = "_" * (max((len(name) for name in taken), default=0) + 1)
    return [f"{stem}{number}" for number in range(count)]
