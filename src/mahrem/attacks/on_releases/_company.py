"""Company: who was put with whom may tell who in a class has a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Matching, People, Published, codes_of, match
from mahrem.metrics import box_shrinks, rarest_common, take_first
from mahrem.types import Floats, Integers, Labels
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Company:
    """Somebody who knows everybody's quasi-identifiers looks at who was put with whom.

    A class shows how many of its people have a value, not who. A method that chooses members by their values
    takes some from afar to keep a promise: those without whom the cells of the class would be narrower. The
    attacker says the rarer value of so many of the people who fit a class as have it there, the extreme ones
    first. The baseline takes anybody who fits.

    Attributes:
        column: The sensitive column; the first if None.
        trials: How many classes are looked at.
        seed: Of the draw, and of the order among equals.

    References:
        Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, 2007.
    """

    column: str | None = None
    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            yield cls(column=column, trials=target.trials, seed=target.seed)(
                target.release, target.known_people
            )

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original."""
        column = release.pick(self.column)
        if column is None or column not in people.frame.columns:
            return not_done("company", Note("skipped.both"))
        counts, rng = release.counts(column), np.random.default_rng(self.seed)
        if not len(counts.value):
            return not_done("company", Note("skipped.nobody"))
        value = rarest_common(np.bincount(counts.value, weights=counts.count).astype(np.int64))
        held = np.zeros(len(release.sizes), np.int64)
        held[counts.group[counts.value == value]] = counts.count[counts.value == value]
        some = np.flatnonzero((held > 0) & (held < release.sizes))
        chosen = rng.choice(some, min(self.trials, len(some)), replace=False)
        matching = match(release, people)
        if not len(chosen):
            return not_done("company", Note("skipped.nobody"), unread=matching.unread)
        fitting = [matching.members(int(group)) for group in chosen]
        members = np.concatenate(fitting)
        labels = np.repeat(np.arange(len(chosen)), [len(one) for one in fitting])
        has = codes_of(people.frame[column].cast(pl.String), release.values(column)[1])[members] == value
        taken = take_first(_shrinks(matching, members, labels), labels, held[chosen], rng.random(len(labels)))
        claims = np.bincount(labels[taken], minlength=len(chosen))
        around = np.bincount(labels, minlength=len(chosen))
        chance = np.bincount(labels, weights=has, minlength=len(chosen)) / np.maximum(around, 1)
        return counted_finding(
            "company",
            int(np.count_nonzero(has & taken)),
            int(claims.sum()),
            baseline=float((claims * chance).sum()) / max(int(claims.sum()), 1),
            meaning=(
                "Somebody who knows everybody's quasi-identifiers says of this share rightly who in a class "
                "has its rarer value, taking the people who make the class wide; the baseline takes anybody "
                "who fits it."
            ),
            unread=matching.unread,
            column=column,
            classes=len(chosen),
        )


def _shrinks(matching: Matching, members: Integers, labels: Labels) -> Floats:
    """Give by how much the cells of a class shrink without each of the people who fit it."""
    shrinks: Floats = np.zeros(len(members))
    for column in matching.columns:
        which = column.of_person[members]
        if np.isfinite(column.at).all():
            # halves first: the difference of two huge ones would overflow
            span = float(column.at.max(initial=0.0) / 2 - column.at.min(initial=0.0) / 2)
            shrinks += box_shrinks((column.at[which] / 2 / (span or 1.0))[:, None], labels)
        else:  # of words: nobody else has it
            _, place, times = np.unique(
                labels * len(column.values) + which, return_inverse=True, return_counts=True
            )
            shrinks += (times[place.reshape(-1)] == 1) / max(len(column.values), 1)
    return shrinks
