"""Classes that must stay near the table that they make: what is too far goes, and the table changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Mask, Sizes

__all__ = ["ComparedClasses", "possible_classes", "stand_together"]


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
    beyond = 0.0
    for at in range(begin, end):
        usual = table[classes.value[at]]
        beyond += max(classes.share[at] - usual, 0.0)
        if classes.share[at] > (1.0 + classes.gain) * usual:
            return False
    return beyond <= classes.surplus


@inner
def _may_stand(classes: ComparedClasses, table: Floats, share: float, loose: float, place: int) -> bool:
    """Say whether a class may be near enough to a table of which at most a share below 1 will go."""
    begin, end = classes.starts[place], classes.starts[place + 1]
    if begin == end:
        return False
    beyond, away = 0.0, 0.0
    for at in range(begin, end):
        usual = table[classes.value[at]]
        highest = usual / (1.0 - share)
        away += max(classes.share[at] - usual, 0.0)
        beyond += max(classes.share[at] - highest, 0.0)
        if classes.share[at] > (1.0 + classes.gain) * highest + loose:
            return False
    return beyond <= classes.surplus + loose and away <= classes.surplus + share + loose


@inner
def _count(classes: ComparedClasses, times: Floats, place: int, sign: float) -> None:
    for at in range(classes.starts[place], classes.starts[place + 1]):
        times[classes.value[at]] += sign * classes.counts[at]


@inner
def _table(classes: ComparedClasses, left: Mask) -> Floats:
    """Count the values of some classes."""
    times = np.zeros(classes.values)
    for place in range(len(left)):
        if left[place]:
            _count(classes, times, place, 1.0)
    return times


@inner
def _rows(classes: ComparedClasses, left: Mask) -> int:
    rows = 0
    for place in range(len(left)):
        if left[place]:
            rows += classes.sizes[place]
    return rows


@inner
def _thinned(classes: ComparedClasses, left: Mask, fewest: int, parts: int) -> Mask:
    """Take classes away until all that are left stand in the table that they make.

    Each round takes one of so many parts of what is refused, the smallest classes first; with one part all.
    """
    kept = left.copy()
    times, rows = _table(classes, kept), _rows(classes, kept)
    refused = np.empty(len(kept), np.int64)
    while rows > 0 and rows >= fewest:
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
    return kept


@inner
def _admitted_again(classes: ComparedClasses, wanted: Mask, left: Mask) -> Integers:
    """Give refused classes that stand in the table of those that are left, the largest first."""
    times = _table(classes, left)
    table = times / max(1.0, times.sum())
    back = np.empty(len(left), np.int64)
    count = 0
    for place in range(len(left)):
        if wanted[place] and not left[place] and _stands(classes, table, place):
            back[count] = place
            count += 1
    order = np.argsort(-classes.sizes[back[:count]], kind="mergesort")
    return back[:count][order]


@inner
def _grown(classes: ComparedClasses, wanted: Mask, left: Mask, fewest: int) -> Mask:
    """Let refused classes in again, as many as show more rows in the end; where none do, what is left."""
    back, rows = _admitted_again(classes, wanted, left), _rows(classes, left)
    while len(back) > 0:
        tried = left.copy()
        for place in back:
            tried[place] = True
        grown = _thinned(classes, tried, fewest, 1)
        if _rows(classes, grown) > rows:
            return grown
        back = back[: len(back) // 2]
    return left


@kernel
def stand_together(classes: ComparedClasses, wanted: Mask, fewest: int) -> Mask:
    """Give classes that stand in the table that they make; refused ones are let in again where that helps.

    Args:
        classes: What they show.
        wanted: ``(c,)`` those that may be shown; none without rows is.
        fewest: With fewer rows left there is no need to go on.
    """
    left = _thinned(classes, wanted, fewest, 1)
    rows = _rows(classes, left)
    if rows == _rows(classes, wanted):
        return left
    by_halves = _thinned(classes, wanted, fewest, 2)
    if _rows(classes, by_halves) > rows:
        left, rows = by_halves, _rows(classes, by_halves)
    while rows >= fewest:
        left = _grown(classes, wanted, left, fewest)
        shown = _rows(classes, left)
        if shown == rows:
            break
        rows = shown
    return left


@kernel
def possible_classes(classes: ComparedClasses, wanted: Mask, budget: int, loose: float) -> Mask:
    """Say which classes may stand in a table that some of them make, whichever others are taken away.

    Where a share ``s`` of a table may go at most, no share of a value comes above what it is now over
    ``1 - s``, and the table moves by no more than ``s``. Classes too far from that never stand. What they
    leave is a smaller table of which less may go, so that others may be too far from it: until none is.

    Args:
        classes: What they show.
        wanted: ``(c,)`` those that may be shown.
        budget: Rows that may be left out, those of all other classes among them.
        loose: What is allowed for rounding.
    """
    kept = wanted.copy()
    times, rows = _table(classes, kept), _rows(classes, kept)
    spare, going = budget - (classes.sizes.sum() - rows), True
    while going and 0 <= spare < times.sum():
        shown, going = times.sum(), False
        table, share = times / shown, spare / shown
        for place in range(len(kept)):
            if kept[place] and not _may_stand(classes, table, share, loose, place):
                kept[place] = False
                _count(classes, times, place, -1.0)
                spare -= classes.sizes[place]
                going = True
    return kept
