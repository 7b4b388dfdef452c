"""Every column of a table counted once with noise: groups of cells, and how many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.dp.noise import IntegerNoise
from mahrem.learning.synthesis._clique_growth import marginal_counts
from mahrem.learning.synthesis._clique_tree import Measured
from mahrem.learning.synthesis._coarse_groups import CoarseGroups, coarse_groups
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn
from mahrem.types import Floats, Integers

SURE = 4.0  # deviations of noise that a public number of rows may be off


@dataclass(frozen=True)
class NoisyColumns:
    """What noisy counts say of every column; free to look at, for the noise is paid for.

    Attributes:
        groups: Of each column.
        singles: The counts of those groups, by the groups of the target where they were told apart.
        total: How many rows they speak of.
    """

    groups: Sequence[CoarseGroups] = field(repr=False)
    singles: Sequence[Measured] = field(repr=False)
    total: float

    def coarse(self, codes: Integers) -> Integers:
        """Give the groups of ``(n, d)`` cells."""
        return np.stack([one.group[codes[:, place]] for place, one in enumerate(self.groups)], axis=1)


def count_columns(
    codes: Integers,
    domain: DeclaredDomain,
    noise: IntegerNoise,
    *,
    most: int,
    rows: int | None,
    target: int | None = None,
) -> NoisyColumns:
    """Count every column with noise and gather cells that would drown in it.

    A row is in one cell of a column, and in one cell of a column beside the target: both cost the same. So
    where a target is given, cells are counted for each of its groups, and what goes with it inside of a group
    of cells is known too.

    Args:
        codes: ``(n, d)`` cells.
        domain: Their columns.
        noise: Added to the counts of each column.
        most: Groups of a column at most.
        rows: How many rows there are, if that is public. It is believed unless the counts contradict it:
            people may have several rows, and rows with an undeclared cell are left out.
        target: The place of a column whose groups are told apart in all others; None for no such column.
    """
    counted: dict[int, Floats] = {}
    classes = np.zeros(len(codes), dtype=np.int64)
    first = [] if target is None else [target]
    groups: dict[int, CoarseGroups] = {}
    for place in [*first, *(one for one in range(len(domain.columns)) if one != target)]:
        column = domain.columns[place]
        many = groups[target].size if target is not None and place != target else 1
        counted[place] = _counted(codes[:, place], classes, (column.cells, many), noise)
        groups[place] = _grouped(column, counted[place], noise.scale, most)
        if place == target:
            classes = groups[place].group[codes[:, place]]
    places = range(len(domain.columns))
    return NoisyColumns(
        [groups[place] for place in places],
        [_single(place, groups[place], counted[place], noise.scale, target) for place in places],
        max(_total(list(counted.values()), noise.scale, rows), noise.scale, 1.0),
    )


def _total(counted: Sequence[Floats], deviation: float, rows: int | None) -> float:
    """Every column adds up to the number of rows; long columns say it less exactly."""
    weight = np.array([1 / counts.size for counts in counted])
    total = float((weight * [counts.sum() for counts in counted]).sum() / weight.sum())
    if rows is not None and abs(total - rows) <= SURE * deviation / weight.sum() ** 0.5:
        return float(rows)
    return total


def _counted(
    cells: Integers,
    classes: Integers,
    sizes: tuple[int, int],
    noise: Callable[[Sequence[int]], Sequence[int]],
) -> Floats:
    """Count ``(cells, classes)`` with noise."""
    counts = marginal_counts(np.stack([cells, classes], axis=1), (0, 1), sizes)
    return np.asarray(noise(counts.ravel().tolist()), dtype=np.float64).reshape(sizes)


def _grouped(column: DomainColumn, counts: Floats, deviation: float, most: int) -> CoarseGroups:
    many = counts.shape[1]
    groups = coarse_groups(
        counts.sum(axis=1),
        deviation=deviation * many**0.5,
        ordered=column.kind != "category",
        apart=int(column.gaps),
        most=most,
    )
    return groups.with_classes(counts, deviation) if many > 1 else groups


def _single(
    place: int, groups: CoarseGroups, counts: Floats, deviation: float, target: int | None
) -> Measured:
    """Give the counts of groups; the more cells one has, the more noise is in it."""
    gathered = np.zeros((groups.size, counts.shape[1]))
    np.add.at(gathered, groups.group, counts)
    spread = deviation * np.sqrt(np.bincount(groups.group))
    if target is None or counts.shape[1] == 1:
        return Measured((place,), gathered[:, 0], spread)
    return Measured((place, target), gathered, np.repeat(spread[:, None], counts.shape[1], axis=1))
