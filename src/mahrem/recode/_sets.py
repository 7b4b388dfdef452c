"""Sets of words: the values a class holds, or the run of ordinals between its lowest and highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter, spelled
from mahrem.recode._recoding import class_ends, whole_numbers, word_cells
from mahrem.table import Axis, Cells, Words
from mahrem.table.cells import write_labels, write_members
from mahrem.types import Integers, Labels, Mask


@dataclass(frozen=True)
class Sets:
    """Show each class's values as a set; ordinals show everything between the lowest and the highest.

    Missing is a member like any other (an empty one, after the rest).

    Guarantees:
        - A set of categories holds exactly the values of the class's rows.
        - A set of ordinals is the shortest run of the declared order that holds them.
        - A class with one value shows it; a class with all values of the domain shows ``*``.

    References:
        LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> axis = Axis("job", np.array([0.0, 2.0, 1.0]), Words(("clerk", "nurse", "smith")))
        >>> Sets()(axis, np.array([0, 0, 1]), 2).text.to_list()
        ['{clerk, smith}', 'nurse']
    """

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:
        """Write one cell for each class."""
        if not isinstance(axis.domain, Words):
            raise InvalidParameter(
                f"recoding='sets' needs words; pass {spelled('kind', {axis.name: 'categorical'})}"
            )
        names = pl.Series(axis.domain.labels, dtype=pl.String)
        if axis.domain.ordered:
            text, values, missing = _runs(axis, names, labels, classes)
        else:
            text, values, missing = _present(axis, names, labels, classes)
        everything = (values == len(names)) & (values + missing > 1)
        return word_cells(text, empty=values == 0, suppressed=everything)


def _present(axis: Axis, names: pl.Series, labels: Labels, classes: int) -> tuple[pl.Series, Integers, Mask]:
    """Write the values that occur in each class; also how many there are and whether some are missing."""
    width = len(names) + 1
    codes = np.where(np.isnan(axis.positions), len(names), axis.positions).astype(np.int64)
    keys = pl.Series("key", labels[labels >= 0] * width + codes[labels >= 0]).unique().sort().to_numpy()
    group, code = np.divmod(keys, width)
    count = np.bincount(group, minlength=classes)
    missing = np.zeros(classes, np.bool_)
    missing[group[code == len(names)]] = True
    first = np.minimum(np.searchsorted(keys, np.arange(classes) * width), max(len(keys) - 1, 0))
    lone = count == 1
    text = _lone(names).gather(code[first]) if len(keys) else _lone(names).new_from_index(len(names), classes)
    several = ~lone[group]
    if several.any():
        members = write_members(_lone(names, quoted=False)).gather(code[several])
        joined = (
            pl.DataFrame({"group": group[several], "member": members})
            .group_by("group", maintain_order=True)
            .agg(pl.col("member").str.join(", "))
        )
        text = text.scatter(joined["group"], "{" + joined["member"] + "}")
    return text, count - missing, missing


def _runs(axis: Axis, names: pl.Series, labels: Labels, classes: int) -> tuple[pl.Series, Integers, Mask]:
    """Write the run of the declared order each class needs; distinct runs are written once."""
    low, high, holes = class_ends(axis, labels, classes)
    empty = np.isnan(low)
    first, last = whole_numbers(low), whole_numbers(high)
    missing = holes > 0
    keys, which = np.unique((first * len(names) + last) * 2 + missing, return_inverse=True)
    members = write_members(names).to_list()
    lone = write_labels(names).to_list()
    texts = []
    for key in keys.tolist():
        (start, end), hole = divmod(key // 2, max(len(names), 1)), key % 2
        run = [*members[start : end + 1], *[""] * hole]
        texts.append("{" + ", ".join(run) + "}" if len(run) > 1 else lone[start] if lone else None)
    text = pl.Series(texts, dtype=pl.String).gather(which)
    return text, np.where(empty, 0, last - first + 1), missing


def _lone(names: pl.Series, *, quoted: bool = True) -> pl.Series:
    """Give the cells of single values; the missing value stands last."""
    return pl.concat([write_labels(names) if quoted else names, pl.Series([None], dtype=pl.String)])
