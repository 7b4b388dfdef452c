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
from mahrem.learning.classifiers._classifiers import train
from mahrem.learning.classifiers._features import Features, fit_encoder
from mahrem.learning.classifiers._scores import judged
from mahrem.table import Hierarchy, Kind, write_labels
from mahrem.types import Floats, Integers

__all__ = ["Anonymise", "Judged", "Published", "Splits", "Work"]


@dataclass(frozen=True)
class Published:
    """What an anonymiser made of some rows: the rows it shows, and which of the given ones they are."""

    frame: pl.DataFrame = field(repr=False)  # (m rows) quasi-identifiers as cells, other columns as they are
    rows: Integers = field(repr=False)  # (m,) numbers in the original; dropped and hidden rows are not there
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)  # whose nodes the cells show


Anonymise = Callable[[Integers], Published]  # called with numbers of rows of the original


@dataclass(frozen=True)
class Work:
    """The table, and how its columns are read."""

    original: pl.DataFrame
    codes: Integers
    kinds: Mapping[str, Kind]
    quasi: frozenset[str]
    orders: Mapping[str, Sequence[str]] | None
    hierarchies: Mapping[str, Hierarchy] | None

    def untouched(self, rows: Integers) -> pl.DataFrame:
        """Give rows as they are, words written as cells."""
        return self._as_cells(self.original[rows], frozenset())

    def shown(self, published: Published) -> pl.DataFrame:
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
    ) -> tuple[Features, Features]:
        encode = fit_encoder(
            train, self.kinds, orders=self.orders, hierarchies={**(self.hierarchies or {}), **trees}
        )
        return encode(train), encode(test)


@dataclass(frozen=True)
class Round:
    """One split, ready for every classifier."""

    train: Floats
    test: Floats
    amounts: int
    train_target: Integers
    test_target: Integers
    classes: int


def _round(
    work: Work, features: tuple[Features, Features], learnt: Integers, asked: Integers, *, widths: bool
) -> Round:
    stacked = [
        np.hstack([part.amounts, *([part.widths] if widths else []), part.shares]) for part in features
    ]
    if len(np.unique(work.codes[learnt])) < 2:
        raise InvalidInput("published rows show fewer than two values of the target: nothing can be learnt")
    amounts = features[0].amounts.shape[1] * (1 + widths)
    return Round(
        stacked[0], stacked[1], amounts, work.codes[learnt], work.codes[asked], int(work.codes.max()) + 1
    )


@dataclass(frozen=True)
class Judged:
    """One classifier in one split."""

    figures: Mapping[str, float]
    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Found:
    """All classifiers in one split."""

    by_name: Mapping[str, Judged]
    ratio: float  # test rows over training rows


@dataclass(frozen=True)
class Splits:
    """What is done in every split; splits do not know each other, so they can be done in any process."""

    work: Work
    anonymise: Anonymise | None
    together: Published | None  # all rows anonymised at once: the published protocol
    names: tuple[str, ...]
    seed: int
    threads: int
    tune: bool
    limits: Mapping[str, int]

    def judged(
        self, pool: Integers, splits: int, test: float, jobs: int, progress: Callable[[str], None] | None
    ) -> Iterator[Found]:
        """Draw the splits and judge every classifier in each."""
        from sklearn.model_selection import StratifiedShuffleSplit

        draw = StratifiedShuffleSplit(splits, test_size=test, random_state=self.seed)
        parts = enumerate(draw.split(pool, self.work.codes[pool]))
        if jobs == 1:
            for number, (learnt, asked) in parts:
                yield self._split(number, pool, learnt, asked, splits, progress)
            return
        from joblib import Parallel, delayed

        calls = (
            delayed(self._split)(number, pool, learnt, asked, splits, None)
            for number, (learnt, asked) in parts
        )
        for number, one in enumerate(Parallel(n_jobs=jobs, return_as="generator")(calls)):
            if progress is not None:
                progress(f"split {number + 1} of {splits}")
            yield one

    def _split(
        self,
        number: int,
        pool: Integers,
        learnt: Integers,
        asked: Integers,
        splits: int,
        progress: Callable[[str], None] | None,
    ) -> Found:
        one = self._round(pool, learnt, asked)
        found = {}
        for name in self.names:
            if progress is not None:
                progress(f"{name}: split {number + 1} of {splits}")
            found[name] = self._judge(name, one, number)
        return Found(found, len(one.test) / len(one.train))

    def _round(self, pool: Integers, learnt: Integers, asked: Integers) -> Round:
        work = self.work
        if self.together is not None:
            cells = work.shown(self.together)
            features = work.encoded(cells[learnt], cells[asked], self.together.hierarchies)
            return _round(work, features, pool[learnt], pool[asked], widths=True)
        made = None if self.anonymise is None else self.anonymise(pool[learnt])
        rows = pool[learnt] if made is None else made.rows
        shown = work.untouched(rows) if made is None else work.shown(made)
        features = work.encoded(shown, work.untouched(pool[asked]), made.hierarchies if made else {})
        return _round(work, features, rows, pool[asked], widths=False)

    def _judge(self, name: str, one: Round, number: int) -> Judged:
        began = time.perf_counter()
        rows = np.arange(len(one.train))
        if name in self.limits:
            drawn = np.random.default_rng(self.seed + number).permutation(rows)[: self.limits[name]]
            rows = np.sort(drawn)
        fitted = train(
            name,
            one.train[rows],
            one.amounts,
            one.train_target[rows],
            seed=self.seed + number,
            threads=self.threads,
            tune=self.tune,
        )
        figures = judged(one.test_target, fitted.predict(one.test), fitted.scores(one.test, one.classes))
        return Judged(figures, fitted.settings, time.perf_counter() - began)
