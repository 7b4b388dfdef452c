"""Membership: is this person in the release? What delta-presence answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.errors import InvalidParameter
from mahrem.matching import Matching, People, Published, match
from mahrem.types import Floats, Integers, Mask
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Membership:
    """Somebody has a table of the population and says who is in the release.

    A class of m rows that fits f people holds each of them with chance m / f; chances of several classes add
    up. Whoever is in with a chance above one half is said to be in.

    Attributes:
        trials: How many people of the population are asked about.
        seed: Of the draw.

    References:
        Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases, 2007.
    """

    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it with everybody of the population."""
        if target.population is not None and target.members is not None:
            attack = cls(trials=target.trials, seed=target.seed)
            yield attack(target.release, target.population, np.asarray(target.members))

    def __call__(self, release: Published, population: People, members: Mask) -> Finding:
        """Attack a release with a population of which ``members`` are in it."""
        if len(members) != population.count:
            raise InvalidParameter(
                f"members={len(members)} must be as many as the people, {population.count}"
            )
        inside = int(np.count_nonzero(members))
        if release.rows > population.count:
            raise InvalidParameter(
                f"population={population.count} must not be smaller than the release, {release.rows} rows"
            )
        if not population.count or not release.rows:
            return not_done("membership", Note("skipped.population_rows"))
        rng = np.random.default_rng(self.seed)
        chosen = rng.choice(population.count, min(self.trials, population.count), replace=False)
        matching = match(release, population)
        chances = presence_chances(matching, chosen)
        right = (chances > 0.5) == members[chosen]
        share = inside / population.count
        sure = int(np.count_nonzero((chances >= 1 - 1e-9) | (chances <= 1e-9)))
        return counted_finding(
            "membership",
            int(right.sum()),
            len(chosen),
            baseline=max(share, 1.0 - share),
            meaning=(
                "Somebody with a table of the population says for this share of people rightly whether they "
                "are in the release; the baseline always says the same."
            ),
            unread=matching.unread,
            highest=float(chances.max()),
            lowest=float(chances.min()),
            certain=sure / len(chosen),
        )


def presence_chances(matching: Matching, chosen: Integers) -> Floats:
    """Give each chosen person's chance of being among the rows, at most 1.

    Only the classes that fit one of them are counted out over everybody.
    """
    codes = matching.codes[chosen]
    needed = np.zeros(len(matching.sizes), np.bool_)
    for _, fits in matching.masks(codes):
        needed |= fits.any(axis=0)
    fitting = np.zeros(len(matching.sizes))
    for group in np.flatnonzero(needed):
        fitting[group] = len(matching.members(int(group)))
    chances = np.zeros(len(chosen))
    share = np.where(fitting > 0, matching.sizes / np.maximum(fitting, 1), 0.0)
    for part, fits in matching.masks(codes):
        chances[part] = fits @ share
    return np.minimum(chances, 1.0)
