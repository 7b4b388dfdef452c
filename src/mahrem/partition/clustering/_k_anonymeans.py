"""kAnonyMeans: k-means, then merge clusters that are too small and split those that are too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from mahrem import check
from mahrem.arrays import averaging
from mahrem.partition._partition import Admits, Partition
from mahrem.partition.clustering._k_means import Start, draw_centres
from mahrem.partition.clustering._microaggregation import admit_by_merging, generator, prepare
from mahrem.types import Floats, Labels, Points

MergeOrder = Literal["inner", "outer", "none"]
Measure = Literal["centre", "sse"]
Timing = Literal["after", "inside"]
_SWAPS = 4  # nearest groups in which a partner for a swap is looked for
_SWEEPS = 1000  # a guard: improving ends by itself long before


@dataclass(frozen=True)
class KAnonyMeans:
    """Group rows by k-means; merge clusters below k, split clusters of 2k or more by MDAV+.

    The talk names the orders of merging and does not define them. Here ``inner`` merges one small cluster
    after the other, each until it is large enough; ``outer`` merges every small cluster once, and goes round
    again while some are left; ``none`` goes round once, and each takes the best partner that makes it large
    enough (where there is one). Merging and splitting ``inside`` the loop can run in circles: it stops after
    ten rounds without a better grouping, and the best one counts.

    Args:
        kappa: Clusters of k-means; rows // k by default.
        start: How centres are drawn: ``k-means++`` or ``forgy``.
        order: ``inner``, ``outer`` or ``none``.
        measure: Partners by distance of ``centre`` or by growth of ``sse``.
        timing: Merge and split ``after`` k-means, or ``inside`` each of its rounds.
        refine: Move, swap, dissolve and split groups afterwards while that lowers the squared error (our
            addition).
        rounds: Of k-means, at most.
        standardise: Give every column the same deviation first, as the literature does.
        seed: Of the draw.

    Raises:
        InvalidParameter: If a setting does not fit, such as more centres than rows.
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - A plain minimum ``k`` gives groups of at least ``k`` rows.
        - A seed gives the same groups again.

    References:
        Stoldt: Datenbankanonymisierung auf Basis von k-means-Algorithmen, 2019.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0]])
        >>> KAnonyMeans(seed=1)(points, Admission(((KAnonymity(2), None),), rows=4)).sizes
        array([2, 2])
    """

    kappa: int | None = None
    start: Start = "k-means++"
    order: MergeOrder = "inner"
    measure: Measure = "centre"
    timing: Timing = "after"
    refine: bool = False
    rounds: int = 100
    standardise: bool = True
    seed: int | None = None

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        scaled, minimum = prepare(points, admits, standardise=self.standardise)
        if minimum == 1 and self.kappa is None:  # as many centres as rows: every row is its own
            return admit_by_merging(scaled, np.arange(len(scaled)), admits)
        wanted = max(1, len(scaled) // minimum) if self.kappa is None else self.kappa
        centres = scaled[draw_centres(scaled, wanted, self.start, generator(self.seed))]
        labels = self.group(scaled, centres, minimum)
        if self.refine:
            refine(scaled, labels, minimum)
        return admit_by_merging(scaled, labels, admits)

    def group(self, points: Points, centres: Floats, minimum: int) -> Labels:
        """Start from the given centres ``(kappa, d)``, by size alone; ``points`` are standardised."""
        check.one_of(get_args(MergeOrder), order=self.order)
        check.one_of(get_args(Measure), measure=self.measure)
        check.one_of(get_args(Timing), timing=self.timing)
        check.at_least(1, rounds=check.whole(rounds=self.rounds))
        order = {"inner": averaging.INNER, "outer": averaging.OUTER, "none": averaging.SINGLE}[self.order]
        by_error, inside = self.measure == "sse", self.timing == "inside"
        labels = np.empty(len(points), np.int64)
        columns = np.array(centres.T, np.float64, order="C")
        averaging.groups_from_centres(points, columns, minimum, order, by_error, inside, self.rounds, labels)
        return labels


def refine(points: Points, labels: Labels, minimum: int) -> float:
    """Move, swap, dissolve and split groups, in place, while that lowers the squared error left."""
    return float(averaging.improve(points, labels, minimum, _SWAPS, _SWEEPS))
