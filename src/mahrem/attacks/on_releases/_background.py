"""Background knowledge: values ruled out, and what is known of the population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.errors import InvalidParameter
from mahrem.matching import Matching, People, Published, codes_of, match
from mahrem.models import Counts
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget

PEOPLE = 2000  # priors are asked about so many at most


@dataclass(frozen=True, kw_only=True)
class RuledOut:
    """Somebody knows of some sensitive values that a person does not have them.

    The worst case: the values ruled out are just those the class shows beside the person's own.

    Attributes:
        values: How many values are ruled out.
        column: The sensitive column; the first if None.

    Guarantees:
        - Nothing is found under distinct l-diversity with l above ``values + 1``.

    References:
        Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, 2006.
    """

    values: int = 1
    column: str | None = None

    def __post_init__(self) -> None:
        check.at_least(1, values=check.whole(values=self.values))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            yield cls(column=column)(target.release)

    def __call__(self, release: Published) -> Finding:
        """Attack a release alone."""
        column = release.pick(self.column)
        if column is None:
            return not_done("ruled-out", Note("skipped.column"))
        counts = release.people_counts(column)
        everywhere = int(np.count_nonzero(counts.table)) <= self.values + 1
        return counted_finding(
            "ruled-out",
            revealed_rows(counts, self.values),
            int(counts.sizes.sum()),
            baseline=float(everywhere),
            meaning=(
                f"For this share of people, knowing {self.values} value(s) they do not have can be enough to "
                "learn the one they have; the baseline does so from the whole column."
            ),
            column=column,
        )


def revealed_rows(counts: Counts, values: int) -> int:
    """Count the rows in classes with at most ``values`` values beside a row's own.

    Example:
        >>> from mahrem.models import counts_of
        >>> revealed_rows(counts_of(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2]), 2, 3), 1)
        2
    """
    few = (counts.distinct >= 1) & (counts.distinct <= values + 1) & (counts.totals == counts.sizes)
    return int(counts.sizes[few].sum())


@dataclass(frozen=True, kw_only=True)
class PopulationPriors:
    """Somebody knows how the sensitive value depends on a quasi-identifier, and adds the person's class.

    The chance of a value is taken as its count in the rows that fit the person, times how much likelier the
    population makes it for people like them; the most likely one is said. The baseline says the most likely
    one of the population for people like them, without any release.

    Attributes:
        given: The quasi-identifier whose relation to the sensitive value is known.
        column: The sensitive column; the first if None.
        trials: How many people are tried.
        seed: Of the draw.

    References:
        Wong, Fu, Wang, Yu, Pei: Can the utility of anonymized data be used for privacy breaches?, 2011.
    """

    given: str
    column: str | None = None
    trials: int = 1000
    seed: int = 0

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try what each quasi-identifier tells of each sensitive column; keep the worst."""
        release, people, everyone = target.release, target.known_people, target.population
        for column in release.sensitive:
            if everyone is None or column not in everyone.frame.columns or column not in people.frame.columns:
                continue
            tried = (
                cls(given=name, column=column, trials=min(target.trials, PEOPLE), seed=target.seed)(
                    release, people, everyone.frame
                )
                for name in release.quasi
            )
            yield max(tried, key=lambda finding: finding.excess)

    def __call__(self, release: Published, people: People, population: pl.DataFrame) -> Finding:
        """Attack a release of some people with a table of the population that has both columns."""
        column = release.pick(self.column)
        if column is None or column not in people.frame.columns:
            return not_done("population-priors", Note("skipped.both"))
        if self.given not in release.quasi:
            raise InvalidParameter(f"given={self.given!r} must be a quasi-identifier of the release")
        check.columns_exist([self.given, column], population.columns)
        values = release.values(column)[1]
        truth = codes_of(people.frame[column].cast(pl.String), values)
        rng = np.random.default_rng(self.seed)
        askable = np.flatnonzero(truth >= 0)
        chosen = rng.choice(askable, min(self.trials, len(askable)), replace=False)
        if not len(chosen) or not len(values):
            return not_done("population-priors", Note("skipped.unpublished"))
        prior, overall = _priors(population, self.given, column, people, values)
        prior = prior[chosen]
        matching = match(release, people)
        shown = rows_shown(matching, release.counts(column), chosen)
        lift = prior / np.maximum(overall, 1e-300)
        guess = np.where(
            shown.sum(axis=1) > 0, np.argmax(shown * lift + 1e-12 * prior, axis=1), prior.argmax(axis=1)
        )
        return counted_finding(
            "population-priors",
            int((guess == truth[chosen]).sum()),
            len(chosen),
            baseline=float((prior.argmax(axis=1) == truth[chosen]).mean()),
            meaning=(
                "Somebody who knows the population's figures and a person's class says this share of "
                "sensitive values rightly; the baseline knows the population's figures only."
            ),
            unread=matching.unread,
            column=column,
        )


def _priors(
    population: pl.DataFrame, given: str, column: str, people: People, values: pl.Series
) -> tuple[Floats, Floats]:
    """Give each person's chances of every value by their group, and everybody's."""
    groups = people.frame[given].cast(pl.String).unique()
    group = codes_of(population[given].cast(pl.String), groups)
    value = codes_of(population[column].cast(pl.String), values)
    overall = _smoothed(np.bincount(value[value >= 0], minlength=len(values)))
    both = (group >= 0) & (value >= 0)
    pairs = np.bincount(group[both] * len(values) + value[both], minlength=len(groups) * len(values))
    by_group = _smoothed(pairs.reshape(len(groups), len(values)))
    own = codes_of(people.frame[given].cast(pl.String), groups)
    return by_group[own], overall


def _smoothed(counts: Integers) -> Floats:
    raised = counts + 0.5
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def rows_shown(matching: Matching, counts: Counts, chosen: Integers) -> Floats:
    """Add up, for each person, how often the rows that fit show every value."""
    codes = matching.codes[chosen]
    shown = np.zeros((len(chosen), len(counts.table)))
    for part, fits in matching.masks(codes):
        people, groups = np.nonzero(fits)
        first = counts.ends[groups] - counts.distinct[groups]
        many = counts.distinct[groups]
        triplets = np.repeat(first - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        np.add.at(shown[part], (np.repeat(people, many), counts.value[triplets]), counts.count[triplets])
    return shown
