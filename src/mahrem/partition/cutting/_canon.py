"""Canon: cut by the distance to a vantage point while both sides may stand."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.arrays import averaging
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.types import Labels, Points

DISTANCES = ("euclid", "manhattan", "minkowski", "hamming", "mixed")  # in the order of the kernels
VANTAGES = ("random", "far")


@dataclass(frozen=True, kw_only=True)
class Canon:
    """Sort rows into balls and shells around vantage points, as small as ``admits`` allows.

    A segment gets a vantage point; with ``v`` the lower median of the distances to it, rows ``<= v`` go left
    and the others right; if a side may not stand, ``< v | >= v``; if that fails too, the segment is a class.

    Args:
        distance: ``euclid``, ``manhattan``, ``minkowski``, ``hamming`` (how many columns differ) or ``mixed``
            (Gower: differences by the column's range; 0 or 1 in ``categorical`` columns).
        vantage: ``random`` record of the segment, as published, or ``far``: the record farthest from the one
            farthest from a random one, which cuts along the segment's longest direction.
        seed: Draws the vantage points; None for another draw each time.
        power: Of the Minkowski distance, at least 1.
        categorical: Columns without an order, for the mixed distance.
        share: Of a segment's rows that goes left: 0.5 cuts at the median.

    Raises:
        InvalidParameter: If a setting is unknown or out of range.
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Rows equal in every column share a class.
        - A seed gives the same classes again, whatever the number of threads.

    References:
        Canbay: Utility-aware anonymisation (Canon, a VP-tree partitioner), doctoral thesis, 2019.
        Yianilos: Data structures and algorithms for nearest neighbor search in general metric spaces, 1993.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.1], [0.9], [1.0]])
        >>> Canon(vantage="far", seed=1)(points, Admission(((KAnonymity(2), None),), rows=4)).sizes
        array([2, 2])
    """

    distance: str = "euclid"
    vantage: str = "random"
    seed: int | None = None
    power: float = 3.0
    categorical: tuple[int, ...] = ()
    share: float = 0.5

    def __post_init__(self) -> None:
        check.one_of(DISTANCES, distance=self.distance)
        check.one_of(VANTAGES, vantage=self.vantage)
        check.at_least(1, power=self.power)
        check.between(0, 1, share=self.share)
        if self.seed is not None:
            check.whole(seed=self.seed)

    def __call__(self, points: Points, admits: Admits, *, threads: int | None = None) -> Partition:
        """Sort rows into classes that ``admits`` accepts; the result does not depend on ``threads``."""
        settings = self._for_kernels(points, least_rows(len(points), admits))
        if admits.plain:
            labels, classes = averaging.grow_balls(points, settings, threads=threads)
        else:
            labels, classes = _by_rounds(points, admits, settings, threads)
        return Partition(labels=labels, classes=classes)

    def _for_kernels(self, points: Points, minimum: int) -> averaging.Vantage:
        columns = points.shape[1]
        strange = [column for column in self.categorical if not 0 <= column < columns]
        if strange:
            raise InvalidParameter(f"categorical={strange[0]} must be a column, 0 .. {columns - 1}")
        widths = np.ptp(points, axis=0) if len(points) else np.zeros(columns)
        category = np.zeros(columns, np.bool_)
        category[list(self.categorical)] = True
        return averaging.Vantage(
            distance=DISTANCES.index(self.distance),
            power=float(self.power),
            scale=1.0 / np.where(widths > 0, widths, 1.0),
            category=category & (self.distance == "mixed"),
            far=self.vantage == "far",
            share=float(self.share),
            seed=np.uint64(secrets.randbits(64) if self.seed is None else self.seed % 2**64),
            minimum=minimum,
        )


def _by_rounds(
    points: Points, admits: Admits, settings: averaging.Vantage, threads: int | None
) -> tuple[Labels, int]:
    with averaging.Balls(points, settings, threads=threads) as balls:
        while True:
            rows, offsets = balls.propose()
            if len(rows) == 0:
                return balls.result()
            balls.decide(admits(rows, offsets))


def by_kinds(
    *,
    seed: int | None = None,
    categorical: tuple[int, ...] = (),
    distance: str | None = None,
    vantage: str = "far",
    power: float = 3.0,
    share: float = 0.5,
) -> Canon:
    """Make the Canon that suits the columns: ``mixed`` distances where there are categories, else Euclid's.

    Example:
        >>> by_kinds(categorical=(1,)).distance
        'mixed'
    """
    distance = distance if distance is not None else "mixed" if categorical else "euclid"
    return Canon(
        distance=distance, vantage=vantage, seed=seed, power=power, categorical=categorical, share=share
    )
