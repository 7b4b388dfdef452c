"""Train on anonymised rows, test on untouched ones: what a release is worth to those who learn from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers._classifiers import need_learning
from mahrem.learning.classifiers._evaluate_splits import (
    Anonymise,
    EvaluatedTable,
    Splits,
    SplitScore,
)
from mahrem.learning.classifiers._evaluation_settings import EvaluationSettings
from mahrem.learning.classifiers._features import kinds_of
from mahrem.learning.classifiers._scores import FIGURES, Score, Scores
from mahrem.table import Kind
from mahrem.types import Integers

MOST_CLASSES = 50


def evaluate(
    original: pl.DataFrame,
    *,
    target: str,
    anonymise: Anonymise | None = None,
    quasi: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    settings: EvaluationSettings | None = None,
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
        kinds: What the columns are; by default judged by all values of the original.
        orders: Orders of ordinal columns.
        settings: Classifiers, splits and how they are trained.
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
        >>> quick = EvaluationSettings(classifiers=["gaussian_nb"], splits=2)
        >>> evaluate(rows, target="old", settings=quick)["gaussian_nb"].mean("auc")
        1.0
    """
    need_learning()
    chosen = settings or EvaluationSettings()
    codes = target_codes(original, target, quasi)
    given = kinds or kinds_of(original, [name for name in original.columns if name != target])
    given = {name: kind for name, kind in given.items() if name != target}
    table = EvaluatedTable(original, codes, given, frozenset(quasi if anonymise else ()), orders)
    everyone = np.flatnonzero(codes >= 0)
    together = None if anonymise is None or chosen.protocol == "untouched" else anonymise(everyone)
    splits = Splits(table, anonymise, together, chosen)
    scored = list(splits.scores(everyone if together is None else together.rows, progress))
    by_classifier = {
        name: _score(name, [split.by_name[name] for split in scored], scored[-1].ratio)
        for name in chosen.names
    }
    return Scores(target=target, protocol=chosen.protocol, splits=chosen.splits, by_classifier=by_classifier)


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


def _score(name: str, scored: Sequence[SplitScore], ratio: float) -> Score:
    return Score(
        classifier=name,
        figures={figure: np.array([split.figures[figure] for split in scored]) for figure in FIGURES},
        settings=tuple(split.settings for split in scored),
        ratio=ratio,
        seconds=sum(split.seconds for split in scored),
    )
