"""Entropy loss: how much of what columns say about a target is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.metrics._covers import Cover, covered_values
from mahrem.table import Axis
from mahrem.types import Codes, Floats, Integers, Labels


def entropy_coefficient(values: Codes | Integers, target: Codes | Integers) -> float:
    """Theil's U of the target given a column, (H(T) - H(T|C)) / H(T). Larger: the column says more.

    Range: from 0 (independent) to 1 (the column determines the target); 0 for a target with one value.

    Args:
        values: ``(n,)`` the column as codes from 0.
        target: ``(n,)`` the target as codes from 0.

    References:
        Theil: On the estimation of relationships involving qualitative variables, 1970.

    Example:
        >>> import numpy as np
        >>> entropy_coefficient(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
        1.0
        >>> entropy_coefficient(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
        0.0
    """
    return _coefficient(_counted(values, target))


def entropy_loss_cells(
    original: Sequence[Codes | Integers], published: Sequence[Codes | Integers], target: Codes | Integers
) -> float:
    """Entropy loss with every published cell as a category: 1 - mean U published / mean U original.

    Range: at most 1; smaller is better. It rewards many distinct cells: cells that overlap count as if they
    were different things, so the loss of a local recoding may fall below 0. See :func:`entropy_loss`.

    Args:
        original: For each column the original values as codes from 0.
        published: For each column the published cells as codes from 0.
        target: The target as codes from 0.

    References:
        Saleh: automatic generalisation for k-anonymity, its entropy coefficient.

    Example:
        >>> import numpy as np
        >>> column, target = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
        >>> [entropy_loss_cells([column], [column // step], target) for step in (2, 4)]
        [0.0, 1.0]
    """
    before = [entropy_coefficient(column, target) for column in original]
    after = [entropy_coefficient(column, target) for column in published]
    return _lost(before, after)


def entropy_loss(
    original: Sequence[Codes | Integers],
    published: Sequence[Codes | Integers],
    covers: Sequence[Cover],
    target: Codes | Integers,
) -> float:
    """Entropy loss on the original values: each cell spread over the values it covers. Smaller is better.

    Range: at most 1. A cell counts for the values it covers in proportion to their frequency in the column;
    U is taken of the expected (value x target) table, and the loss is 1 - mean U of it / mean U original.

    Args:
        original: For each column the original values, numbered as its cover numbers them.
        published: For each column the cell of each row.
        covers: For each column which values each cell covers.
        target: The target as codes from 0.

    Guarantees:
        - Cells that say the very value lose exactly 0.
        - A global recoding (the cell is a function of the value) never gains, up to rounding.

    Example:
        >>> import numpy as np
        >>> column, target = np.array([0, 1, 2, 3]), np.array([0, 1, 1, 1])
        >>> pairs = Cover(np.arange(2), np.array([0, 2]), np.array([1, 3]), cells=2, values=5)
        >>> round(entropy_loss([column], [column // 2], [pairs], target), 4)
        0.6163
    """
    before = [entropy_coefficient(column, target) for column in original]
    columns = zip(original, published, covers, strict=True)
    after = [_spread_coefficient(values, cells, cover, target) for values, cells, cover in columns]
    return _lost(before, after)


@dataclass(frozen=True, kw_only=True)
class EntropyLoss:
    """Both rulers of one release, in all and per column."""

    entropy_loss: float  # ours: cells spread over the values they cover
    entropy_loss_cells: float  # as published: every cell a category
    original: Mapping[str, float]  # U of each column before
    spread: Mapping[str, float]  # U after, by our ruler
    cells: Mapping[str, float]  # U after, by the published ruler


def measure_entropy(
    axes: Sequence[Axis], cells: Mapping[str, pl.Series], labels: Labels, target: Codes | Integers
) -> EntropyLoss:
    """Measure the entropy loss of a release by both rulers, from its classes.

    Equal cells of different classes are one category; a suppressed row shows ``*`` in every column.

    Args:
        axes: The original quasi-identifiers.
        cells: For each of them what every class shows, as text.
        labels: ``(n,)`` class of each row, -1 = suppressed.
        target: ``(n,)`` the target as codes from 0; rows with -1 are left out of the count.

    Raises:
        InvalidParameter: If fewer than two values of the target are there.

    Example:
        >>> import numpy as np
        >>> from mahrem.table import Numbers
        >>> axis = Axis("age", np.array([1.0, 2.0, 3.0, 4.0]), Numbers(1, 4, True))
        >>> shown = {"age": pl.Series(["[1, 2]", "[3, 4]"])}
        >>> measure_entropy([axis], shown, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])).entropy_loss
        0.0
    """
    counted = target >= 0
    if len(np.unique(target[counted])) < 2:
        raise InvalidParameter("target must have at least two values for an entropy coefficient")
    before, spread, apart = {}, {}, {}
    for axis in axes:
        texts = pl.concat([cells[axis.name].cast(pl.String), pl.Series(["*"], dtype=pl.String)])
        distinct = texts.unique(maintain_order=True)
        number = pl.DataFrame({"text": texts}).join(
            pl.DataFrame({"text": distinct, "number": np.arange(len(distinct))}),
            on="text",
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )["number"]
        shown = number.to_numpy()[labels][counted]  # label -1 is the star at the end
        cover, codes = covered_values(distinct, axis)
        values = codes[counted]
        before[axis.name] = entropy_coefficient(values, target[counted])
        apart[axis.name] = entropy_coefficient(shown, target[counted])
        spread[axis.name] = _spread_coefficient(values, shown, cover, target[counted])
    return EntropyLoss(
        entropy_loss=_lost(list(before.values()), list(spread.values())),
        entropy_loss_cells=_lost(list(before.values()), list(apart.values())),
        original=before,
        spread=spread,
        cells=apart,
    )


def _spread_coefficient(
    values: Codes | Integers, cells: Codes | Integers, cover: Cover, target: Codes | Integers
) -> float:
    frequency = np.bincount(values, minlength=cover.values).astype(np.float64)
    return _coefficient(cover.spread(_counted(cells, target, cover.cells), frequency))


def _counted(values: Codes | Integers, target: Codes | Integers, least: int = 0) -> Floats:
    """Count (value, target) pairs; values that never occur keep their row when ``least`` asks for it.

    Targets are few; the table has values x targets entries and never rows x values.
    """
    if len(values) != len(target):
        raise InvalidParameter(f"values={len(values)} must be as many as target={len(target)}")
    width = int(target.max(initial=0)) + 1
    height = max(int(values.max(initial=0)) + 1, least)
    keys = values.astype(np.int64) * width + target
    return np.bincount(keys, minlength=height * width).reshape(height, width).astype(np.float64)


def _coefficient(table: Floats) -> float:
    whole = _entropy(table.sum(axis=0)[None, :])
    if whole <= 0:
        return 0.0
    return (whole - _entropy(table)) / whole


def _entropy(table: Floats) -> float:
    """Give H(T|C) of a (value x target) table in nats."""
    rows = table.sum(axis=1, keepdims=True)
    share = np.divide(table, rows, out=np.ones_like(table), where=table > 0)
    held = float(rows.sum())
    # An exact sum: the order in which values are numbered must not matter.
    return -math.fsum((table * np.log(share)).ravel().tolist()) / held if held > 0 else 0.0


def _lost(before: Sequence[float], after: Sequence[float]) -> float:
    """Give 1 - retained; without anything to lose nothing is lost."""
    held = sum(before)
    return 1.0 - sum(after) / held if held > 0 else 0.0
