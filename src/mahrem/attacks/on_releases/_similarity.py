"""Similarity: the values of a class differ, but mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.attacks.on_releases._skewness import shuffled_rate
from mahrem.matching import Published
from mahrem.models import Counts
from mahrem.table import Hierarchy, read_ranges
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Somebody learns a narrow range, or a kind of value, that everybody in a class shares.

    Attributes:
        width: Numbers: how narrow a class's range must be, as a share of the column's range.
        level: Hierarchies: the level at which one node must hold all values of a class; 1 is above leaves.
        column: The sensitive column; the first if None.
        shuffles: How often values are dealt out anew for the baseline.
        seed: Of the shuffles.

    References:
        Li, Li, Venkatasubramanian: t-closeness: privacy beyond k-anonymity and l-diversity, 2007.
    """

    width: float = 0.1
    level: int = 1
    column: str | None = None
    shuffles: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check.between(0, 1, width=self.width)
        check.at_least(1, level=check.whole(level=self.level))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            yield cls(column=column, seed=target.seed)(target.release)

    def __call__(self, release: Published) -> Finding:
        """Attack a release alone; words need a hierarchy to be similar."""
        column = release.pick(self.column)
        if column is None:
            return not_done("similarity", Note("skipped.column"))
        values = release.values(column)[1]
        tree = release.hierarchies.get(column)
        at = read_ranges(values)[0]
        nodes = None if tree is None else _nodes(values, tree, self.level)
        if nodes is None and not np.isfinite(at).all():
            return not_done("similarity", Note("skipped.similar"))

        def rows(counts: Counts) -> int:
            if nodes is not None:
                return rows_under_one_node(counts, nodes)
            return rows_within(counts, at, self.width)

        counts = release.people_counts(column)
        return counted_finding(
            "similarity",
            rows(counts),
            int(counts.sizes.sum()),
            baseline=shuffled_rate(release, column, rows, self.shuffles, np.random.default_rng(self.seed)),
            meaning=(
                "This share of people are in a class whose sensitive values are all alike, so that their "
                "kind is certain; the baseline is the same with values dealt out to classes by chance."
            ),
            column=column,
        )


def rows_within(counts: Counts, at: Floats, width: float) -> int:
    """Count the rows in classes whose values lie within a share of the column's range.

    Example:
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2, 3)
        >>> rows_within(counts, np.array([0.0, 1.0, 100.0]), 0.05)
        2
    """
    if not len(counts.group):
        return 0
    shown = counts.distinct > 0
    values = at[counts.value]
    spread = np.maximum.reduceat(values, counts.starts) - np.minimum.reduceat(values, counts.starts)
    whole = counts.totals[shown] == counts.sizes[shown]  # a class with missing values is not certain
    narrow = (spread <= width * float(np.ptp(at))) & whole
    return int(counts.sizes[shown][narrow].sum())


def rows_under_one_node(counts: Counts, nodes: Integers) -> int:
    """Count the rows in classes whose values all lie under one node, -1 being none.

    Example:
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2, 3)
        >>> rows_under_one_node(counts, np.array([0, 0, 1]))
        2
    """
    if not len(counts.group):
        return 0
    shown = counts.distinct > 0
    values = nodes[counts.value]
    low = np.minimum.reduceat(values, counts.starts)
    same = (low == np.maximum.reduceat(values, counts.starts)) & (low >= 0)
    whole = counts.totals[shown] == counts.sizes[shown]
    return int(counts.sizes[shown][same & whole].sum())


def _nodes(values: pl.Series, tree: Hierarchy, level: int) -> Integers:
    """Give the node of each value at a level below the root, -1 where the tree does not know it."""
    chosen = tree.nodes[min(level, max(tree.levels - 2, 0))]
    known = dict(zip(tree.labels[0], chosen.tolist(), strict=True))
    return np.array([known.get((value or "").strip(), -1) for value in values.to_list()], np.int64)
