"""Hide cells until every combination of some key sets is frequent enough, read either way.

What a hidden cell is taken for decides what is counted. Read as a value of its own, rows are alike that show
the same: k then hides everybody among k, whatever an attacker knows. Read as equal to every value, as
sdcMicro does, a row is counted with all rows it could be: fewer cells are hidden, and less is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.arrays.counting import number_equal
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import KAnonymity
from mahrem.partition.hiding._hidden_cells import Coded, HiddenMask, hidden_cells, hide_least, masks_by_cost
from mahrem.partition.judging import Admission
from mahrem.types import Floats, Integers, Mask, Rows

HIDDEN = -2  # the code of a cell that is hidden
_ROUNDS = 100
_LOOKS = 4e9  # cells compared at most to show some again: up to about twenty seconds


@dataclass(frozen=True)
class KeySet:
    """Columns that somebody may know together, and among how many rows each row must hide by them."""

    columns: tuple[int, ...]
    k: int

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidParameter("a key set must name at least one column")
        if self.k < 1:
            raise InvalidParameter(f"k={self.k} of a key set must be at least 1")


def hide_for_sets(codes: Coded, sets: Sequence[KeySet], prices: Floats, *, matching: bool = False) -> Mask:
    """Say which cells to hide so that all key sets hold together.

    Args:
        codes: ``(n, d)`` values of all rows, 0 and up; -1 is a missing value, a value like any other.
        sets: What must hold.
        prices: ``(d,)`` what a hidden cell of each column costs.
        matching: Read a hidden cell as equal to every value; else as a value of its own.

    Raises:
        Infeasible: If there are fewer rows than a set asks for.

    Guarantees:
        - Every row is one of at least k, in every set, counted as ``matching`` says.
        - What holds when a hidden cell is a value of its own also holds when it is equal to every value.
        - A table in which every set holds is left as it is.

    Example:
        >>> codes = np.array([[0, 0], [0, 1], [0, 2]], np.int32)
        >>> hide_for_sets(codes, [KeySet((0, 1), 2)], np.ones(2), matching=True).sum()
        np.int64(1)
        >>> hide_for_sets(codes, [KeySet((0, 1), 2)], np.ones(2)).sum()
        np.int64(3)
    """
    if not sets:
        raise InvalidParameter("sets must hold at least one key set")
    short = max(each.k for each in sets)
    if len(codes) < short:
        raise Infeasible(f"rows={len(codes)} must be at least k={short}; ask for less", reached=len(codes))
    shown = np.ascontiguousarray(codes, np.int32).copy()
    order = sorted(sets, key=lambda each: (-len(each.columns), -each.k, each.columns))
    for _ in range(_ROUNDS):
        before = int((shown == HIDDEN).sum())
        for each in order:
            own = np.ascontiguousarray(shown[:, each.columns])
            price = prices[list(each.columns)]
            hidden = _matching(own, each.k, price) if matching else _exact(own, each.k, price)
            own[hidden] = HIDDEN
            shown[:, each.columns] = own
        if int((shown == HIDDEN).sum()) == before or matching:  # what matches is never undone by hiding more
            return np.asarray(shown == HIDDEN)
    raise Infeasible(f"key sets do not come to rest in rounds={_ROUNDS}; ask for fewer of them")


def _exact(codes: Coded, k: int, prices: Floats) -> Mask:
    """Hide until rows that show the same are k."""
    grouping = hide_least(codes, Admission(((KAnonymity(k), None),), len(codes)), prices)
    labels, classes = grouping.labels, grouping.classes
    if len(grouping.open):  # fewer than k: they hide everything, with the whole of the class that hides most
        if classes == 0:
            return np.asarray((codes != codes[:1]).any(axis=0) | np.zeros(codes.shape, np.bool_))
        placed = labels >= 0
        differs = hidden_cells(codes[placed], labels[placed], classes, codes.shape[1])
        sizes = np.bincount(labels[placed], minlength=classes)
        lost = (~differs) @ prices * sizes
        labels = np.where(placed, labels, int(lost.argmin()))
    return np.asarray(hidden_cells(codes, labels, classes, codes.shape[1])[labels])


@dataclass
class _Matched:
    """Distinct rows of one key set, and what each of them hides."""

    codes: Coded = field(repr=False)  # (u, d)
    times: Integers = field(repr=False)  # (u,)
    matches: Integers = field(repr=False)  # (u,) rows that each is known to match, itself included
    hidden: Mask = field(repr=False)  # (u, d)


def _matching(codes: Coded, k: int, prices: Floats) -> Mask:
    """Hide until every row could be one of k."""
    numbers = np.empty(len(codes), np.int64)
    every = np.arange(len(codes), dtype=np.int32)
    count = number_equal(codes, every, np.ones(codes.shape[1], np.bool_), numbers)
    first = np.full(count, -1, np.int64)
    first[numbers[::-1]] = every[::-1]
    own = np.ascontiguousarray(codes[first])
    times = np.bincount(numbers, minlength=count)
    state = _Matched(own, times, times.copy(), np.zeros(own.shape, np.bool_))
    _count_hidden_before(state)
    for mask in masks_by_cost(prices.tolist()):
        waiting = np.flatnonzero(state.matches < k)
        if not len(waiting):
            break
        _hide_by(state, mask, waiting, k)
    _show_again(state, k, prices)
    return state.hidden[numbers]


def _show_again(state: _Matched, k: int, prices: Floats) -> None:
    """Show cells again that others made needless, the dearest first; where that takes too long, none."""
    hiding = np.flatnonzero(state.hidden.any(axis=1))
    if not len(hiding) or len(hiding) * state.codes.size > _LOOKS:
        return
    stars = state.hidden | (state.codes == HIDDEN)
    counts = np.array([_fits(state, stars, stars[row], row) @ state.times for row in hiding.tolist()])
    matches = state.matches.copy()
    matches[hiding] = counts
    for row in np.flatnonzero(~state.hidden.any(axis=1)).tolist():
        if matches[row] < k + int(state.times.max(initial=0)):
            matches[row] = _fits(state, stars, stars[row], row) @ state.times
    dearest = np.argsort(-(state.hidden[hiding] @ prices), kind="stable")
    for row in hiding[dearest].tolist():
        for column in sorted(np.flatnonzero(state.hidden[row]), key=lambda place: -prices[place]):
            matched = _fits(state, stars, stars[row], row)
            again = stars[row].copy()
            again[column] = False
            still = _fits(state, stars, again, row)
            lost = matched & ~still
            if int(still @ state.times) >= k and bool((matches[lost] - state.times[row] >= k).all()):
                matches[lost] -= state.times[row]
                matches[row] = int(still @ state.times)
                stars[row, column] = state.hidden[row, column] = False


def _fits(state: _Matched, stars: Mask, own: Mask, row: int) -> Mask:
    """Say which distinct rows a row could be, if it hid what ``own`` says; itself always."""
    kept = np.flatnonzero(~own)
    fits = ((state.codes[:, kept] == state.codes[row, kept]) | stars[:, kept]).all(axis=1)
    return np.asarray(fits)


def _count_hidden_before(state: _Matched) -> None:
    """Count rows that hid cells for another set: they could be what agrees with the rest of them."""
    stars = state.codes == HIDDEN
    some = stars.any(axis=1)
    if not some.any():
        return
    patterns = np.unique(stars[some], axis=0)
    for pattern in patterns:
        own = (stars == pattern).all(axis=1)
        _add_matches(state, np.flatnonzero(own), tuple(np.flatnonzero(pattern).tolist()))
    for pattern in patterns:  # and a row that hides is matched by what agrees with the rest of it
        own = np.flatnonzero((stars == pattern).all(axis=1))
        kept = ~pattern
        plain = np.flatnonzero(~some)
        rows = np.concatenate([own, plain]).astype(np.int32)
        numbers = np.empty(len(rows), np.int64)
        count = number_equal(state.codes, rows, kept, numbers)
        sums = np.bincount(numbers[len(own) :], weights=state.times[plain], minlength=count)
        state.matches[own] += sums[numbers[: len(own)]].astype(np.int64)


def _add_matches(state: _Matched, hiding: Integers, columns: tuple[int, ...]) -> None:
    """Let rows that show everything count the rows that hide some columns and agree in the others."""
    plain = np.flatnonzero(~(state.codes == HIDDEN).any(axis=1) & ~state.hidden.any(axis=1))
    kept = np.ones(state.codes.shape[1], np.bool_)
    kept[list(columns)] = False
    rows: Rows = np.concatenate([plain, hiding]).astype(np.int32)
    numbers = np.empty(len(rows), np.int64)
    count = number_equal(state.codes, rows, kept, numbers)
    sums = np.bincount(numbers[len(plain) :], weights=state.times[hiding], minlength=count)
    state.matches[plain] += sums[numbers[: len(plain)]].astype(np.int64)


def _hide_by(state: _Matched, mask: HiddenMask, waiting: Integers, k: int) -> None:
    """Hide the columns of a mask in rows that are k by the others, but in no more of them than needed."""
    kept = np.ones(state.codes.shape[1], np.bool_)
    kept[list(mask.hidden)] = False
    every = np.arange(len(state.codes), dtype=np.int32)
    numbers = np.empty(len(every), np.int64)
    count = number_equal(state.codes, every, kept, numbers)
    alike = np.bincount(numbers, weights=state.times, minlength=count).astype(np.int64)
    helped = waiting[alike[numbers[waiting]] >= k]
    if not len(helped):
        return
    # The rarest first: as soon as enough rows hide, the others match them without hiding anything.
    order = helped[np.lexsort((state.matches[helped], numbers[helped]))]
    group = numbers[order]
    new = np.append(True, group[1:] != group[:-1])
    starred = (state.codes[order] == HIDDEN).any(axis=1)  # for another set: some of these count already
    fresh = np.where(starred, 0, state.times[order])
    before = np.cumsum(fresh) - fresh
    before -= np.repeat(before[new], np.diff(np.append(np.flatnonzero(new), len(order))))
    hides = state.matches[order] + np.where(starred, 0, before) < k
    chosen = order[hides]
    state.hidden[np.ix_(chosen, np.array(mask.hidden, np.int64))] = True
    state.matches[chosen] = np.maximum(state.matches[chosen], alike[numbers[chosen]])
    _add_matches(state, chosen[~(state.codes[chosen] == HIDDEN).any(axis=1)], mask.hidden)
