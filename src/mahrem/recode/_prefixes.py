"""Common beginnings of codes: ZIP 06100 and 06130 become ``061**``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter, spelled
from mahrem.recode._recoding import class_ends, whole_numbers, word_cells
from mahrem.table import Axis, Cells, Words
from mahrem.table.cells import write_labels, write_prefixes
from mahrem.types import Integers, Labels


@dataclass(frozen=True)
class Prefixes:
    """Show the longest beginning all codes of a class share, ``*`` for each character up to the longest code.

    Args:
        most: Show so many characters at most.

    Guarantees:
        - Every code of a class has the beginning its cell shows; no longer one up to ``most`` would do.
        - A class with one code shows it, if it is no longer than that; one whose codes share nothing shows
          ``*``.
        - A class with missing and present values shows ``*``; one with only missing values shows none.

    References:
        Sweeney: k-anonymity: a model for protecting privacy, 2002 (its ZIP codes).

    Example:
        >>> axis = Axis("zip", np.array([0.0, 1.0, 2.0]), Words(("06100", "06130", "34000"), prefixes=True))
        >>> Prefixes()(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['061**', '34000']
    """

    most: int | None = None

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        if not isinstance(axis.domain, Words) or axis.domain.ordered:
            raise InvalidParameter(
                f"recoding='prefixes' needs codes; pass {spelled('kind', {axis.name: 'code'})}"
            )
        low, high, missing = class_ends(axis, labels, classes)
        empty = np.isnan(low)
        codes = pl.Series(axis.domain.labels, dtype=pl.String)
        if len(codes) == 0:
            nothing = pl.Series([None], dtype=pl.String).new_from_index(0, classes)
            return word_cells(nothing, empty=empty, suppressed=~empty)
        first, last = whole_numbers(low), whole_numbers(high)
        letters = _Letters(codes)
        shared = letters.shared(first, last)
        one = first == last
        if self.most is not None:
            one &= letters.lengths[first] <= self.most
            shared = np.minimum(shared, self.most)
        beginnings = codes.gather(first).str.slice(0, pl.Series(shared)) if classes else codes.clear()
        text = write_prefixes(beginnings, letters.longest).zip_with(
            ~pl.Series(one), write_labels(codes).gather(first)
        )
        return word_cells(text, empty=empty, suppressed=~empty & ((missing > 0) | (~one & (shared == 0))))


class _Letters:
    """All codes, sorted as text, as one run of characters: beginnings of many pairs are compared at once."""

    def __init__(self, codes: pl.Series) -> None:
        self.lengths = codes.str.len_chars().cast(pl.Int64).to_numpy()
        self.longest = int(self.lengths.max())
        self._letters = np.frombuffer("".join(codes.to_list()).encode("utf-32-le"), np.uint32)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])

    def shared(self, first: Integers, last: Integers) -> Integers:
        """How many characters the codes of each pair have in common at their beginning."""
        shared = np.zeros(len(first), np.int64)
        limit = np.minimum(self.lengths[first], self.lengths[last])
        going = np.flatnonzero(limit > 0)
        while len(going):
            at = shared[going]
            same = (
                self._letters[self._starts[first[going]] + at]
                == self._letters[self._starts[last[going]] + at]
            )
            going = going[same]
            shared[going] += 1
            going = going[shared[going] < limit[going]]
        return shared
