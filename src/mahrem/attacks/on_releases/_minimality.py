"""Minimality: a class that could have been cut and was not tells why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Matching, People, Published, codes_of, match
from mahrem.models import Counts
from mahrem.types import Integers, Mask
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Minimality:
    """Somebody who knows everybody's quasi-identifiers and the method sees which cuts were not made.

    A class that a method could have halved with ``k`` rows on both sides was left whole because a half would
    have broken the promise that no value is more than ``1 / l`` of a class. That makes the most frequent
    value likelier in one of the halves; the attacker says it of everybody there.

    Attributes:
        k: The k of the release.
        l: The l of its l-diversity.
        column: The sensitive column; the first if None.
        trials: How many classes are looked at.
        seed: Of the draw.

    References:
        Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, 2007.
    """

    k: int
    l: int = 2  # noqa: E741 - the literature's name
    column: str | None = None
    trials: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, k=check.whole(k=self.k))
        check.at_least(2, l=check.whole(l=self.l))
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            attack = cls(k=target.smallest, l=target.l, column=column, seed=target.seed)
            yield attack(target.release, target.known_people)

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original."""
        column = release.pick(self.column)
        if column is None or column not in people.frame.columns:
            return not_done("minimality", Note("skipped.both"))
        values = release.values(column)[1]
        truth = codes_of(people.frame[column].cast(pl.String), values)
        matching = match(release, people)
        counts = release.counts(column)
        large = np.flatnonzero(release.sizes >= 2 * self.k)
        rng = np.random.default_rng(self.seed)
        chosen = rng.choice(large, min(self.trials, len(large)), replace=False)
        claimed = right = plain = 0.0
        classes = 0
        for group in chosen:
            guessed = self._say(matching, counts, int(group))
            if guessed is None:
                continue
            side, value, share = guessed
            classes += 1
            claimed += len(side)
            right += int(np.count_nonzero(truth[side] == value))
            plain += share * len(side)
        if not claimed:
            return not_done("minimality", Note("skipped.uncut"), unread=matching.unread)
        return counted_finding(
            "minimality",
            int(right),
            int(claimed),
            baseline=plain / claimed,
            meaning=(
                "Somebody who knows that the method cuts classes whenever it may says this share of "
                "sensitive values rightly in classes it did not cut; the baseline reads the classes alone."
            ),
            unread=matching.unread,
            column=column,
            classes=classes,
        )

    def _say(self, matching: Matching, counts: Counts, group: int) -> tuple[Integers, int, float] | None:
        """Give the people spoken of, the value said of them and its share in the class."""
        members = matching.members(group)
        size = int(matching.sizes[group])
        if len(members) != size or counts.totals[group] != size:
            return None  # somebody else fits too: the class is not known for sure
        end, many = int(counts.ends[group]), int(counts.distinct[group])
        top = end - many + int(np.argmax(counts.count[end - many : end]))
        value, times = int(counts.value[top]), int(counts.count[top])
        best: tuple[float, Integers] = (times / size, members[:0])
        for column in matching.columns:
            left = _halved(column.at[column.of_person[members]], self.k)
            if left is None:
                continue
            chances = credibility(size, times, int(left.sum()), self.l)
            if chances is None:
                continue
            for chance, side in zip(chances, (members[left], members[~left]), strict=True):
                if chance > best[0] + 1e-9:
                    best = (chance, side)
        return (best[1], value, times / size) if len(best[1]) else None


def credibility(size: int, times: int, left: int, l: int) -> tuple[float, float] | None:  # noqa: E741
    """Give a value's share in both halves of a class, given that one half shows it more often than 1 / l.

    Args:
        size: Rows of the class.
        times: How many of them show the value.
        left: Rows of the first half.
        l: What was promised.

    Returns:
        None where no way to deal the value out breaks the promise.

    Example:
        >>> credibility(4, 2, 2, 2)
        (0.5, 0.5)
        >>> credibility(6, 1, 2, 3)
        (0.5, 0.0)
    """
    right = size - left
    ways = [comb(left, first) * comb(right, times - first) for first in range(times + 1)]
    broken = [
        (weight, first)
        for first, weight in enumerate(ways)
        if weight and (first * l > left or (times - first) * l > right)
    ]
    total = sum(weight for weight, _ in broken)
    if not total:
        return None
    expected = sum(weight * first for weight, first in broken) / total
    return expected / left, (times - expected) / right


def _halved(values: np.ndarray[tuple[int], np.dtype[np.float64]], k: int) -> Mask | None:
    """Cut at the median with equal values on one side; None where a half would have fewer than k rows."""
    if not np.isfinite(values).all():
        return None
    middle = 2 * np.median(values / 2)  # the sum of two huge ones would overflow
    for left in (values <= middle, values < middle):
        if k <= int(left.sum()) <= len(values) - k:
            return np.asarray(left)
    return None
