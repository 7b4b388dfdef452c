"""Numbers into bins, for classifiers that want categories: by rank, by width, or by what a class says."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.learning._estimator import Transformer, given_classes
from mahrem.types import Floats, Integers

Encoding = Literal["text", "ordinal"]


class _Bins(Transformer):
    """Learns cuts for each column of numbers; other columns pass as they are."""

    columns: Sequence[str] | None
    encode: Encoding

    @abstractmethod
    def _cuts(self, values: Floats, target: Integers | None) -> Floats: ...

    def fit(self, X: object, y: object = None) -> Self:
        """Learn where each column of numbers is cut."""
        if self.encode not in ("text", "ordinal"):
            raise InvalidParameter(f"encode={self.encode!r} must be text or ordinal")
        frame = self.learn_features(X)
        target = None if y is None else np.unique(given_classes(y, frame.height), return_inverse=True)[1]
        self.cuts_: dict[str, Floats] = {}
        for name in self._chosen(frame):
            values = frame[name].cast(pl.Float64).to_numpy()
            there = np.isfinite(values)
            known = None if target is None else target[there].astype(np.int64)
            self.cuts_[name] = self._cuts(values[there], known)
        return self

    def transform(self, X: object) -> Any:
        """Give the rows with bins as text: ``< 30``, ``30 .. 45`` (30 inside, 45 not), ``>= 45``.

        With ``encode="ordinal"`` a bin is its number, from 0, and a missing number stays missing.
        """
        frame = self.refuse_other_features(X)
        put = put_into_bins if self.encode == "text" else number_bins
        binned = frame.with_columns(put(frame[name], cuts) for name, cuts in self.cuts_.items())
        return self._as_asked(binned, X)

    def fit_transform(self, X: object, y: object = None) -> Any:
        """Learn and transform the same rows."""
        return self.fit(X, y).transform(X)

    def _chosen(self, frame: pl.DataFrame) -> list[str]:
        if self.columns is None:
            return [name for name, kind in frame.schema.items() if kind.is_numeric()]
        for name in self.columns:
            if name not in frame.columns:
                raise ColumnNotFound(name, frame.columns)
            if not frame.schema[name].is_numeric():
                raise InvalidInput(f"column={name!r} must hold numbers to be binned")
        return list(self.columns)


@dataclass(eq=False)  # one estimator is another, as scikit-learn wants it
class QuantileBins(_Bins):
    """Bins with about equally many rows; equal values share one, so there may be fewer.

    Example:
        >>> QuantileBins(bins=2).fit_transform(pl.DataFrame({"age": [1, 2, 3, 4]}))["age"].to_list()
        ['< 3', '< 3', '>= 3', '>= 3']
    """

    bins: int = 5
    columns: Sequence[str] | None = None
    encode: Encoding = "text"

    def _cuts(self, values: Floats, target: Integers | None) -> Floats:  # noqa: ARG002 - classes do not matter here
        bins = int(check.at_least(2, bins=check.whole(bins=self.bins)))
        if len(values) == 0:
            return np.empty(0)
        cuts = np.unique(np.quantile(values, np.arange(1, bins) / bins, method="higher"))
        kept: Floats = cuts[cuts > values.min()]
        return kept


@dataclass(eq=False)  # one estimator is another, as scikit-learn wants it
class EqualWidthBins(_Bins):
    """Bins of equal width from the least to the greatest number.

    Example:
        >>> EqualWidthBins(bins=2).fit_transform(pl.DataFrame({"age": [0, 1, 10]}))["age"].to_list()
        ['< 5', '< 5', '>= 5']
    """

    bins: int = 5
    columns: Sequence[str] | None = None
    encode: Encoding = "text"

    def _cuts(self, values: Floats, target: Integers | None) -> Floats:  # noqa: ARG002 - classes do not matter here
        bins = int(check.at_least(2, bins=check.whole(bins=self.bins)))
        if len(values) == 0 or values.min() == values.max():
            return np.empty(0)
        return np.linspace(values.min(), values.max(), bins + 1)[1:-1]


@dataclass(eq=False)  # one estimator is another, as scikit-learn wants it
class SupervisedBins(_Bins):
    """Bins by what they say about the class (:func:`supervised_cuts`); a column that says nothing is one bin.

    Example:
        >>> ages = pl.DataFrame({"age": list(range(20))})
        >>> SupervisedBins().fit(ages, [0] * 12 + [1] * 8).cuts_["age"].tolist()
        [11.5]
    """

    columns: Sequence[str] | None = None
    encode: Encoding = "text"

    def _cuts(self, values: Floats, target: Integers | None) -> Floats:
        if target is None:
            raise InvalidParameter("y=None: supervised bins need the classes")
        return supervised_cuts(values, target)


def supervised_cuts(values: Floats, target: Integers) -> Floats:
    """Cut numbers where the classes' entropy falls most, as long as the description gets shorter (MDLP).

    Args:
        values: ``(n,)`` numbers.
        target: ``(n,)`` classes as codes from 0.

    Guarantees:
        - Cuts rise and lie half way between two neighbouring values.

    References:
        Fayyad, Irani: Multi-interval discretization of continuous-valued attributes, 1993.
    """
    if len(values) == 0:
        return np.empty(0)
    distinct, place = np.unique(values, return_inverse=True)
    classes = int(target.max()) + 1
    table = np.bincount(place * classes + target, minlength=len(distinct) * classes)
    before = np.concatenate([np.zeros((1, classes)), np.cumsum(table.reshape(-1, classes), axis=0)])
    cuts: list[int] = []
    waiting = [(0, len(distinct))]
    while waiting:
        first, last = waiting.pop()
        cut = _best_cut(before[first : last + 1] - before[first])
        if cut is not None:
            cuts.append(first + cut)
            waiting += [(first, first + cut), (first + cut, last)]
    at = np.array(sorted(cuts), np.int64)
    return distinct[at - 1] / 2 + distinct[at] / 2


def _best_cut(before: Floats) -> int | None:
    """Give the cut of a run of values that pays, by counts before each value; None if none does."""
    if len(before) < 3:
        return None
    whole, left = before[-1], before[1:-1]
    right = whole - left
    rows = whole.sum()
    left_rows, right_rows = left.sum(axis=1), right.sum(axis=1)
    left_bits, right_bits, bits = _entropy(left), _entropy(right), float(_entropy(whole[None])[0])
    mixed = (left_rows * left_bits + right_rows * right_bits) / rows
    best = int(mixed.argmin())
    kinds, left_kinds, right_kinds = ((part > 0).sum() for part in (whole, left[best], right[best]))
    saved = kinds * bits - left_kinds * left_bits[best] - right_kinds * right_bits[best]
    choices = kinds * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0**-kinds)  # log2(3^kinds - 2), also of many kinds
    price = (np.log2(rows - 1) + choices - saved) / rows
    return best + 1 if bits - mixed[best] > price else None


def _entropy(counts: Floats) -> Floats:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    entropy: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return entropy


def put_into_bins(series: pl.Series, cuts: Floats) -> pl.Series:
    """Give a column of numbers as text: the bin of each, and nothing where there is no number."""
    values = series.cast(pl.Float64).to_numpy()
    ends = [_short(cut) for cut in cuts]
    names = ["any"] if not ends else [f"< {ends[0]}"]
    names += [f"{low} .. {high}" for low, high in itertools.pairwise(ends)]
    names += [f">= {ends[-1]}"] if ends else []
    place = np.searchsorted(cuts, np.nan_to_num(values, nan=0.0), side="right")
    text = pl.Series(series.name, names, dtype=pl.String).gather(place)
    return text.set(pl.Series(np.isnan(values)), None)


def number_bins(series: pl.Series, cuts: Floats) -> pl.Series:
    """Give the number of each value's bin, from 0; a missing value has none."""
    values = series.cast(pl.Float64).to_numpy()
    place = np.searchsorted(cuts, np.nan_to_num(values, nan=0.0), side="right").astype(np.float64)
    return pl.Series(series.name, np.where(np.isnan(values), np.nan, place))


def _short(number: float) -> str:
    return f"{number:.12g}"
