"""Which rules a classifier keeps (M1) when nobody has all rows: a few rounds of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mahrem.arrays.mining import ItemMatrix
from mahrem.errors import InvalidInput
from mahrem.learning.rules import ClassRules
from mahrem.types import Integers, Mask

AskCover: TypeAlias = Callable[[ItemMatrix, Integers, Integers], Integers]  # (left, right, sure) -> counts


def cover_together(ask: AskCover, ranked: ClassRules, classes: int) -> tuple[Mask, Integers]:
    """Find the rules that M1 keeps on the rows of all clients, from counts over whole lists of rules.

    M1 walks down the rules; whether one is kept depends on all before it. Two lists bound the answer from
    both sides. Rules that are *possible* are all that may be kept; rules that are *sure* are kept whatever
    the others are. Each round the clients count for every possible rule

    - the rows whose first possible rule it is, by class: if one of them has the rule's class the rule is
      sure, since fewer rules before it can only leave it more rows;
    - the rows whose first right rule it is and that no sure rule before it takes: if there is none the rule
      is not possible, since more rules before it can only leave it fewer.

    The first rule that is neither sure nor dropped has only sure rules before it, so both counts agree and
    a round always decides at least one; in practice nearly all at once. When every possible rule is sure,
    and those that are dropped were the first of no row, the counts of the last round are those of M1.

    Args:
        ask: Sums the vector of :func:`cover_counts` over all clients.
        ranked: All rules, best first.
        classes: How many classes there are.

    Returns:
        ``(m,)`` which rules are kept and ``(m, classes)`` the rows each of them takes.

    Guarantees:
        - The result is that of :func:`mahrem.arrays.mining.cover_first` on the pooled rows.
        - It ends after at most one round more than there are rules, whatever is answered.

    Raises:
        InvalidInput: If the counts contradict each other, so that a round decides nothing.
    """
    listed = np.arange(len(ranked))
    sure = np.zeros(len(ranked), np.bool_)
    kept, covered = np.zeros(len(ranked), np.bool_), np.zeros((len(ranked), classes), np.int64)
    while len(listed):
        rules = ranked.chosen(listed)
        numbers = ask(rules.left, rules.right.astype(np.int64), sure.astype(np.int64))
        first = numbers[len(listed) :].reshape(-1, classes)
        surely = sure | (first[np.arange(len(listed)), rules.right] > 0)
        possible = surely | (numbers[: len(listed)] > 0)
        if surely[possible].all() and not first[:-1][~possible].any():  # what is dropped took no row
            kept[listed[possible]] = True
            covered[listed[possible]] = first[:-1][possible]
            break
        if possible.all() and np.array_equal(surely, sure):
            raise InvalidInput(
                f"rules={len(listed)}: the clients' counts contradict each other, so no rule can be decided"
            )
        listed, sure = listed[possible], surely[possible]
    return kept, covered
