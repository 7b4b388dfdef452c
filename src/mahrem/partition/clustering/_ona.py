"""ONA*: dissolve and reassign clusters while the squared error falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.arrays import averaging
from mahrem.partition._partition import Admits, Partition
from mahrem.partition.clustering._microaggregation import admit_by_merging, generator, prepare
from mahrem.threads import in_threads
from mahrem.types import Labels, Points

_SWEEPS = 1000  # a guard: improving ends by itself long before


@dataclass(frozen=True)
class OnaStar:
    """Group rows in the spirit of ONA*, from random groups.

    Built from what can be read about it (abstract and descriptions), not from the paper's own listing: a
    record leaves a group larger than k for the one whose squared error grows least; a group is dissolved
    when giving all of its records to others, each where it costs least, lowers the squared error; a group
    that reaches 2k is split by MDAV+. This goes on until nothing lowers the squared error. The best of
    several random beginnings counts. Every sweep looks at all rows and groups: quadratic.

    Args:
        restarts: Random beginnings, at least 1.
        standardise: Give every column the same deviation first, as the literature does.
        seed: Of the random beginnings; the same seed gives the same groups.

    Raises:
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.
        InvalidParameter: If ``restarts`` is below 1.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - A plain minimum ``k`` gives groups of ``k .. 2k-1`` rows.
        - A seed gives the same groups again, whatever the number of threads.

    References:
        Thaeter, Reischuk: Scalable k-anonymous microaggregation, SECRYPT 2021.
        Khomnotai et al.: Iterative group decomposition for refining microaggregation solutions, 2018.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0]])
        >>> OnaStar(seed=1)(points, Admission(((KAnonymity(2), None),), rows=4)).sizes
        array([2, 2])
    """

    restarts: int = 3
    standardise: bool = True
    seed: int | None = None

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        check.at_least(1, restarts=check.whole(restarts=self.restarts))
        scaled, minimum = prepare(points, admits, standardise=self.standardise)
        if minimum == 1:
            return admit_by_merging(scaled, np.arange(len(scaled)), admits)
        rng = generator(self.seed)
        starts = [_random_groups(len(scaled), minimum, rng) for _ in range(self.restarts)]
        errors = np.empty(self.restarts)

        def run(first: int, last: int) -> None:
            for turn in range(first, last):
                errors[turn] = averaging.improve(scaled, starts[turn], minimum, 0, _SWEEPS)

        in_threads(run, np.ones(self.restarts, np.int64), self.restarts)
        return admit_by_merging(scaled, starts[int(errors.argmin())], admits)


def _random_groups(rows: int, minimum: int, rng: np.random.Generator) -> Labels:
    """Deal rows into groups of ``minimum``; the rest goes to the last one."""
    labels = np.empty(rows, np.int64)
    labels[rng.permutation(rows)] = np.minimum(np.arange(rows) // minimum, rows // minimum - 1)
    return labels
