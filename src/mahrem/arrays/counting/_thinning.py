"""Classes that must stay near the table that they make: what is too far goes, and the table changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Mask, Sizes

__all__ = ["ComparedClasses", "thin_classes"]


class ComparedClasses(NamedTuple):
    """What classes show of one column, and how far from the table's shares theirs may lie."""

    sizes: Sizes  # (c,) rows
    starts: Integers  # (c + 1,) where the triplets of each class begin
    value: Integers  # (t,)
    counts: Integers  # (t,)
    share: Floats  # (t,) of the value in its class
    values: int  # how many there are
    surplus: float  # what all values together may have too much of at most
    gain: float  # by what part of its share in the table a value may gain


@inner
def _stands(classes: ComparedClasses, table: Floats, place: int) -> bool:
    """Say whether a class is near enough to a table; one that shows no value is not."""
    begin, end = classes.starts[place], classes.starts[place + 1]
    if begin == end:
        return False
    surplus = 0.0
    for at in range(begin, end):
        usual = table[classes.value[at]]
        surplus += max(classes.share[at] - usual, 0.0)
        if classes.share[at] / usual - 1.0 > classes.gain:
            return False
    return surplus <= classes.surplus


@inner
def _count(classes: ComparedClasses, times: Floats, place: int, sign: float) -> None:
    for at in range(classes.starts[place], classes.starts[place + 1]):
        times[classes.value[at]] += sign * classes.counts[at]


@kernel
def thin_classes(classes: ComparedClasses, left: Mask, fewest: int, parts: int) -> Mask:
    """Take classes away until all that are left stand in the table that they make.

    Args:
        classes: What they show.
        left: ``(c,)`` those to begin with.
        fewest: With fewer rows left there is no need to go on.
        parts: Each round takes one of so many parts of what is refused, the smallest classes first; 1: all.
    """
    kept = left.copy()
    times = np.zeros(classes.values)
    rows, some = 0, 0
    for place in range(len(kept)):
        if kept[place]:
            _count(classes, times, place, 1.0)
            rows += classes.sizes[place]
            some += 1
    refused = np.empty(len(kept), np.int64)
    while some > 0 and rows >= fewest:
        table = times / max(1.0, times.sum())
        count = 0
        for place in range(len(kept)):
            if kept[place] and not _stands(classes, table, place):
                refused[count] = place
                count += 1
        if count == 0:
            break
        going = refused[:count]
        if parts > 1:
            order = np.argsort(classes.sizes[going], kind="mergesort")
            going = going[order][: -(-count // parts)]
        for place in going:
            kept[place] = False
            _count(classes, times, place, -1.0)
            rows -= classes.sizes[place]
            some -= 1
    return kept
