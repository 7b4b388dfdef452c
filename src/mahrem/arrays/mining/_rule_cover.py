"""Ranked rules over a table of bits: who is first, and which rules a classifier keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.mining._bits import Bits, ItemMatrix, Words, popcount
from mahrem.types import Codes, Integers, Mask, Matrix, Written

__all__ = ["cover_first", "cover_marked", "first_correct", "first_match"]

_U = np.uint64
_ONE = _U(1)


@inner
def _covered(bits: Words, left: Codes, word: int, among: np.uint64) -> np.uint64:
    """Say who of some places of one word shows all items of a rule."""
    for item in left:
        if item < 0 or among == _U(0):
            break
        among &= bits[item, word]
    return among


@inner
def _assign(rules: NDArray[np.int32], word: int, hit: np.uint64, rule: int) -> None:
    while hit != _U(0):
        lowest = hit & (~hit + _ONE)
        rules[(word << 6) + popcount(lowest - _ONE)] = rule
        hit ^= lowest


@kernel
def _first_match(
    bits: Matrix[Words], everyone: Words, left: ItemMatrix, rules: Written[NDArray[np.int32]]
) -> None:
    left_over = everyone.copy()
    active = np.arange(len(everyone))
    many = len(everyone)
    for rule in range(len(left)):
        if many == 0:
            break
        kept = 0
        for place in range(many):
            word = active[place]
            hit = _covered(bits, left[rule], word, left_over[word])
            _assign(rules, word, hit, rule)
            left_over[word] ^= hit
            if left_over[word] != _U(0):
                active[kept] = word
                kept += 1
        many = kept


@kernel
def _first_correct(
    bits: Matrix[Words],
    everyone: Words,
    starts: Integers,
    left: ItemMatrix,
    right: Codes,
    rules: Written[NDArray[np.int32]],
) -> None:
    left_over = everyone.copy()
    ends = starts[1:].copy()  # words behind the end of a class are done
    for rule in range(len(left)):
        group = right[rule]
        for word in range(starts[group], ends[group]):
            if left_over[word] != _U(0):
                hit = _covered(bits, left[rule], word, left_over[word])
                _assign(rules, word, hit, rule)
                left_over[word] ^= hit
        while ends[group] > starts[group] and left_over[ends[group] - 1] == _U(0):
            ends[group] -= 1


def first_match(table: Bits, left: ItemMatrix) -> NDArray[np.int32]:
    """Give for each row the first rule whose left side it shows; the number of rules if none does.

    Example:
        >>> from mahrem.arrays.mining import pack_bits
        >>> table = pack_bits(np.array([[0, 1], [0, 2], [-1, 2]], np.int32), 3, np.zeros(3, np.int64), 1)
        >>> first_match(table, np.array([[0, 1], [0, -1]], np.int32)).tolist()
        [0, 1, 2]
    """
    rules = np.full(64 * len(table.everyone), len(left), np.int32)
    _first_match(table.items, table.everyone, left, rules)
    return rules[table.place]


def first_correct(table: Bits, left: ItemMatrix, right: Codes) -> NDArray[np.int32]:
    """Give for each row the first rule that shows and says its class; the number of rules if none does."""
    rules = np.full(64 * len(table.everyone), len(left), np.int32)
    _first_correct(table.items, table.everyone, table.starts, left, right, rules)
    return rules[table.place]


@kernel
def _cover_first(
    bits: Matrix[Words],
    everyone: Words,
    starts: Integers,
    left: ItemMatrix,
    right: Codes,
    kept: Written[Mask],
    covered: Written[Matrix[Integers]],
) -> None:
    left_over = everyone.copy()
    hits = np.zeros(len(everyone), np.uint64)
    for rule in range(len(left)):
        first, last = starts[right[rule]], starts[right[rule] + 1]
        correct = 0
        for word in range(first, last):
            hits[word] = _covered(bits, left[rule], word, left_over[word])
            correct += popcount(hits[word])
        if correct == 0:
            continue
        kept[rule] = True
        for group in range(len(starts) - 1):
            total = 0
            for word in range(starts[group], starts[group + 1]):
                hit = (
                    hits[word] if first <= word < last else _covered(bits, left[rule], word, left_over[word])
                )
                left_over[word] ^= hit
                total += popcount(hit)
            covered[rule, group] = total


def cover_first(table: Bits, left: ItemMatrix, right: Codes) -> tuple[Mask, Integers]:
    """Walk down ranked rules (M1): keep one that is right about a row that is left; take what it covers.

    Args:
        table: The training rows.
        left: ``(m, longest)`` left sides of the rules, best first.
        right: ``(m,)`` their classes.

    Returns:
        ``(m,)`` which rules are kept, and ``(m, classes)`` the rows each of them takes.

    References:
        Liu, Hsu, Ma: Integrating classification and association rule mining, 1998.
    """
    kept, covered = np.zeros(len(left), np.bool_), np.zeros((len(left), table.classes), np.int64)
    _cover_first(table.items, table.everyone, table.starts, left, right, kept, covered)
    return kept, covered


@inner
def _shows(bits: Words, left: Codes, place: int) -> bool:
    word, bit = place >> 6, _ONE << _U(place & 63)
    return bool(_covered(bits, left, word, bit) != _U(0))


@kernel
def _cover_marked(  # noqa: C901, PLR0912 - three stages, as in the paper
    bits: Matrix[Words],
    left: ItemMatrix,
    right: Codes,
    place: Integers,
    target: Codes,
    correct: NDArray[np.int32],
    wrong: NDArray[np.int32],
    kept: Written[Mask],
    covered: Written[Matrix[Integers]],
) -> None:
    many, rows = len(left), len(place)
    used, marked, chosen = np.zeros(many, np.bool_), np.zeros(many, np.bool_), np.zeros(many, np.bool_)
    for row in range(rows):  # 1: whose best right rule stands before its best wrong one
        if correct[row] < many:
            used[correct[row]] = True
            covered[correct[row], target[row]] += 1
            if correct[row] < wrong[row]:
                marked[correct[row]] = chosen[correct[row]] = True
    heads = np.full(many, -1, np.int64)
    links = np.empty((1024, 2), np.int64)  # next, row
    linked = 0
    for row in range(rows):  # 2: the others may be taken by a wrong rule first
        if wrong[row] > correct[row] or wrong[row] == many:
            continue
        if marked[wrong[row]]:
            if correct[row] < many:
                covered[correct[row], target[row]] -= 1
            covered[wrong[row], target[row]] += 1
            continue
        for rule in range(min(correct[row], many)):
            if not used[rule] or right[rule] == target[row] or not _shows(bits, left[rule], place[row]):
                continue
            if linked == len(links):
                grown = np.empty((2 * linked, 2), np.int64)
                grown[:linked] = links
                links = grown
            links[linked] = (heads[rule], row)
            heads[rule] = linked
            linked += 1
            covered[rule, target[row]] += 1
            chosen[rule] = True
        if correct[row] < many:
            chosen[correct[row]] = True
    taken = np.zeros(rows, np.bool_)
    for rule in range(many):  # 3: walk down what is left
        if not chosen[rule] or covered[rule, right[rule]] == 0:
            continue
        kept[rule] = True
        link = heads[rule]
        while link >= 0:
            row = links[link, 1]
            if taken[row]:
                covered[rule, target[row]] -= 1
            else:
                taken[row] = True
                if correct[row] < many:
                    covered[correct[row], target[row]] -= 1
            link = links[link, 0]


def cover_marked(table: Bits, left: ItemMatrix, right: Codes) -> tuple[Mask, Integers]:
    """Keep the rules of :func:`cover_first` by looking at each row's best right and best wrong rule (M2).

    Guarantees:
        - The same rules and counts as :func:`cover_first`.

    References:
        Liu, Hsu, Ma: Integrating classification and association rule mining, 1998.
    """
    kept, covered = np.zeros(len(left), np.bool_), np.zeros((len(left), table.classes), np.int64)
    target = (np.searchsorted(table.starts, table.place >> 6, side="right") - 1).astype(np.int32)
    correct = first_correct(table, left, right)
    wrong = np.full(table.rows, len(left), np.int32)
    for group in range(table.classes):  # the first rule of another class
        others = np.flatnonzero(right != group)
        mine = np.flatnonzero(target == group)
        if len(mine) and len(others):
            hit = first_match(table, np.ascontiguousarray(left[others]))[mine]
            wrong[mine] = np.append(others, len(left))[hit]
    _cover_marked(table.items, left, right, table.place, target, correct, wrong, kept, covered)
    covered[~kept] = 0
    return kept, covered
