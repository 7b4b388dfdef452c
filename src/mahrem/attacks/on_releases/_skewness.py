"""Skewness: a class that shows a value far more often than the table tells it with too much certainty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Published
from mahrem.models import Counts, spans_of
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Skewness:
    """Somebody compares how often a value occurs in a person's class with how often it occurs at all.

    Attributes:
        factor: How many times more often a value must occur in the class than in the table.
        least: How likely it must be in the class for the attacker to say it.
        column: The sensitive column; the first if None.
        shuffles: How often values are dealt out anew to classes of the same sizes for the baseline.
        seed: Of the shuffles.

    References:
        Li, Li, Venkatasubramanian: t-closeness: privacy beyond k-anonymity and l-diversity, 2007.
    """

    factor: float = 2.0
    least: float = 0.5
    column: str | None = None
    shuffles: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, factor=self.factor)
        check.between(0, 1, least=self.least)
        check.at_least(1, shuffles=check.whole(shuffles=self.shuffles))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            yield cls(column=column, seed=target.seed)(target.release)

    def __call__(self, release: Published) -> Finding:
        """Attack a release alone."""
        column = release.pick(self.column)
        if column is None:
            return not_done("skewness", Note("skipped.column"))
        counts = release.people_counts(column)
        rng = np.random.default_rng(self.seed)
        return counted_finding(
            "skewness",
            skewed_rows(counts, self.factor, self.least),
            int(counts.sizes.sum()),
            baseline=shuffled_rate(
                release, column, lambda other: skewed_rows(other, self.factor, self.least), self.shuffles, rng
            ),
            meaning=(
                f"This share of people have a value that is at least {self.factor:g} times likelier in their "
                f"class than in the table, and at least {self.least:g} likely there; the baseline is the "
                "same with values dealt out to classes by chance."
            ),
            column=column,
        )


def skewed_rows(counts: Counts, factor: float, least: float) -> int:
    """Count the rows, or people, one of whose values is much likelier in their class than in the table.

    Example:
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1]), 2, 2)
        >>> skewed_rows(counts, 2.0, 0.5)
        2
    """
    spans = spans_of(counts)
    every = spans.counts
    inside = every.count / every.sizes[every.group]
    overall = spans.table_highest[every.value]
    skewed = (inside >= factor * overall * (1 - 1e-12)) & (inside >= least)
    if counts.held is None:
        return int(every.count[skewed].sum())
    held = counts.held.classes
    known = np.searchsorted(every.group * held.size + every.value, held.group * held.size + held.value)
    return int(np.logical_or.reduceat(skewed[known], held.begins).sum()) if len(known) else 0


def shuffled_rate(
    release: Published,
    column: str,
    rows: Callable[[Counts], int],
    shuffles: int,
    rng: np.random.Generator,
) -> float:
    """Give the share of rows an attack finds on average when sensitive values are shuffled over rows."""
    codes, values = release.values(column)
    shown = np.flatnonzero(release.labels >= 0)
    if not len(shown):
        return 0.0
    hits, everybody = 0, 1
    for _ in range(shuffles):
        dealt = codes.copy()
        dealt[shown] = rng.permutation(codes[shown])
        counts = release.counted(dealt, len(values))
        hits, everybody = hits + rows(counts), int(counts.sizes.sum())
    return hits / shuffles / everybody
