"""Order: do row order or a column of numbers tell which row was which?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import Matching, People, Published, match
from mahrem.types import Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget


@dataclass(frozen=True, kw_only=True)
class Order:
    """Somebody supposes that rows stand where they stood, or that a column numbers them as they stood.

    For each way the person at the place supposed is looked up; if the row fits them, the claim is not
    refuted. The baseline takes any person. The best of all ways is reported.

    Attributes:
        trials: How many rows are tried.
        seed: Of the draw.
    """

    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it once."""
        yield cls(trials=target.trials, seed=target.seed)(target.release, target.known_people)

    def __call__(self, release: Published, people: People) -> Finding:
        """Attack a release with the original in its own order."""
        shown = np.flatnonzero(release.labels >= 0)
        if not len(shown) or not people.count:
            return not_done("order", Note("skipped.rows"))
        rng = np.random.default_rng(self.seed)
        rows = rng.choice(shown, min(self.trials, len(shown)), replace=False)
        matching = match(release, people)
        stood = np.arange(release.frame.height) if release.stood is None else release.stood
        at = np.arange(people.count) if people.stood is None else np.argsort(people.stood)
        ways = {"row order": stood, **row_numbers(release.frame)}
        hits = {
            name: _hits(matching, release, rows, at[_places(numbers, people.count)])
            for name, numbers in ways.items()
        }
        best = max(hits, key=lambda name: hits[name])
        groups, times = np.unique(release.labels[rows], return_counts=True)
        fitting = np.array([len(matching.members(int(group))) for group in groups])
        return counted_finding(
            "order",
            hits[best],
            len(rows),
            baseline=float((fitting * times).sum()) / (len(rows) * people.count),
            meaning=(
                "This share of rows fit the person who stood at their place in the original; the baseline is "
                "the share that fit any person. Well above it, rows can be found by their number."
            ),
            unread=matching.unread,
            by=best,
            ways=len(ways),
        )


def row_numbers(frame: pl.DataFrame) -> dict[str, Integers]:
    """Find columns that number the rows: whole numbers, all different, nearly without gaps.

    Example:
        >>> list(row_numbers(pl.DataFrame({"index": [2, 0, 1], "age": [30, 30, 41]})))
        ['index']
    """
    found_columns = {}
    for name in frame.columns:
        numbers = frame[name].cast(pl.String).cast(pl.Int64, strict=False)
        if frame.height < 2 or numbers.null_count() or numbers.n_unique() != frame.height:
            continue
        values = numbers.to_numpy()
        if int(values.max()) - int(values.min()) <= 2 * frame.height:
            found_columns[name] = values
    return found_columns


def _places(numbers: Integers, people: int) -> Integers:
    """Turn numbers into places of the original: as they are where they can be, else spread evenly."""
    start = int(numbers.min())
    shifted = numbers - (start if start in {0, 1} else 0)
    if start >= 0 and int(shifted.max()) < people:
        return np.asarray(shifted, np.int64)
    ranks = np.argsort(np.argsort(numbers))
    return np.asarray(ranks * people // len(numbers), np.int64)


def _hits(matching: Matching, release: Published, rows: Integers, places: Integers) -> int:
    """Count the rows that fit the person at the place supposed."""
    people, groups = places[rows], release.labels[rows]
    fits = np.ones(len(rows), np.bool_)
    for column in matching.columns:
        values, inverse = np.unique(column.of_person[people], return_inverse=True)
        fits &= column.table(values)[inverse, column.of_class[groups]]
    return int(fits.sum())
