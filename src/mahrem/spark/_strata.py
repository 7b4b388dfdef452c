"""Rows that miss the same columns stay apart where they may stand: decided from counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mahrem.errors import Infeasible
from mahrem.partition.judging import merge_patterns
from mahrem.spark._glance import TableGlance
from mahrem.spark._judge import CodedColumn, Judge
from mahrem.types import Floats, Integers


def strata_of(
    glance: TableGlance, judge: Judge, shares: tuple[Floats, ...] = ()
) -> tuple[Judge, list[int], dict[bytes, int]]:
    """Merge patterns of missing values that may not stand.

    Args:
        glance: What a first look at all rows found.
        judge: The promises.
        shares: Of sensitive values in the table, if the rows are only a part of it.

    Returns:
        The judge with its shares, the rows of each stratum, and the stratum of each pattern; none: all are
        in one.

    Raises:
        Infeasible: If the table may not stand as one class.
    """
    sizes, triplets, bits = glance.sizes, glance.triplets, glance.patterns
    judge = replace(judge, shares=shares or tuple(map(_shares, judge.columns, triplets)))
    whole = np.zeros(len(sizes), np.int64)
    if not len(sizes) or not _accepts(judge, sizes, triplets, whole, np.zeros(1, np.int64)).all():
        judge.refuse_unreachable(*_together(judge, sizes, triplets, whole, 1))
        raise _infeasible(int(sizes.sum()), judge.minimum)
    target = merge_patterns(
        bits,
        sizes.copy(),
        lambda strata, which: _accepts(judge, sizes, triplets, strata, which),
    )
    alive = np.unique(target)
    of_pattern = np.searchsorted(alive, target)
    together = np.bincount(of_pattern, weights=sizes).astype(np.int64).tolist()
    if len(alive) == 1:
        return judge, together, {}
    return (
        judge,
        together,
        {pattern.tobytes(): int(root) for pattern, root in zip(bits, of_pattern, strict=True)},
    )


def _accepts(
    judge: Judge, sizes: Integers, triplets: Sequence[Integers], strata: Integers, which: Integers
) -> Any:
    """Judge some strata from the counts of their patterns."""
    return judge.accepts(*_together(judge, sizes, triplets, strata, int(which.max(initial=0)) + 1))[which]


def _together(
    judge: Judge, sizes: Integers, triplets: Sequence[Integers], strata: Integers, many: int
) -> tuple[Integers, list[Integers]]:
    """Give sizes and counts of strata from those of their patterns; there are so ``many`` at least."""
    together = np.bincount(strata, weights=sizes, minlength=many).astype(np.int64)
    added = []
    for coded, counted in zip(judge.columns, triplets, strict=True):
        keys = strata[counted[:, 0]] * coded.size + counted[:, 1]
        distinct, inverse = np.unique(keys, return_inverse=True)
        times = np.bincount(inverse, weights=counted[:, 2]).astype(np.int64)
        added.append(np.column_stack([*np.divmod(distinct, max(coded.size, 1)), times]))
    return together, added


def _shares(coded: CodedColumn, triplets: Integers) -> Floats:
    """Give the share of each value of a column in all rows."""
    times = np.bincount(triplets[:, 1], weights=triplets[:, 2], minlength=coded.size)
    shares: Floats = times / max(1.0, times.sum())
    return shares


def _infeasible(rows: int, minimum: int) -> Exception:
    if rows < minimum:
        return Infeasible(f"rows={rows} must be at least {minimum} for one class; ask for less", reached=rows)
    return Infeasible(f"the table of rows={rows} does not keep the promise even as one class; ask for less")
