"""What several privacy models need: shares within classes, figures per class, checks on bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mahrem import check

if TYPE_CHECKING:
    from mahrem.models._counts import Counts
    from mahrem.types import Floats, Integers, Levels

TOLERANCE: Final = 1e-9  # sums of shares round; a bound met exactly must not fail for it


def by_class(reduce: np.ufunc, amounts: Floats | Integers, counts: Counts, *, empty: float) -> Levels:
    """Reduce one amount per triplet to one figure per class; classes without triplets get ``empty``."""
    levels = np.full(counts.groups, empty, dtype=np.float64)
    levels[counts.distinct > 0] = reduce.reduceat(amounts, counts.starts)
    return levels


def shares(counts: Counts) -> Floats:
    """Give for every triplet the share of its value in its class."""
    return counts.count / np.repeat(
        counts.totals, counts.distinct
    )  # triplets are sorted: quicker than look-ups


def inverse(table: Floats) -> Floats:
    """Give ``1 / share``, infinity for values the table does not show."""
    with np.errstate(divide="ignore"):
        return np.divide(1.0, table)


def logarithm(table: Floats) -> Floats:
    """Give ``ln(share)``, minus infinity for values the table does not show."""
    with np.errstate(divide="ignore"):
        return np.log(table)


def whole_at_least(low: int, **named: object) -> None:
    """Refuse the one named value unless it is a whole number not below ``low``."""
    ((name, value),) = named.items()
    check.at_least(low, **{name: check.whole(**{name: value})})
