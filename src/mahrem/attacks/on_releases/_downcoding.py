"""Downcoding: cells no wider than they must be give away values inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import ColumnMatch, People, Published, match
from mahrem.table import Prefix, read_cell
from mahrem.types import Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget
    from mahrem.table import Hierarchy


@dataclass(frozen=True, kw_only=True)
class Downcoding:
    """Somebody supposes that a range is as narrow as its rows allow: both ends are somebody's value.

    For words the claim is that the rows of a cell do not all share a longer beginning or a lower node, for
    then that would have been published. The baseline claims a value of the cell drawn at random.

    Attributes:
        trials: How many classes are looked at.
        seed: Of the draw.

    References:
        Cohen: Attacks on deidentification's defenses, 2022.
    """

    trials: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it once."""
        yield cls(seed=target.seed)(target.release, target.known_people)

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original."""
        matching = match(release, people)
        rng = np.random.default_rng(self.seed)
        chosen = rng.choice(len(release.sizes), min(self.trials, len(release.sizes)), replace=False)
        claims = true = 0
        by_chance = 0.0
        for group in chosen:
            members = matching.members(int(group))
            if not len(members):
                continue
            for name, column in zip(release.quasi, matching.columns, strict=True):
                tree = release.hierarchies.get(name)
                tried, held, chance = _claims(column, int(group), members, tree)
                claims, true, by_chance = claims + tried, true + held, by_chance + chance
        if not claims:
            return not_done("downcoding", Note("skipped.range"), unread=matching.unread)
        return counted_finding(
            "downcoding",
            true,
            claims,
            baseline=by_chance / claims,
            meaning=(
                "This share of claims about single values inside published cells is true when cells are "
                "taken to be as narrow as possible; the baseline claims any value of the cell."
            ),
            unread=matching.unread,
            classes=len(chosen),
        )


def _claims(
    column: ColumnMatch, group: int, members: Integers, tree: Hierarchy | None
) -> tuple[int, int, float]:
    """Give how many claims a cell allows, how many are true, and how many would be by chance."""
    cell = int(column.of_class[group])
    own = column.of_person[members]
    if column.words[cell] < 0:
        low, high = column.low[cell], column.high[cell]
        if not low < high:
            return 0, 0, 0.0
        inside = np.unique(column.at[(column.at >= low) & (column.at <= high)])
        shown = np.unique(column.at[own])
        held = int(np.isin([low, high], shown).sum())
        return 2, held, 2.0 * len(shown) / max(len(inside), 1)
    covered = np.flatnonzero(column.fitting(cell))
    below = _below(column.cells[cell], column.values.gather(covered), tree)
    if below is None or len(covered) < 2:
        return 0, 0, 0.0
    child = np.full(len(column.values), -1, np.int64)
    child[covered] = np.unique(below, return_inverse=True)[1]
    shares = np.bincount(child[covered], weights=column.times[covered])
    chance = 1.0 - float(((shares / max(shares.sum(), 1)) ** len(members)).sum())
    return 1, int(len(np.unique(child[own])) > 1), chance


def _below(text: str | None, values: pl.Series, tree: Hierarchy | None) -> list[str] | None:
    """Give the longer beginning or the lower node of each value a cell covers; None for other cells."""
    if text is None or text == "*":
        return None
    cell = read_cell(text)
    if tree is not None:
        leaves = {leaf: place for place, leaf in enumerate(tree.labels[0])}
        for level in range(1, tree.levels):
            if text in tree.labels[level]:
                lower = tree.labels[level - 1]
                places = [leaves.get((value or "").strip(), -1) for value in values.to_list()]
                return ["" if at < 0 else lower[int(tree.nodes[level - 1, at])] for at in places]
    if isinstance(cell, Prefix):
        return values.str.slice(0, len(cell.beginning) + 1).fill_null("").to_list()
    return None
