"""Frequent sets of items with their counts by class: level by level, depth first, and by a prefix tree."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.mining._bits import Bits, ItemMatrix, Words, count_items, count_sets, popcount
from mahrem.types import Codes, Integers, Mask, Matrix, Written

__all__ = ["apriori_sets", "eclat_sets", "in_canonical_order", "join_sets", "outdone_sets"]

_ROOM = 1 << 15  # sets that are made room for at first


@inner
def is_frequent(counts: Integers, minimum: int, by_rule: bool) -> bool:  # noqa: FBT001 - kernels take positions
    """Say whether a set is frequent: all its rows count, or those of its most frequent class."""
    total = 0
    most = 0
    for count in counts:
        total += count
        most = max(most, count)
    return (most if by_rule else total) >= minimum


@kernel
def _descend(  # noqa: C901 - one loop without recursion
    bits: Matrix[Words],
    everyone: Words,
    starts: Integers,
    columns: Codes,
    limits: Integers,  # minimum, by_rule, longest, lean
    parents: Written[Integers],
    lasts: Written[Integers],
    counts: Written[Matrix[Integers]],
) -> int:
    """Go through all frequent sets depth first; gives how many there are, stored as far as there is room."""
    items, words, classes = len(bits), len(everyone), len(starts) - 1
    minimum, by_rule, longest, lean = limits[0], limits[1] > 0, limits[2], limits[3] > 0
    held = np.empty((longest + 1, words), np.uint64)
    held[0] = everyone
    offered = np.empty((longest + 1, items), np.int32)
    names = np.empty((longest + 1, items), np.int64)
    lengths = np.zeros(longest + 1, np.int64)
    cursors = np.zeros(longest + 1, np.int64)
    here = np.empty(classes, np.int64)
    count, depth, first, parent = 0, 0, 0, -1
    while depth >= 0:
        if first >= 0:  # a new level: which items go on from here
            lengths[depth], cursors[depth] = 0, 0
            many = items if depth == 0 else lengths[depth - 1]
            for place in range(first, many):
                item = np.int32(place) if depth == 0 else offered[depth - 1, place]
                if depth > 0 and columns[item] == columns[offered[depth - 1, first - 1]]:
                    continue
                for group in range(classes):
                    total = 0
                    for word in range(starts[group], starts[group + 1]):
                        total += popcount(held[depth, word] & bits[item, word])
                    here[group] = total
                if not is_frequent(here, minimum, by_rule):
                    continue
                if count < len(parents):
                    parents[count], lasts[count] = parent, item
                    counts[count] = here
                if not lean or here.max() < here.sum():  # behind a pure set nothing is new
                    offered[depth, lengths[depth]], names[depth, lengths[depth]] = item, count
                    lengths[depth] += 1
                count += 1
            first = -1
        if cursors[depth] == lengths[depth]:
            depth -= 1
            continue
        place = cursors[depth]
        cursors[depth] += 1
        if depth + 1 < longest and place + 1 < lengths[depth]:
            item, parent = offered[depth, place], names[depth, place]
            for word in range(words):
                held[depth + 1, word] = held[depth, word] & bits[item, word]
            depth += 1
            first = place + 1
    return count


def spelt(parents: Integers, lasts: Integers, longest: int) -> ItemMatrix:
    """Write out sets given as a parent and a last item, as rows of items; the items are sorted."""
    depth = np.zeros(len(parents), np.int64)
    up = parents.copy()
    while (up >= 0).any():
        depth[up >= 0] += 1
        up = np.where(up >= 0, parents[np.maximum(up, 0)], -1)
    width = min(longest, int(depth.max()) + 1) if len(depth) else 0
    sets = np.full((len(parents), width), np.iinfo(np.int32).max, np.int32)
    up = np.arange(len(parents))
    for _ in range(width):
        there = up >= 0
        sets[there, depth[there]] = lasts[up[there]]
        depth[there] -= 1
        up = np.where(there, parents[np.maximum(up, 0)], -1)
    sets.sort(axis=1)
    sets[sets == np.iinfo(np.int32).max] = -1
    return sets


def in_canonical_order(sets: ItemMatrix, counts: Integers) -> tuple[ItemMatrix, Integers]:
    """Sort sets by size, then by their items."""
    if sets.shape[1] == 0:
        return sets, counts
    order = np.lexsort((*sets.T[::-1], (sets >= 0).sum(axis=1)))
    return np.ascontiguousarray(sets[order]), np.ascontiguousarray(counts[order])


def eclat_sets(
    table: Bits, columns: Codes, minimum: int, longest: int, *, by_rule: bool = False, lean: bool = False
) -> tuple[ItemMatrix, Integers]:
    """Find all frequent sets depth first on bits.

    Args:
        table: The table as bits.
        columns: ``(items,)`` column of each item; a set has at most one item of a column.
        minimum: Rows that make a set frequent.
        longest: Most items of a set.
        by_rule: Count the rows of the set's most frequent class instead of all its rows.
        lean: Do not look for sets with a part all of whose rows have one class.

    Guarantees:
        - Sets come by size, then by their items; the same sets and counts as :func:`apriori_sets`.
        - With ``lean`` no set is missing that has no such part; one that has may be there.

    References:
        Zaki: Scalable algorithms for association mining, 2000.

    Example:
        >>> from mahrem.arrays.mining import pack_bits
        >>> table = pack_bits(np.array([[0, 1], [0, 2], [0, 1]], np.int32), 3, np.zeros(3, np.int64), 1)
        >>> sets, counts = eclat_sets(table, np.array([0, 1, 1], np.int32), 2, 2)
        >>> sets.tolist(), counts.ravel().tolist()
        ([[0, -1], [1, -1], [0, 1]], [3, 2, 2])
    """
    limits = np.array([minimum, by_rule, longest, lean], np.int64)
    room = _ROOM
    while True:
        parents, lasts = np.empty(room, np.int64), np.empty(room, np.int64)
        counts = np.empty((room, table.classes), np.int64)
        count = _descend(table.items, table.everyone, table.starts, columns, limits, parents, lasts, counts)
        if count <= room:
            return in_canonical_order(spelt(parents[:count], lasts[:count], longest), counts[:count])
        room = count


@inner
def _find(level: ItemMatrix, low: int, high: int, wanted: Codes) -> int:
    """Look a set up among some sets in lexicographic order; -1 if it is not there."""
    while low < high:
        middle = (low + high) // 2
        place = 0
        while place < len(wanted) and level[middle, place] == wanted[place]:
            place += 1
        if place == len(wanted):
            return middle
        if level[middle, place] < wanted[place]:
            low = middle + 1
        else:
            high = middle
    return -1


@kernel
def join_sets(level: ItemMatrix, columns: Codes) -> ItemMatrix:  # noqa: C901 - nested loops of one kernel
    """Join sets of one size that differ in the last item, if all their parts are there.

    Args:
        level: ``(m, size)`` sets of one size in lexicographic order.
        columns: ``(items,)`` column of each item.
    """
    many, size = level.shape
    joined = np.empty((max(16, 2 * many), size + 1), np.int32)
    part = np.empty(size, np.int32)
    count = 0
    for left in range(many):
        for right in range(left + 1, many):
            same = True
            for place in range(size - 1):
                same = same and level[left, place] == level[right, place]
            if not same:
                break
            last = level[right, size - 1]
            if columns[level[left, size - 1]] == columns[last]:
                continue
            whole = True
            for without in range(size - 1):  # the parts without one of the last two are left and right
                for place in range(size):
                    at = place if place < without else place + 1
                    part[place] = level[left, at] if at < size else last
                if _find(level, 0, many, part) < 0:
                    whole = False
                    break
            if whole:
                if count == len(joined):
                    grown = np.empty((2 * count, size + 1), np.int32)
                    grown[:count] = joined
                    joined = grown
                joined[count, :size] = level[left]
                joined[count, size] = last
                count += 1
    return joined[:count].copy()


def apriori_sets(
    table: Bits, columns: Codes, minimum: int, longest: int, *, by_rule: bool = False, lean: bool = False
) -> tuple[ItemMatrix, Integers]:
    """Find all frequent sets level by level; arguments and result as of :func:`eclat_sets`.

    References:
        Agrawal, Srikant: Fast algorithms for mining association rules, 1994.
    """
    level = np.arange(len(table.items), dtype=np.int32)[:, None]
    counts = np.zeros((len(level), table.classes), np.int64)
    count_items(table.items, table.starts, counts)
    levels, all_counts = [], []
    while len(level):
        frequent = (counts.max(axis=1, initial=0) if by_rule else counts.sum(axis=1)) >= minimum
        level, counts = level[frequent], counts[frequent]
        levels.append(level)
        all_counts.append(counts)
        level = level[counts.max(axis=1, initial=0) < counts.sum(axis=1)] if lean else level
        if len(level) < 2 or level.shape[1] >= longest:
            break
        level = join_sets(level, columns)
        counts = count_sets(table, level, ordered=True)
    width = max((held.shape[1] for held in levels if len(held)), default=0)
    sets = [
        np.pad(held, ((0, 0), (0, width - held.shape[1])), constant_values=-1) for held in levels if len(held)
    ]
    if not sets:
        return np.empty((0, 0), np.int32), np.empty((0, table.classes), np.int64)
    return np.concatenate(sets), np.concatenate(all_counts)


@kernel
def outdone_sets(sets: ItemMatrix, right: Codes, rank: Integers, classes: int) -> Mask:
    """Say which rules stand behind a rule of the same class whose left side is a part of theirs.

    Such a rule is never kept: what it is right about, the other one is right about before.

    Args:
        sets: ``(m, longest)`` sets by size, then by items.
        right: ``(m,)`` class of the rule of each set.
        rank: ``(m,)`` its place among the rules; ``m`` for a set that is no rule.
        classes: How many classes there are.
    """
    many, longest = sets.shape
    best = np.full((many, classes), many, np.int64)  # the first rule of each class on the set or a part of it
    outdone = np.zeros(many, np.bool_)
    starts = np.zeros(longest + 2, np.int64)
    for number in range(many):
        size = 0
        while size < longest and sets[number, size] >= 0:
            size += 1
        starts[size + 1] = number + 1
        part = np.empty(max(0, size - 1), np.int32)
        for without in range(size if size > 1 else 0):
            for place in range(size - 1):
                part[place] = sets[number, place if place < without else place + 1]
            position = _find(sets, starts[size - 1], starts[size], part)
            if position >= 0:
                for group in range(classes):
                    best[number, group] = min(best[number, group], best[position, group])
        outdone[number] = best[number, right[number]] < rank[number]
        best[number, right[number]] = min(best[number, right[number]], rank[number])
    return outdone
