"""Homogeneity: a class whose rows all show the same sensitive value tells it of everybody in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Published
from mahrem.models import Counts
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Homogeneity:
    """Somebody knows which class a person is in and reads off the one value it shows.

    Attributes:
        column: The sensitive column; the first if None.

    Guarantees:
        - Nothing is found where every class shows two values (distinct 2-diversity).

    References:
        Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, 2006.
    """

    column: str | None = None

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            yield cls(column=column)(target.release)

    def __call__(self, release: Published) -> Finding:
        """Attack a release alone."""
        column = release.pick(self.column)
        if column is None:
            return not_done("homogeneity", Note("skipped.column"))
        counts = release.people_counts(column)
        certain = homogeneous_rows(counts)
        constant = np.count_nonzero(counts.table) <= 1
        return counted_finding(
            "homogeneity",
            certain,
            int(counts.sizes.sum()),
            baseline=float(constant),
            meaning=(
                "For this share of people the sensitive value is certain, because everybody in their class "
                "has it; the baseline is what is certain from the whole column."
            ),
            column=column,
            classes=int(np.count_nonzero(_single(counts))),
        )


def homogeneous_rows(counts: Counts) -> int:
    """Count the rows in classes that show a single value in all their rows.

    Example:
        >>> from mahrem.models import counts_of
        >>> homogeneous_rows(counts_of(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2, 2))
        2
    """
    return int(counts.sizes[_single(counts)].sum())


def _single(counts: Counts) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((counts.distinct == 1) & (counts.totals == counts.sizes))
