"""Linkage: find a person's row by what is known about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.errors import InvalidParameter
from mahrem.matching import Matching, People, Published, match
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget

_SETS = 20  # sets of known columns that trials are spread over


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """Somebody knows some of a person's quasi-identifiers and picks a row that fits.

    Attributes:
        known: How many columns are known; all if None. Which ones is drawn anew for parts of the trials.
        noise: Chance that a known value is wrong: it is then another person's.
        trials: How many people are looked for; one with several rows is found by any of them.
        seed: Of the draw.

    Guarantees:
        - With exact knowledge no person of a k-anonymous release is found with a chance above 1/k.

    References:
        Sweeney: k-anonymity: a model for protecting privacy, 2002.
    """

    known: int | None = None
    noise: float = 0.0
    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.between(0, 1, noise=self.noise)
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it knowing one column, half of them and all, and with wrong details."""
        columns = len(target.release.quasi)
        for known in sorted({1, (columns + 1) // 2, columns}):
            yield cls(known=known, trials=target.trials, seed=target.seed)(
                target.release, target.shown_people
            )
        noisy = cls(noise=0.1, trials=target.trials, seed=target.seed)
        yield noisy(target.release, target.shown_people)

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original."""
        columns = len(release.quasi)
        known = columns if self.known is None else self.known
        if not 1 <= known <= columns:
            raise InvalidParameter(f"known={known} must lie between 1 and the quasi-identifiers, {columns}")
        if not people.count or not release.rows:
            return not_done("linkage", Note("skipped.rows"))
        rng = np.random.default_rng(self.seed)
        matching = match(release, people)
        chances = self._chances(matching, people, known, rng)
        successes = int((rng.random(len(chances)) < chances).sum())
        return counted_finding(
            "linkage",
            successes,
            len(chances),
            baseline=1.0 / release.rows,
            meaning=(
                "Of the people looked for, this share was tied to the right row by somebody who knows "
                f"{known} of {columns} quasi-identifiers; the baseline picks any row, and classes promise no "
                "more than one over the smallest."
            ),
            unread=matching.unread,
            expected=float(chances.mean()),
            highest=float(chances.max()),
            known=known,
            noise=self.noise,
            promised=1.0 / int(release.sizes.min()),
        )

    def _chances(self, matching: Matching, people: People, known: int, rng: np.random.Generator) -> Floats:
        codes = matching.codes
        owners = _numbered(people.owners, len(codes))
        by_owner = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[by_owner], np.arange(owners.max() + 2))
        looked_for = rng.choice(len(starts) - 1, min(self.trials, len(starts) - 1), replace=False)
        sets = _column_sets(codes.shape[1], known, rng)
        parts = np.array_split(looked_for, len(sets))
        chances = [
            self._part(matching, by_owner, starts[part], starts[part + 1], columns_known, rng)
            for part, columns_known in zip(parts, sets, strict=True)
            if len(part)
        ]
        return np.concatenate(chances)

    def _part(
        self,
        matching: Matching,
        by_owner: Integers,
        first: Integers,
        last: Integers,
        known: tuple[int, ...],
        rng: np.random.Generator,
    ) -> Floats:
        """Look for some people, each by what one of their rows says; any row of theirs is a find."""
        codes, sizes = matching.codes, last - first
        drawn = codes[by_owner[first + rng.integers(0, sizes)]]
        seen = drawn if self.noise == 0.0 else _noisy(codes, drawn, self.noise, rng)
        if sizes.max() == 1:
            return linkage_chances(matching, drawn, seen, known)
        begins = np.cumsum(sizes) - sizes
        places = np.arange(sizes.sum()) + np.repeat(first - begins, sizes)
        chances = linkage_chances(matching, codes[by_owner[places]], np.repeat(seen, sizes, axis=0), known)
        return np.minimum(np.add.reduceat(chances, begins), 1.0)


def _numbered(owners: Integers | None, rows: int) -> Integers:
    """Number the people whose rows these are as they come: what they are called has no say."""
    if owners is None:
        return np.arange(rows)
    _, first, own = np.unique(owners, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[own.reshape(-1)])


def linkage_chances(matching: Matching, codes: Integers, seen: Integers, known: tuple[int, ...]) -> Floats:
    """Give the chance of picking each person's own row.

    Every row that fits all of a person's true values is theirs with the same chance; the attacker picks one
    of the rows that fit what is believed.

    Args:
        matching: People against classes.
        codes: ``(b, d)`` true values.
        seen: ``(b, d)`` values as the attacker believes them.
        known: Columns the attacker knows.
    """
    chances = np.zeros(len(codes))
    if seen is codes and len(known) == codes.shape[1]:
        for part, own in matching.masks(codes):
            rows = own @ matching.weights
            chances[part] = np.where(rows > 0, 1.0 / np.maximum(rows, 1), 0.0)
        return chances
    believed = matching.masks(seen, known=known)
    for (part, own), (_, picked) in zip(matching.masks(codes), believed, strict=True):
        both = (own & picked) @ matching.weights
        chances[part] = both / np.maximum((own @ matching.weights) * (picked @ matching.weights), 1)
    return chances


def _column_sets(columns: int, known: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if comb(columns, known) <= _SETS:
        return list(combinations(range(columns), known))
    drawn = {tuple(sorted(rng.choice(columns, known, replace=False).tolist())) for _ in range(_SETS)}
    return sorted(drawn)


def _noisy(codes: Integers, own: Integers, noise: float, rng: np.random.Generator) -> Integers:
    """Give some values of other people instead."""
    wrong = rng.random(own.shape) < noise
    others = rng.integers(0, len(codes), own.shape)
    return np.asarray(np.where(wrong, codes[others, np.arange(codes.shape[1])], own))
