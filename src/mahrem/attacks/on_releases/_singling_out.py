"""Singling out: a description taken from the release that fits exactly one person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Matching, People, Published, as_published, codes_of, match
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class SinglingOut:
    """Somebody takes a row of the release as a description and hopes that it fits one person only.

    The baseline is the chance that a description as rare as this one, whose parts have nothing to do with
    each other, fits exactly one of n people: ``n w (1 - w) ** (n - 1)``, at most 37 per cent.

    A description has everything that the row publishes: its cells, its sensitive values, and the columns that
    stayed as they were, as far as the original has the same values.

    Attributes:
        sensitive: Use the sensitive values of the row, and its plain columns, too.
        trials: How many rows are tried.
        seed: Of the draw.

    References:
        Cohen, Nissim: Towards formalizing the GDPR's notion of singling out, 2020.
    """

    sensitive: bool = True
    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it once."""
        yield cls(trials=target.trials, seed=target.seed)(target.release, target.shown_people)

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original."""
        used = [*_sensitive(release, people), *as_published(release, people)] if self.sensitive else []
        shown = np.flatnonzero(release.labels >= 0)
        if not len(shown) or not people.count:
            return not_done("singling-out", Note("skipped.rows"))
        rng = np.random.default_rng(self.seed)
        rows = rng.choice(shown, min(self.trials, len(shown)), replace=False)
        matching = match(release, people)
        own = [codes_of(people.frame[name].cast(pl.String), release.values(name)[1]) for name in used]
        claims = [release.values(name)[0][rows] for name in used]
        fitting = _people_fitting(matching, release.labels[rows], own, claims)
        weights = _weights(matching, release.labels[rows], own, claims)
        count = people.count
        chance = count * weights * (1.0 - weights) ** (count - 1)
        return counted_finding(
            "singling-out",
            int((fitting == 1).sum()),
            len(rows),
            baseline=float(chance.mean()),
            meaning=(
                "This share of published rows, read as descriptions, fit exactly one person of the original; "
                "the baseline is a description as rare whose parts are independent."
            ),
            unread=matching.unread,
        )


def _sensitive(release: Published, people: People) -> list[str]:
    return [name for name in release.sensitive if name in people.frame.columns]


def _people_fitting(
    matching: Matching, groups: Integers, own: list[Integers], shown: list[Integers]
) -> Integers:
    """Count the people each description fits; descriptions of one class are counted together."""
    fitting = np.zeros(len(groups), np.int64)
    for group in np.unique(groups):
        members = matching.members(int(group))
        rows = np.flatnonzero(groups == group)
        agree = np.ones((len(rows), len(members)), np.bool_)
        for values, claims in zip(own, shown, strict=True):
            claim = claims[rows][:, None]
            agree &= (values[members] == claim) | (claim < 0)
        fitting[rows] = agree.sum(axis=1)
    return fitting


def _weights(matching: Matching, groups: Integers, own: list[Integers], shown: list[Integers]) -> Floats:
    """Multiply the shares of people that fit each part of a description."""
    weights = np.ones(len(groups))
    for column in matching.columns:
        cells, inverse = np.unique(column.of_class[groups], return_inverse=True)
        fitting = np.array([column.times[column.fitting(int(cell))].sum() for cell in cells])
        weights *= (fitting / max(len(column.of_person), 1))[inverse]
    for values, claims in zip(own, shown, strict=True):
        times = np.bincount(values[values >= 0], minlength=int(claims.max(initial=0)) + 1)
        weights *= np.where(claims < 0, 1.0, times[np.maximum(claims, 0)] / max(len(values), 1))
    return weights
