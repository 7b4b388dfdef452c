"""What a class still needs, as algebra: what a promise is to somebody who adds rows one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers

NeedKind = Literal[
    "size", "distinct", "tail", "entropy", "bounds", "surplus", "nodes", "ordered", "divergence"
]


@dataclass(frozen=True)
class Need:
    """One bound on the counts of a class, from which a lower bound of the rows it lacks can be worked out.

    With counts ``n`` and their sum ``N`` in a class, ``q`` the shares of the table:

    ==============  ==================================================  ======================================
    kind            holds when                                          rows missing, at least
    ==============  ==================================================  ======================================
    ``size``        rows or people >= amount                            amount less what there is
    ``distinct``    values shown >= amount                              amount less values shown
    ``tail``        n1 < amount * (n_rank + ...), counts descending     n1 / amount less the tail
    ``entropy``     exp(H) >= amount                                    filling up the rarest values
    ``bounds``      low <= n / N <= high for each value                 n / high - N, and what lacks
    ``surplus``     sum of n - q N, where above 0, <= amount * N        over / (their shares + amount)
    ``nodes``       the same, mean over the levels of a tree            the same over all levels
    ``ordered``     mean gap of cumulative shares <= amount             over / what one row closes at most
    ``divergence``  sum of p ln(p / q) <= amount                        filling up those farthest below q
    ==============  ==================================================  ======================================

    No row eases a bound by more than is assumed of every one, so no fewer rows will do.
    """

    kind: NeedKind
    amount: float = 0.0
    rank: int = 0
    low: Floats | None = field(default=None, repr=False)  # (values,) of bounds
    high: Floats | None = field(default=None, repr=False)  # (values,) of bounds
    nodes: Integers | None = field(default=None, repr=False)  # (levels, values) of nodes, the root left out
