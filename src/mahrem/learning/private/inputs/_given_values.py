"""Labels and numbers that somebody gave beside a ledger, each read by itself: one changes no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from mahrem.dp import refuse_one_value_twice
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table.cells.alone import number_alone, place_alone, texts_of_objects
from mahrem.types import Floats, Integers

_NUMBERS = "biuf"


def label_codes(labels: object, classes: Sequence[object]) -> Integers:
    """Number labels by declared classes; one that is not declared becomes -1, whatever the others are.

    Raises:
        InvalidInput: If labels are no plain list.
        InvalidParameter: If two classes are one.

    Example:
        >>> label_codes([1, 2, "x", None, 2.0], classes=(1, 2)).tolist()
        [0, 1, -1, -1, 1]
    """
    declared = texts_of_objects(classes)
    if declared.null_count() or declared.n_unique() < len(declared):
        raise InvalidParameter("classes must be different texts, numbers or days")
    refuse_one_value_twice("y", declared)
    series = _cells(labels, "y")
    place = place_alone(series.name, series.dtype, tuple(declared))
    return series.to_frame().select(place.fill_null(-1)).to_series().to_numpy().astype(np.int64)


def given_numbers(values: object, name: str) -> Floats:
    """Read numbers in any number of dimensions; what is none becomes NaN, whatever the others are.

    Example:
        >>> given_numbers([[1, "x"], [2.5, None]], "X").tolist()
        [[1.0, nan], [2.5, nan]]
    """
    return _numbers(_even(values), name)


def _even(values: Any) -> npt.NDArray[Any]:
    """Give rows as one array; a row of another shape than most has no value at all, and changes no other.

    Example:
        >>> _even([[1, 2], [3], [4, 5]]).tolist()
        [[1, 2], [None, None], [4, 5]]
    """
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        if values.dtype != object or values.ndim > 1:
            return cast("npt.NDArray[Any]", values)
    rows = [_alone(row) for row in values]
    shapes = Counter(row.shape for row in rows).most_common(1)
    usual = shapes[0][0] if shapes else ()
    held = np.full((len(rows), *usual), None, dtype=object)
    for place, row in enumerate(rows):
        if row.shape == usual:
            held[place] = row[()]
    return held


def _alone(row: object) -> npt.NDArray[Any]:
    try:
        return np.asarray(row, dtype=object)
    except ValueError:  # parts of parts that fit no array
        return np.empty(0, dtype=object)


def target_numbers(values: object, name: str) -> Floats:
    """Read one number for each row; what is none becomes NaN, a list among them too.

    Example:
        >>> target_numbers([[1], 2], "y").tolist()
        [nan, 2.0]
    """
    if hasattr(values, "__array__"):
        return _numbers(np.asarray(values), name)
    return _numbers(np.fromiter(cast("Iterable[object]", values), dtype=object), name)


def _numbers(held: Any, name: str) -> Floats:
    if held.dtype.kind in _NUMBERS:
        return np.asarray(held, dtype=np.float64)
    shape = held.shape
    series = _cells(held.reshape(-1), name)
    numbers = series.to_frame().select(number_alone(name, series.dtype)).to_series()
    return numbers.fill_null(float("nan")).to_numpy().astype(np.float64).reshape(shape)


def length_of(targets: object) -> tuple[int, ...]:
    """Give the shape of targets; in a list each entry is one, also where it is a list itself.

    Example:
        >>> length_of([[1]]), length_of(np.zeros((4, 2)))
        ((1,), (4, 2))
    """
    if hasattr(targets, "__array__"):
        return np.shape(targets)
    return np.fromiter(cast("Iterable[object]", targets), dtype=object).shape


def shape_of(values: object) -> tuple[int, ...]:
    """Give the shape of rows or labels, whatever they hold."""
    return _even(values).shape


def _cells(values: object, name: str) -> pl.Series:
    if isinstance(values, pl.Series):
        return values.alias(name)
    if hasattr(values, "__array__"):
        values = np.asarray(values)
    else:
        values = np.fromiter(cast("Iterable[object]", values), dtype=object)
    if values.ndim != 1:
        raise InvalidInput(f"{name} must have one entry for each row; it has shape {values.shape}")
    if values.dtype.kind in _NUMBERS:
        return pl.Series(name, np.ascontiguousarray(values))
    return texts_of_objects(values.astype(object)).alias(name)
