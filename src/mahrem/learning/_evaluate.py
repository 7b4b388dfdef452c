"""Train on anonymised rows, test on untouched ones: what a release is worth to those who learn from it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning._classifiers import CLASSIFIERS, need_learning, train
from mahrem.learning._features import Features, fit_encoder, kinds_of
from mahrem.learning._scores import FIGURES, Score, Scores, judged
from mahrem.table import Hierarchy, Kind, write_labels
from mahrem.types import Floats, Integers

__all__ = ["DEFAULT_CLASSIFIERS", "Anonymise", "Protocol", "Published", "evaluate", "target_codes"]

Protocol = Literal["untouched", "published"]
DEFAULT_CLASSIFIERS = ("hist_gradient_boosting", "logistic_regression")
MOST_CLASSES = 50


@dataclass(frozen=True)
class Published:
    """What an anonymiser made of some rows: the rows it shows, and which of the given ones they are."""

    frame: pl.DataFrame = field(repr=False)  # (m rows) quasi-identifiers as cells, other columns as they are
    rows: Integers = field(repr=False)  # (m,) numbers in the original; dropped and hidden rows are not there
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)  # whose nodes the cells show


Anonymise = Callable[[Integers], Published]  # called with numbers of rows of the original


def evaluate(
    original: pl.DataFrame,
    *,
    target: str,
    anonymise: Anonymise | None = None,
    quasi: Sequence[str] = (),
    classifiers: Sequence[str] = DEFAULT_CLASSIFIERS,
    protocol: Protocol = "untouched",
    splits: int = 5,
    test: float = 0.3,
    seed: int = 0,
    tune: bool = True,
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    threads: int | None = None,
    jobs: int = 1,
    limits: Mapping[str, int] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """Measure how well classifiers predict a target when they learn from anonymised rows.

    ``untouched``, the default, is how a release is used: in each split the training rows alone are
    anonymised and the classifier is asked about rows nobody touched. ``published`` is what most papers do:
    all rows are anonymised together, then split, and the test rows are anonymised as well; rows of one class
    then stand on both sides. Widths of intervals are features only there: an untouched row has none, so
    what a classifier learns from them could only mislead it.

    Args:
        original: The table; every column but the target (and those ``kinds`` leaves out) is a feature.
        target: The column to predict; rows without it are left out.
        anonymise: Makes published rows of numbered rows; None trains on the original.
        quasi: Columns that ``anonymise`` rewrites as cells.
        classifiers: Names of :data:`CLASSIFIERS`.
        protocol: ``untouched`` or ``published``.
        splits: Repeated stratified splits.
        test: Share of the rows that are tested.
        seed: Of splits and classifiers; the same seed gives the same splits whatever the anonymiser.
        tune: Choose settings by cross-validation inside the training rows.
        kinds: What the columns are; by default judged by all values of the original.
        orders: Orders of ordinal columns.
        hierarchies: Trees of columns that show nodes, where ``anonymise`` does not give them.
        threads: Cores one training may use; by default at most two, with several jobs one.
        jobs: Splits that are worked on at once, each in a process of its own.
        limits: For slow classifiers, how many of the training rows they see at most, drawn at random.
        progress: Called with a sentence before each training; with several jobs after each split.

    Guarantees:
        - No test row is seen by the anonymiser (``untouched``), the encoder, the scaling or the tuning.
        - The same seed gives the same figures, however many threads and jobs there are.

    Raises:
        InvalidParameter: If the target is a quasi-identifier, has one value, or is no set of classes.
        MissingExtra: If scikit-learn is not installed.

    References:
        Saleh: automatic generalisation for k-anonymity and its effect on classifiers (``published``).

    Example:
        >>> rows = pl.DataFrame({"age": list(range(40)), "old": ["n"] * 20 + ["y"] * 20})
        >>> evaluate(rows, target="old", classifiers=["gaussian_nb"], splits=2)["gaussian_nb"].mean("auc")
        1.0
    """
    need_learning()
    check.one_of(get_args(Protocol), protocol=protocol)
    check.at_least(1, splits=check.whole(splits=splits))
    names = list(dict.fromkeys(check.one_of(tuple(CLASSIFIERS), classifier=name) for name in classifiers))
    if not names:
        raise InvalidParameter("classifiers=[] must name at least one classifier")
    codes = target_codes(original, target, quasi)
    given = kinds or kinds_of(original, [name for name in original.columns if name != target])
    given = {name: kind for name, kind in given.items() if name != target}
    work = _Work(original, codes, given, frozenset(quasi if anonymise else ()), orders, hierarchies)
    check.at_least(1, jobs=check.whole(jobs=jobs))
    cores = threads or (min(2, os.cpu_count() or 1) if jobs == 1 else 1)
    everyone = np.flatnonzero(codes >= 0)
    together = None if anonymise is None or protocol == "untouched" else anonymise(everyone)
    plan = _Plan(work, anonymise, together, tuple(names), seed, cores, tune, limits or {})
    pool = everyone if together is None else together.rows
    found = list(plan.judged(pool, splits, check.between(0.01, 0.99, test=test), jobs, progress))
    scores = {name: _score(name, [one.by_name[name] for one in found], found[-1].ratio) for name in names}
    return Scores(target=target, protocol=protocol, splits=splits, by_classifier=scores)


def target_codes(original: pl.DataFrame, target: str, quasi: Sequence[str] = ()) -> Integers:
    """Number the values of a target, -1 where it is missing; refuse one that cannot be learnt."""
    check.columns_exist([target], original.columns)
    if target in quasi:
        raise InvalidParameter(
            f"target={target!r} must not be a quasi-identifier: what is predicted would be rewritten"
        )
    series = original[target]
    distinct = series.drop_nulls().unique().sort()
    if len(distinct) < 2:
        raise InvalidParameter(f"target={target!r} has {len(distinct)} value; two are needed to tell apart")
    if len(distinct) > MOST_CLASSES:
        raise InvalidParameter(
            f"target={target!r} has {len(distinct)} values; at most {MOST_CLASSES} can be told apart: group "
            "them"
        )
    codes: Integers = (series.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()
    rare = int(np.bincount(codes[codes >= 0]).min())
    if rare < 4:
        raise InvalidParameter(
            f"target={target!r}: its rarest value has {rare} rows; 4 are needed to split them: group values"
        )
    return codes


@dataclass(frozen=True)
class _Work:
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
class _Round:
    """One split, ready for every classifier."""

    train: Floats
    test: Floats
    amounts: int
    train_target: Integers
    test_target: Integers
    classes: int


def _round(
    work: _Work, features: tuple[Features, Features], learnt: Integers, asked: Integers, *, widths: bool
) -> _Round:
    stacked = [
        np.hstack([part.amounts, *([part.widths] if widths else []), part.shares]) for part in features
    ]
    if len(np.unique(work.codes[learnt])) < 2:
        raise InvalidInput("published rows show fewer than two values of the target: nothing can be learnt")
    amounts = features[0].amounts.shape[1] * (1 + widths)
    return _Round(
        stacked[0], stacked[1], amounts, work.codes[learnt], work.codes[asked], int(work.codes.max()) + 1
    )


@dataclass(frozen=True)
class _Judged:
    """One classifier in one split."""

    figures: Mapping[str, float]
    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class _Found:
    """All classifiers in one split."""

    by_name: Mapping[str, _Judged]
    ratio: float  # test rows over training rows


@dataclass(frozen=True)
class _Plan:
    """What is done in every split; splits do not know each other, so they can be done in any process."""

    work: _Work
    anonymise: Anonymise | None
    together: Published | None  # all rows anonymised at once: the published protocol
    names: tuple[str, ...]
    seed: int
    threads: int
    tune: bool
    limits: Mapping[str, int]

    def judged(
        self, pool: Integers, splits: int, test: float, jobs: int, progress: Callable[[str], None] | None
    ) -> Iterator[_Found]:
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
    ) -> _Found:
        one = self._round(pool, learnt, asked)
        found = {}
        for name in self.names:
            if progress is not None:
                progress(f"{name}: split {number + 1} of {splits}")
            found[name] = self._judge(name, one, number)
        return _Found(found, len(one.test) / len(one.train))

    def _round(self, pool: Integers, learnt: Integers, asked: Integers) -> _Round:
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

    def _judge(self, name: str, one: _Round, number: int) -> _Judged:
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
        return _Judged(figures, fitted.settings, time.perf_counter() - began)


def _score(name: str, found: Sequence[_Judged], ratio: float) -> Score:
    return Score(
        classifier=name,
        figures={figure: np.array([one.figures[figure] for one in found]) for figure in FIGURES},
        settings=tuple(one.settings for one in found),
        ratio=ratio,
        seconds=sum(one.seconds for one in found),
    )
