"""What several privacy models need: shares within classes, figures per class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from mahrem.models._counts import Counts

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels

LOOSE: Final = 1e-6  # what is only to rule out leaves room for rounding
TOLERANCE: Final = 1e-9  # sums of shares round; a bound met exactly must not fail for it


def by_class(reduce: np.ufunc, amounts: Floats | Integers, counts: Counts, *, empty: float) -> Levels:
    """Reduce one amount per triplet to one figure per class; classes without triplets get ``empty``."""
    levels = np.full(counts.groups, empty, dtype=np.float64)
    levels[counts.distinct > 0] = reduce.reduceat(amounts, counts.starts)
    return levels


@dataclass(frozen=True)
class Spans:
    """Between which shares every value lies, whichever of their values people are counted by.

    Where rows are counted, or every person has one value, both ends are the share itself.
    """

    counts: Counts  # one triplet for every value that a class shows at all
    lowest: Floats = field(repr=False)  # (m,) least share in the class
    highest: Floats = field(repr=False)  # (m,) largest share in the class
    table_lowest: Floats = field(repr=False)  # (values,) least share in the table
    table_highest: Floats = field(repr=False)  # (values,) largest share in the table


def spans_of(counts: Counts) -> Spans:
    """Say how small and how large the share of each value can be, in its class and in the table."""
    if counts.held is None:
        share = counts.shares
        return Spans(counts, share, share, counts.table, counts.table)
    held = counts.held.classes
    group, value, most = held.triplets
    people = held.people[group]
    every = Counts(counts.sizes, group, value, most, counts.table, counts.ancestors, counts.held)
    return Spans(every, held.least / people, most / people, *counts.held.table.table)


def inverse(table: Floats) -> Floats:
    """Give ``1 / share``, infinity for values the table does not show."""
    with np.errstate(divide="ignore"):
        return np.divide(1.0, table)


def logarithm(table: Floats) -> Floats:
    """Give ``ln(share)``, minus infinity for values the table does not show."""
    with np.errstate(divide="ignore"):
        return np.log(table)
