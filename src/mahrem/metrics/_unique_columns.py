"""Which sets of columns single people out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.metrics._subsets import distinct_rows, walk_subsets
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class UniqueColumns:
    """Smallest sets of columns, by place, in which enough rows stand alone."""

    minimal: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]  # share of rows alone in each of them
    everything: float  # share of rows alone in all columns together
    looked_at: int  # sets of columns
    complete: bool  # False: time was up or ``most`` was reached; larger sets may be missing


def unique_columns(
    codes: Integers, *, share: float = 1.0, most: int | None = None, seconds: float | None = None
) -> UniqueColumns:
    """Find the smallest sets of columns in which at least ``share`` of the rows stand alone.

    With ``share=1`` these are the keys of the table (minimal unique column combinations). A superset of one
    that suffices suffices too and is not looked at; if all columns together do not, nothing does.

    Args:
        codes: ``(n, d)`` whole numbers, equal where values are equal.
        share: Which share of rows must stand alone, above 0.
        most: The largest sets looked at; all if None.
        seconds: When to stop with what was found.

    Guarantees:
        - Every set given suffices, and none of its subsets does.
        - If ``complete``, every set that suffices contains one given.

    References:
        Heise, Quiané-Ruiz, Abedjan, Jentzsch, Naumann: Scalable discovery of unique column
        combinations, 2013.

    Example:
        >>> keys = unique_columns(np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]))
        >>> keys.minimal, keys.complete
        (((0, 1),), True)
    """
    check.between(0, 1, share=share)
    if share == 0.0:
        raise InvalidParameter("share=0.0 must be above 0: no column at all would do")
    if most is not None:
        check.at_least(1, most=check.whole(most=most))
    rows = distinct_rows(codes)
    total = int(rows.times.sum())
    alone = int(np.count_nonzero(rows.times == 1))
    if not total or alone < share * total:
        return UniqueColumns(
            minimal=(), shares=(), everything=alone / max(total, 1), looked_at=1, complete=True
        )
    sufficient: dict[tuple[int, ...], float] = {}

    def skip(subset: tuple[int, ...]) -> bool:
        return any(set(smaller) <= set(subset) for smaller in sufficient)

    looked_at, complete = 1, most is None or most >= len(rows.choices)
    for subset in walk_subsets(rows, most=most, seconds=seconds, skip=skip):
        if not subset.complete:
            complete = False
            break
        looked_at += 1
        if subset.alone >= share * total:
            sufficient[subset.columns] = subset.alone / total
    return UniqueColumns(
        minimal=tuple(sufficient),
        shares=tuple(sufficient.values()),
        everything=alone / total,
        looked_at=looked_at,
        complete=complete,
    )
