"""t-closeness: what a class says of a column is close to what the whole table says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mahrem import check
from mahrem.models._counts import Allowance, Counts, Need, PrivacyModel
from mahrem.models._earth import equal_distance, hierarchical_distance, ordered_distance
from mahrem.models._shares import LOOSE, TOLERANCE, by_class, logarithm, spans_of

if TYPE_CHECKING:
    from mahrem.types import Floats, Integers, Levels, Mask


@dataclass(frozen=True)
class _Closeness(PrivacyModel):
    """What every t-closeness shares: a class is at most ``t`` away from the table, up to 1e-9."""

    t: float
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.between(0, 1, t=self.t)

    @property
    def wanted(self) -> float:
        """The largest distance from the table."""
        return self.t

    def loosened(self, share: float) -> PrivacyModel:
        """Allow for how far the table itself moves: no distance is above the share of it that goes."""
        return replace(self, t=min(1.0, self.t + share + LOOSE))

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Compare distances with ``t``, up to 1e-9."""
        return levels <= self.t + TOLERANCE


@dataclass(frozen=True)
class EqualCloseness(_Closeness):
    """t-closeness with the earth mover's distance when all values are equally far apart.

    Guarantees:
        - The level of a class is half the sum of ``|p - q|``, in [0, 1]; it holds when that is at most ``t``
          up to 1e-9.
        - A union of admissible classes is admissible: the distance is convex.
        - The order and the names of the values do not matter.

    References:
        Li, Li, Venkatasubramanian: t-closeness, privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> EqualCloseness(0.2).level(counts)
        array([0.25, 0.25])
    """

    name: ClassVar[str] = "t-closeness-equal"

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask that no more than ``t`` is too much."""
        return (Need("surplus", self.t),)

    def allowance(self) -> Allowance:
        """Allow so much too much of all values together."""
        return Allowance(surplus=self.t + TOLERANCE)

    def level(self, counts: Counts) -> Levels:
        """Give the distance of every class from the table."""
        return equal_distance(counts)


@dataclass(frozen=True)
class OrderedCloseness(_Closeness):
    """t-closeness with the earth mover's distance when values lie in order, one step apart.

    Guarantees:
        - The level of a class is the mean over the ``m - 1`` steps of ``|P - Q|``, the cumulative shares, in
          [0, 1]; it holds when that is at most ``t`` up to 1e-9. With one value it is 0.
        - A union of admissible classes is admissible: the distance is convex.

    References:
        Li, Li, Venkatasubramanian: t-closeness, privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> labels = np.repeat([0, 1, 2], 3)
        >>> salary = np.array([3, 5, 9, 6, 11, 8, 4, 7, 10]) - 3
        >>> OrderedCloseness(0.2).level(counts_of(labels, salary, classes=3, size=9)).round(3)
        array([0.167, 0.167, 0.083])
    """

    name: ClassVar[str] = "t-closeness-ordered"

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for small gaps along the order."""
        return (Need("ordered", self.t),)

    def level(self, counts: Counts) -> Levels:
        """Give the distance of every class from the table."""
        return ordered_distance(counts)


@dataclass(frozen=True)
class HierarchicalCloseness(_Closeness):
    """t-closeness with the earth mover's distance along a hierarchy of the values.

    Two values are as far apart as their nearest common node is high. Needs a hierarchy of the column
    (``counts.ancestors``); every value lies at the same depth, as in ARX's CSV form.

    Guarantees:
        - The level of a class is the cheapest way to move its shares onto the table's, a step between two
          values costing the height of their nearest common node over the height of the tree, in [0, 1]; it
          holds when that is at most ``t`` up to 1e-9.
        - A union of admissible classes is admissible: the distance is convex.
        - What equal-distance t-closeness admits, this admits.

    References:
        Li, Li, Venkatasubramanian: t-closeness, privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> tree = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
        >>> labels, codes = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
        >>> counts = counts_of(labels, codes, classes=2, size=4, ancestors=tree)
        >>> HierarchicalCloseness(0.5).level(counts)
        array([0.5, 0.5])
    """

    name: ClassVar[str] = "t-closeness-hierarchical"

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...] | None:
        """Ask the same at every level below the root."""
        if ancestors is None:
            return None
        alone = np.bincount(ancestors[0]).max(initial=0) <= 1
        tree = ancestors if alone else np.vstack((np.arange(len(table)), ancestors))
        return (Need("nodes", self.t, nodes=tree[:-1]),) if len(tree) > 1 else ()

    def level(self, counts: Counts) -> Levels:
        """Give the distance of every class from the table."""
        return hierarchical_distance(counts)


@dataclass(frozen=True)
class KLCloseness(_Closeness):
    """t-closeness with the Kullback-Leibler divergence of a class from the table, natural logarithm.

    Guarantees:
        - The level of a class is ``sum p ln(p / q)``, at least 0, infinity when it shows a value the table
          does not; it holds when that is at most ``t`` up to 1e-9.
        - A union of admissible classes is admissible: the divergence is convex.
        - The order and the names of the values do not matter.

    References:
        Kullback, Leibler: On information and sufficiency, 1951.
        Li, Li, Venkatasubramanian: t-closeness, privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> KLCloseness(0.2).level(counts).round(4)
        array([0.1438, 0.2877])
    """

    name: ClassVar[str] = "t-closeness-kl"

    def __post_init__(self) -> None:
        check.at_least(0, t=self.t)

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...]:  # noqa: ARG002
        """Ask for a small divergence."""
        return (Need("divergence", self.t),)

    def loosened(self, share: float) -> PrivacyModel:
        """Allow for shares of the table that grow by what goes."""
        return KLCloseness(self.t - math.log1p(-share) + LOOSE)

    def level(self, counts: Counts) -> Levels:
        """Give the divergence of every class from the table."""
        spans = spans_of(counts)
        table = logarithm(spans.table_lowest)[spans.counts.value]
        # p ln(p / q) bends upwards in p and falls with q: its largest lies at an end
        terms = np.maximum(_terms(spans.lowest, table), _terms(spans.highest, table))
        return np.maximum(by_class(np.add, terms, spans.counts, empty=np.inf), 0.0)


def _terms(share: Floats, table: Floats) -> Floats:
    """Give ``p ln(p / q)``, 0 where ``p`` is."""
    terms = np.zeros(len(share))
    shown = share > 0
    terms[shown] = share[shown] * (np.log(share[shown]) - table[shown])
    return terms
