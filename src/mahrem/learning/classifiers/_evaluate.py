"""Train on anonymised rows, test on untouched ones: what a release is worth to those who learn from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers._classifiers import CLASSIFIERS, need_learning
from mahrem.learning.classifiers._evaluate_splits import Anonymise, Judged, Published, Splits, Work
from mahrem.learning.classifiers._features import kinds_of
from mahrem.learning.classifiers._scores import FIGURES, Score, Scores
from mahrem.table import Hierarchy, Kind
from mahrem.types import Integers

__all__ = ["DEFAULT_CLASSIFIERS", "Anonymise", "Protocol", "Published", "evaluate", "target_codes"]

Protocol = Literal["untouched", "published"]
DEFAULT_CLASSIFIERS: tuple[str, ...] = ("hist_gradient_boosting", "logistic_regression")
MOST_CLASSES = 50


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
    work = Work(original, codes, given, frozenset(quasi if anonymise else ()), orders, hierarchies)
    check.at_least(1, jobs=check.whole(jobs=jobs))
    cores = threads or (min(2, os.cpu_count() or 1) if jobs == 1 else 1)
    everyone = np.flatnonzero(codes >= 0)
    together = None if anonymise is None or protocol == "untouched" else anonymise(everyone)
    plan = Splits(work, anonymise, together, tuple(names), seed, cores, tune, limits or {})
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


def _score(name: str, found: Sequence[Judged], ratio: float) -> Score:
    return Score(
        classifier=name,
        figures={figure: np.array([one.figures[figure] for one in found]) for figure in FIGURES},
        settings=tuple(one.settings for one in found),
        ratio=ratio,
        seconds=sum(one.seconds for one in found),
    )
