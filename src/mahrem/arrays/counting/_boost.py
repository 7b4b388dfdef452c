"""Sums over the leaves of a tree, of rows that can still pay for what they add."""

from __future__ import annotations

from mahrem.arrays._kernel import kernel
from mahrem.types import Integers, Matrix, Written

__all__ = ["add_within_budgets"]


@kernel
def add_within_budgets(
    leaves: Integers, parts: Matrix[Integers], left: Written[Integers], sums: Written[Matrix[Integers]]
) -> None:
    """Add what each row has to its leaf and take its squared length off the row's budget.

    A row whose budget does not cover it adds nothing, and pays nothing.

    Args:
        leaves: ``(n,)`` leaf of each row.
        parts: ``(n, p)`` what each row adds.
        left: ``(n,)`` budgets; lowered.
        sums: ``(leaves, p)``; added to.
    """
    for row in range(len(leaves)):
        cost = 0
        for part in range(parts.shape[1]):
            cost += parts[row, part] * parts[row, part]
        if cost <= left[row]:
            left[row] -= cost
            leaf = leaves[row]
            for part in range(parts.shape[1]):
                sums[leaf, part] += parts[row, part]
