"""Split after split: anonymise the training rows, encode, train every classifier, judge it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.learning.classifiers._classifiers import train_classifier
from mahrem.learning.classifiers._evaluation_settings import EvaluationSettings
from mahrem.learning.classifiers._features import EncodedFeatures, fit_encoder
from mahrem.learning.classifiers._scores import answer_figures
from mahrem.table import Hierarchy, Kind
from mahrem.table.cells import write_labels
from mahrem.types import Floats, Integers
from mahrem.words import Note


@dataclass(frozen=True)
class PublishedRows:
    """What an anonymiser made of some rows: the rows it shows, and which of the given ones they are."""

    frame: pl.DataFrame = field(repr=False)  # (m rows) quasi-identifiers as cells, other columns as they are
    rows: Integers = field(repr=False)  # (m,) numbers in the original; dropped and hidden rows are not there
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)  # whose nodes the cells show


Anonymise = Callable[[Integers], PublishedRows]  # called with numbers of rows of the original


@dataclass(frozen=True)
class EvaluatedTable:
    """The table, and how its columns are read."""

    original: pl.DataFrame
    codes: Integers
    kinds: Mapping[str, Kind]
    quasi: frozenset[str]
    orders: Mapping[str, Sequence[str]] | None

    def untouched(self, rows: Integers) -> pl.DataFrame:
        """Give rows as they are, words written as cells."""
        return self._as_cells(self.original[rows], frozenset())

    def shown(self, published: PublishedRows) -> pl.DataFrame:
        """Give published rows, words of other columns written as cells."""
        check.columns_exist(self.kinds, published.frame.columns)
        if published.frame.height != len(published.rows):
            raise InvalidInput(
                f"published.rows={len(published.rows)} must be as many as the rows of its frame"
            )
        return self._as_cells(published.frame, self.quasi)

    def _as_cells(self, frame: pl.DataFrame, cells: frozenset[str]) -> pl.DataFrame:
        words = [
            name
            for name, kind in self.kinds.items()
            if name not in cells and kind not in {Kind.NUMERIC, Kind.DATE}
        ]
        return frame.select(list(self.kinds)).with_columns(
            write_labels(frame[name].cast(pl.String)) for name in words
        )

    def encoded(
        self, train: pl.DataFrame, test: pl.DataFrame, trees: Mapping[str, Hierarchy]
    ) -> tuple[EncodedFeatures, EncodedFeatures]:
        encode = fit_encoder(train, self.kinds, orders=self.orders, hierarchies=trees)
        return encode(train), encode(test)


@dataclass(frozen=True)
class EncodedSplit:
    """One split, ready for every classifier."""

    train: Floats
    test: Floats
    amounts: int
    train_target: Integers
    test_target: Integers
    classes: int


def _split_of(
    table: EvaluatedTable,
    features: tuple[EncodedFeatures, EncodedFeatures],
    learnt: Integers,
    asked: Integers,
    *,
    widths: bool,
) -> EncodedSplit:
    stacked = [
        np.hstack([part.amounts, *([part.widths] if widths else []), part.shares]) for part in features
    ]
    if len(np.unique(table.codes[learnt])) < 2:
        raise InvalidInput("published rows show fewer than two values of the target: nothing can be learnt")
    amounts = features[0].amounts.shape[1] * (1 + widths)
    return EncodedSplit(
        stacked[0], stacked[1], amounts, table.codes[learnt], table.codes[asked], int(table.codes.max()) + 1
    )


@dataclass(frozen=True)
class SplitScore:
    """One classifier in one split."""

    figures: Mapping[str, float]
    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class SplitScores:
    """All classifiers in one split."""

    by_name: Mapping[str, SplitScore]
    ratio: float  # test rows over training rows


@dataclass(frozen=True)
class Splits:
    """What is done in every split; splits do not know each other, so they can be done in any process."""

    table: EvaluatedTable
    anonymise: Anonymise | None
    together: PublishedRows | None  # all rows anonymised at once: the published protocol
    settings: EvaluationSettings

    def scores(self, pool: Integers, progress: Callable[[str], None] | None) -> Iterator[SplitScores]:
        """Draw the splits and judge every classifier in each."""
        from sklearn.model_selection import StratifiedShuffleSplit

        chosen = self.settings
        draw = StratifiedShuffleSplit(chosen.splits, test_size=chosen.test, random_state=chosen.seed)
        parts = enumerate(draw.split(pool, self.table.codes[pool]))
        if chosen.jobs == 1:
            for number, (learnt, asked) in parts:
                yield self._split(number, pool, learnt, asked, progress)
            return
        from joblib import Parallel, delayed

        calls = (delayed(self._split)(number, pool, learnt, asked, None) for number, (learnt, asked) in parts)
        for number, scores in enumerate(Parallel(n_jobs=chosen.jobs, return_as="generator")(calls)):
            if progress is not None:
                progress(Note("stage.split", {"number": number + 1, "splits": chosen.splits}))
            yield scores

    def _split(
        self,
        number: int,
        pool: Integers,
        learnt: Integers,
        asked: Integers,
        progress: Callable[[str], None] | None,
    ) -> SplitScores:
        split = self._encoded(pool, learnt, asked)
        scores = {}
        for name in self.settings.names:
            if progress is not None:
                split_of = {"name": name, "number": number + 1, "splits": self.settings.splits}
                progress(Note("stage.split_of", split_of))
            scores[name] = self._score(name, split, number)
        return SplitScores(scores, len(split.test) / len(split.train))

    def _encoded(self, pool: Integers, learnt: Integers, asked: Integers) -> EncodedSplit:
        table = self.table
        if self.together is not None:
            cells = table.shown(self.together)
            features = table.encoded(cells[learnt], cells[asked], self.together.hierarchies)
            return _split_of(table, features, pool[learnt], pool[asked], widths=True)
        published = None if self.anonymise is None else self.anonymise(pool[learnt])
        rows = pool[learnt] if published is None else published.rows
        shown = table.untouched(rows) if published is None else table.shown(published)
        trees = {} if published is None else published.hierarchies
        features = table.encoded(shown, table.untouched(pool[asked]), trees)
        return _split_of(table, features, rows, pool[asked], widths=False)

    def _score(self, name: str, split: EncodedSplit, number: int) -> SplitScore:
        began, chosen = time.perf_counter(), self.settings
        rows = np.arange(len(split.train))
        if name in chosen.limits:
            drawn = np.random.default_rng(chosen.seed + number).permutation(rows)[: chosen.limits[name]]
            rows = np.sort(drawn)
        fitted = train_classifier(
            name,
            split.train[rows],
            split.amounts,
            split.train_target[rows],
            seed=chosen.seed + number,
            threads=chosen.cores,
            tune=chosen.tune,
        )
        scores = fitted.scores(split.test, split.classes)
        figures = answer_figures(split.test_target, fitted.predict(split.test), scores)
        return SplitScore(figures, fitted.settings, time.perf_counter() - began)
