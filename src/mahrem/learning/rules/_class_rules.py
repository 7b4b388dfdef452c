"""Class rules (CBA-RG): frequent sets of items, the class each speaks for, pruned and ranked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np

from mahrem import check
from mahrem.arrays.mining import Bits, ItemMatrix, apriori_sets, eclat_sets, fp_growth_sets, outdone_sets
from mahrem.types import Codes, Floats, Integers, Mask

Miner: TypeAlias = Literal["eclat", "apriori", "fp-growth"]
SupportOf: TypeAlias = Literal["left", "rule"]
MINERS: tuple[str, ...] = get_args(Miner)
CERTAINTY = 0.25  # of C4.5's pessimistic error
_DEVIATION = 0.6744897501960817  # of a normal variable that is exceeded with this probability


@dataclass(frozen=True)
class ClassRules:
    """Ranked rules ``left => right`` with the rows of each class that show the left side."""

    left: ItemMatrix = field(repr=False)  # (m, longest) best rule first, -1 behind the last item
    right: Codes = field(repr=False)  # (m,)
    counts: Integers = field(repr=False)  # (m, classes)

    def __len__(self) -> int:
        return len(self.right)

    def confidence(self) -> Floats:
        """Give the share of the left side's rows that have the rule's class."""
        right: Floats = self.counts[np.arange(len(self)), self.right] / self.counts.sum(axis=1)
        return right

    def chosen(self, which: Mask | Integers) -> ClassRules:
        """Give some of the rules."""
        return ClassRules(np.ascontiguousarray(self.left[which]), self.right[which], self.counts[which])


def least_rows(support: float, rows: int) -> int:
    """Give how many rows make a share of the table, at least one.

    Example:
        >>> least_rows(0.2, 10), least_rows(0.1, 30), least_rows(0.01, 32561), least_rows(0.2, 0)
        (2, 3, 326, 1)
    """
    exact = support * rows
    near = round(exact)
    return max(1, near if abs(exact - near) < 1e-9 * max(1.0, exact) else int(np.ceil(exact)))


@dataclass(frozen=True, kw_only=True)
class Mining:
    """How frequent sets are found.

    Args:
        longest: Most items of a set; by default all lengths.
        miner: ``eclat`` (depth first on bits), ``apriori`` (level by level) or ``fp-growth`` (a tree).
        support_of: What must be frequent: the set (``left``) or the set with its best class (``rule``).
        lean: Spare the search for sets with a part all of whose rows have one class: the rule of that
            part stands before theirs and is right about all they are right about, so they are never kept.
    """

    longest: int | None = None
    miner: Miner = "eclat"
    support_of: SupportOf = "left"
    lean: bool = False

    def __post_init__(self) -> None:
        check.one_of(get_args(SupportOf), support_of=self.support_of)
        check.one_of(get_args(Miner), miner=self.miner)


def mine_sets(
    codes: Codes,
    target: Integers,
    table: Bits,
    columns: Codes,
    minimum: int,
    how: Mining,
) -> tuple[ItemMatrix, Integers]:
    """Find all frequent sets of items with their rows by class; no set is empty.

    Args:
        codes: ``(n, d)`` item of each row in each column, -1 for none.
        target: ``(n,)`` class of each row.
        table: The same as bits.
        columns: ``(items,)`` column of each item.
        minimum: Rows that make a set frequent.
        how: The miner and what it looks for.

    Guarantees:
        - All miners give the same sets and counts, by size and then by items; with ``lean`` each may leave
          out other ones, and a classifier without pruning keeps the same rules.
        - Every row counts as often as it occurs.
    """
    by_rule = how.support_of == "rule"
    most = codes.shape[1] if how.longest is None else min(how.longest, codes.shape[1])
    if how.miner == "fp-growth":
        return fp_growth_sets(codes, target, table, minimum, most, by_rule=by_rule)
    bits: Callable[..., tuple[ItemMatrix, Integers]] = eclat_sets if how.miner == "eclat" else apriori_sets
    return bits(table, columns, minimum, most, by_rule=by_rule, lean=how.lean)


def pessimistic_error(wrong: Integers, rows: Integers) -> Floats:
    """Give C4.5's pessimistic error: an upper limit of the error at certainty 0.25.

    Without an error it is exact, else Wilson's limit with half a row added, at most 1.

    References:
        Quinlan: C4.5, Programs for machine learning, 1993.

    Example:
        >>> pessimistic_error(np.array([0, 1, 5]), np.array([6, 6, 5])).round(3).tolist()
        [0.206, 0.384, 1.0]
    """
    share = np.minimum((wrong + 0.5) / rows, 1.0)
    square = _DEVIATION**2 / rows
    limit = (share + square / 2 + np.sqrt(square * (share * (1 - share) + square / 4))) / (1 + square)
    limit = np.where(wrong + 0.5 >= rows, 1.0, limit)
    return np.where(wrong == 0, 1.0 - CERTAINTY ** (1.0 / rows), np.minimum(limit, 1.0))


def class_rules(
    sets: ItemMatrix,
    counts: Integers,
    *,
    confidence: float,
    minimum: int = 1,
    prune: bool = False,
    lean: bool = False,
) -> ClassRules:
    """Make rules of frequent sets and rank them: by confidence, then support, then size, then items.

    Args:
        sets: ``(m, longest)`` sets by size, then by items.
        counts: ``(m, classes)`` their rows by class.
        confidence: Least share of the rows that must have the rule's class.
        minimum: Least rows that must show the whole rule.
        prune: Leave out a rule whose pessimistic error is above that of the rule without one of its items.
        lean: Leave out rules that can never be kept: a rule before them with the same class and a part
            of their left side is right about all they are right about.

    Guarantees:
        - ``lean`` does not change which rules a classifier keeps.
        - One rule for a set: that of its most frequent class, of equal ones the first.
        - Equal counts give equal rules in equal order, whoever counted.

    References:
        Liu, Hsu, Ma: Integrating classification and association rule mining, 1998.

    Example:
        >>> rules = class_rules(np.array([[0], [1]], np.int32), np.array([[3, 1], [0, 2]]), confidence=0.5)
        >>> rules.left.ravel().tolist(), rules.right.tolist(), rules.confidence().tolist()
        ([1, 0], [1, 0], [1.0, 0.75])
    """
    right = counts.argmax(axis=1).astype(np.int32) if len(counts) else np.empty(0, np.int32)
    hits, rows = counts.max(axis=1, initial=0), counts.sum(axis=1)
    sure = np.divide(hits, rows, out=np.zeros(len(rows)), where=rows > 0)
    kept = (sure >= confidence) & (hits >= minimum)
    if prune:
        kept &= ~_worse_than_a_part(sets, counts, right)
    order = np.flatnonzero(kept)
    order = order[np.lexsort((-hits[order], -sure[order]))]
    if lean and len(order):
        rank = np.full(len(sets), len(sets), np.int64)
        rank[order] = np.arange(len(order))
        order = order[~outdone_sets(sets, right, rank, counts.shape[1])[order]]
    return ClassRules(np.ascontiguousarray(sets[order]), right[order], np.ascontiguousarray(counts[order]))


def _worse_than_a_part(sets: ItemMatrix, counts: Integers, right: Codes) -> Mask:
    """Say which sets have a higher pessimistic error than one of their parts, of the same class."""
    sizes, rows = (sets >= 0).sum(axis=1), counts.sum(axis=1)
    error = pessimistic_error(rows - counts[np.arange(len(sets)), right], rows)
    number = {items.tobytes(): place for place, items in enumerate(sets)}
    worse = np.zeros(len(sets), np.bool_)
    for size in range(2, int(sizes.max(initial=0)) + 1):
        mine = np.flatnonzero(sizes == size)
        for without in range(size):
            parts = np.full((len(mine), sets.shape[1]), -1, np.int32)
            parts[:, : size - 1] = np.delete(sets[mine, :size], without, axis=1)
            there = np.array([number.get(items.tobytes(), -1) for items in parts], np.int64)
            longer, part = mine[there >= 0], there[there >= 0]
            wrong = rows[part] - counts[part, right[longer]]
            worse[longer] |= error[longer] > pessimistic_error(wrong, rows[part])
    return worse
