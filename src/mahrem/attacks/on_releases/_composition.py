"""Composition: what two releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.attacks.on_releases._background import rows_shown
from mahrem.matching import Matching, People, Published, codes_of, match
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Composition:
    """Somebody finds the rows that fit a person in both releases and keeps what both have.

    With a sensitive column, a row of one release and a row of the other can be one person's only where they
    show the same value: the candidates left are the smaller count of each value (a missing one may be any).
    Without one, they are the people who share a class with the person in both releases.

    Attributes:
        k: Below how many candidates a person counts as found out.
        column: The sensitive column both have; the first if None.
        trials: How many people are looked for.
        seed: Of the draw.

    References:
        Ganta, Kasiviswanathan, Smith: Composition attacks and auxiliary information in data privacy, 2008.
    """

    k: int
    column: str | None = None
    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, k=check.whole(k=self.k))
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Lay the second release beside the first."""
        second = target.second
        if second is not None:
            check.columns_exist(second.quasi, target.known_people.frame.columns)
            k = min(target.smallest, target.second_k or int(second.sizes.min()))
            attack = cls(k=k, trials=target.trials, seed=target.seed)
            yield attack(target.release, second, target.known_people)

    def __call__(self, first: Published, second: Published, people: People) -> Finding:
        """Attack two releases with the people who are in both."""
        rng = np.random.default_rng(self.seed)
        if not people.count:
            return not_done("composition", Note("skipped.apart"))
        chosen = rng.choice(people.count, min(self.trials, people.count), replace=False)
        both = match(first, people), match(second, People(people.frame, second.quasi))
        column = first.pick(self.column)
        if column is not None and column in second.sensitive:
            alone, left, values = _by_value(first, second, column, both, chosen)
            certain = float(np.mean(values == 1))
        else:
            alone, left = _by_people(both, chosen)
            certain = float(np.mean(left <= 1))
        there = (alone.min(axis=0) > 0) & (left > 0)
        if not there.any():
            return not_done("composition", Note("skipped.no_class"))
        alone, left = alone[:, there], left[there]
        return counted_finding(
            "composition",
            int((left < self.k).sum()),
            len(left),
            baseline=float((alone.min(axis=0) < self.k).mean()),
            meaning=(
                f"This share of people have fewer than {self.k} rows left that can be theirs when both "
                "releases are laid side by side; the baseline is the share in one release alone."
            ),
            unread=both[0].unread + both[1].unread,
            smallest=float(left.min()),
            mean=float(left.mean()),
            certain=certain,
        )


def _by_value(
    first: Published,
    second: Published,
    column: str,
    both: tuple[Matching, Matching],
    chosen: Integers,
) -> tuple[Floats, Floats, Integers]:
    """Give candidates in each release, in both together, and how many values are left."""
    values = pl.concat([first.values(column)[1], second.values(column)[1]]).unique().sort()
    tables, totals = [], []
    for release, matching in zip((first, second), both, strict=True):
        shown = np.zeros((len(chosen), len(values)))
        shown[:, codes_of(release.values(column)[1], values)] = rows_shown(
            matching, release.counts(column), chosen
        )
        tables.append(shown)
        parts = [fits @ matching.weights for _, fits in matching.masks(matching.codes[chosen])]
        totals.append(np.concatenate(parts))
    common = np.minimum(*tables)
    alone = np.stack(totals)
    hidden = alone.sum(axis=0) - tables[0].sum(axis=1) - tables[1].sum(axis=1)  # may be any value
    left = np.minimum(common.sum(axis=1) + hidden, alone.min(axis=0))
    return alone, left, np.where(hidden > 0, 0, np.count_nonzero(common, axis=1))


def _by_people(both: tuple[Matching, Matching], chosen: Integers) -> tuple[Floats, Floats]:
    """Count the people who share some class with each person, in each release and in both."""
    near = [_neighbours(matching, chosen) for matching in both]
    alone = np.array([[len(people) for people in lists] for lists in near], np.float64)
    pairs = zip(*near, strict=True)
    left = [len(np.intersect1d(first, second, assume_unique=True)) for first, second in pairs]
    return alone, np.array(left, np.float64)


def _neighbours(matching: Matching, chosen: Integers) -> list[Integers]:
    """Give for each chosen person everybody whom a class fits that fits them too."""
    members = cache(matching.members)
    codes = matching.codes[chosen]
    near: list[Integers] = []
    for _, block in matching.masks(codes):
        for fits in block:
            groups = [members(int(group)) for group in np.flatnonzero(fits)]
            near.append(np.unique(np.concatenate(groups)) if groups else np.empty(0, np.int64))
    return near
