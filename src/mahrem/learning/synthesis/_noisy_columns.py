"""Every column of a table counted once with noise: groups of cells, and how many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.dp.noise import IntegerNoise
from mahrem.learning.synthesis._clique_growth import marginal_counts
from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.learning.synthesis._coarse_groups import CoarseGroups, coarse_groups
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.types import Floats, Integers

SURE = 4.0  # deviations of noise that a public number of rows may be off


@dataclass(frozen=True)
class NoisyColumns:
    """What noisy counts say of every column; free to look at, for the noise is paid for.

    Attributes:
        groups: Of each column.
        singles: The counts of those groups.
        total: How many rows they speak of.
    """

    groups: Sequence[CoarseGroups] = field(repr=False)
    singles: Sequence[Measured] = field(repr=False)
    total: float

    def coarse(self, codes: Integers) -> Integers:
        """Give the groups of ``(n, d)`` cells."""
        return np.stack([one.group[codes[:, place]] for place, one in enumerate(self.groups)], axis=1)


def count_columns(
    codes: Integers, domain: DeclaredDomain, noise: IntegerNoise, *, most: int, rows: int | None
) -> NoisyColumns:
    """Count every column with noise and gather cells that would drown in it.

    Args:
        codes: ``(n, d)`` cells.
        domain: Their columns.
        noise: Added to the counts of each column.
        most: Groups of a column at most.
        rows: How many rows there are, if that is public. It is believed unless the counts contradict it:
            people may have several rows, and rows with an undeclared cell are left out.
    """
    sizes = [column.cells for column in domain.columns]
    noisy = [_counted(codes, place, sizes, noise) for place in range(len(sizes))]
    # Every column adds up to the number of rows; long columns say it less exactly.
    weight = np.array([1 / size for size in sizes])
    total = float((weight * [counts.sum() for counts in noisy]).sum() / weight.sum())
    if rows is not None and abs(total - rows) <= SURE * noise.scale / weight.sum() ** 0.5:
        total = float(rows)
    groups, singles = [], []
    for place, (column, counts) in enumerate(zip(domain.columns, noisy, strict=True)):
        made = coarse_groups(
            counts,
            deviation=noise.scale,
            ordered=column.kind != "category",
            apart=int(column.gaps),
            most=most,
        )
        groups.append(made)
        gathered = np.bincount(made.group, weights=counts).astype(np.float64)
        cells = float(np.bincount(made.group).mean())
        singles.append(Measured((place,), gathered, noise.scale * cells**0.5))
    return NoisyColumns(groups, singles, max(total, noise.scale, 1.0))


def _counted(
    codes: Integers, place: int, sizes: Sequence[int], noise: Callable[[Sequence[int]], Sequence[int]]
) -> Floats:
    return np.asarray(noise(marginal_counts(codes, (place,), sizes).tolist()), dtype=np.float64)
