"""Inference: a model learns the sensitive value from the release and is asked about people."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks._finding import Finding, counted_finding, not_done
from mahrem.matching import ColumnMatch, Matching, People, Published, codes_of, match
from mahrem.types import Floats, Integers
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.attacks.on_releases._target import ReleaseTarget

_WORDS: Final = 40  # values of a column of words that become features
_ROWS: Final = 20_000  # rows a model is trained on
_LARGEST: Final = 1e30  # of a number


@dataclass(frozen=True, kw_only=True)
class Inference:
    """Somebody trains a model on the published rows and asks it about people's quasi-identifiers.

    A model that is right about people who are not in the release has learnt about the world, not about them:
    give such people as ``strangers`` and their rate is the baseline. Without them it is the share of the most
    frequent value.

    Attributes:
        column: The sensitive column; the first if None.
        trees: Of the random forest.
        trials: How many people are asked about.
        seed: Of the model and the draws.

    References:
        Giomi, Boenisch, Wehmeyer, Tasnadi: A unified framework for quantifying privacy risk in synthetic
        data, 2023.
    """

    column: str | None = None
    trees: int = 40
    trials: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        check.at_least(1, trees=check.whole(trees=self.trees))
        check.at_least(1, trials=check.whole(trials=self.trials))

    @classmethod
    def against(cls, target: ReleaseTarget) -> Iterator[Finding]:
        """Try it on every sensitive column."""
        for column in target.release.sensitive:
            attack = cls(column=column, trials=target.trials, seed=target.seed)
            yield attack(target.release, target.shown_people)

    def __call__(self, release: Published, people: People, strangers: People | None = None) -> Finding:
        """Attack a release with the original, where scikit-learn is installed."""
        column = release.pick(self.column)
        if column is None or column not in people.frame.columns:
            return not_done("inference", Note("skipped.both"))
        if not people.count:
            return not_done("inference", Note("skipped.empty"))
        try:
            forest = importlib.import_module("sklearn.ensemble")
        except ImportError:
            return not_done("inference", Note("skipped.learning"))
        rng = np.random.default_rng(self.seed)
        codes, values = release.values(column)
        rows = np.flatnonzero((release.labels >= 0) & (codes >= 0))
        if len(np.unique(codes[rows])) < 2:
            return not_done("inference", Note("skipped.one_value"))
        rows = rng.permutation(rows)[:_ROWS]
        if 2 * len(np.unique(codes[rows])) > len(rows):  # a price to the cent: nobody says it exactly
            return not_done("inference", Note("skipped.own_values"))
        matching = match(release, people)
        model = forest.RandomForestClassifier(
            n_estimators=self.trees, min_samples_leaf=3, random_state=self.seed, n_jobs=1
        )
        features = features_of(matching)
        model.fit(features.of_classes(matching)[release.labels[rows]], codes[rows])

        def ask(group: People, fitted: Matching) -> tuple[int, int]:
            truth = codes_of(group.frame[column].cast(pl.String), values)
            asked = rng.permutation(np.flatnonzero(truth >= 0))[: self.trials]
            if not len(asked):
                return 0, 0
            guesses: Integers = model.predict(features.of_people(fitted)[asked])
            return int((guesses == truth[asked]).sum()), len(asked)

        hits, asked = ask(people, matching)
        baseline = float(np.bincount(codes[rows]).max() / len(rows))
        if strangers is not None and strangers.count:
            others, count = ask(strangers, match(release, strangers))
            baseline = others / count if count else baseline
        return counted_finding(
            "inference",
            hits,
            asked,
            baseline=baseline,
            meaning=(
                "A model trained on the release says this share of people's sensitive values rightly; the "
                "baseline is its rate for people who are not in it, or else the most frequent value's share."
            ),
            unread=matching.unread,
            column=column,
        )


@dataclass(frozen=True)
class Features:
    """How cells and values become numbers: the same for whoever is asked about."""

    words: tuple[pl.Series | None, ...]  # per column: the values that become features; None for numbers
    middles: tuple[float, ...]  # per column: the number for what is no number

    def of_classes(self, matching: Matching) -> Floats:
        """Give what each class shows: the middle of ranges, the share of each word."""
        return np.column_stack(
            [self._cells(place, column)[column.of_class] for place, column in enumerate(matching.columns)]
        )

    def of_people(self, matching: Matching) -> Floats:
        """Give what each person has, in the same numbers."""
        return np.column_stack(
            [self._values(place, column)[column.of_person] for place, column in enumerate(matching.columns)]
        )

    def _cells(self, place: int, column: ColumnMatch) -> Floats:
        words = self.words[place]
        if words is None:
            middle = column.low / 2.0 + column.high / 2.0
            return _single(np.where(np.isfinite(middle), middle, self.middles[place]))
        codes = codes_of(words, column.values)
        fits = column.table(codes).T & (codes >= 0)
        return np.asarray(fits / np.maximum(fits.sum(axis=1, keepdims=True), 1))

    def _values(self, place: int, column: ColumnMatch) -> Floats:
        words = self.words[place]
        if words is None:
            return _single(np.where(np.isfinite(column.at), column.at, self.middles[place]))
        return np.asarray(codes_of(column.values, words)[:, None] == np.arange(len(words)), np.float64)


def _single(numbers: Floats) -> Floats:
    """Give numbers as one feature within what trees can add up: they think in single precision."""
    return np.asarray(np.clip(numbers, -_LARGEST, _LARGEST)[:, None])


def features_of(matching: Matching) -> Features:
    """Decide by the people known which numbers a model sees."""
    numeric = [bool(np.isfinite(column.at).any()) for column in matching.columns]
    return Features(
        words=tuple(
            None if is_number else _frequent(column)
            for is_number, column in zip(numeric, matching.columns, strict=True)
        ),
        middles=tuple(
            float(np.nanmedian(column.at)) if is_number else 0.0
            for is_number, column in zip(numeric, matching.columns, strict=True)
        ),
    )


def _frequent(column: ColumnMatch) -> pl.Series:
    times = np.bincount(column.of_person, minlength=len(column.values))
    return column.values.gather(np.sort(np.argsort(-times, kind="stable")[:_WORDS]))
