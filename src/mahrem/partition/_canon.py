"""Canon: cut by the distance to a vantage point while both sides may stand."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from mahrem import arrays, check
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Admits, Partition, least_rows
from mahrem.types import Labels, Points

__all__ = ["Canon", "by_kinds", "canon"]

DISTANCES = ("euclid", "manhattan", "minkowski", "hamming", "mixed")  # in the order of the kernels
VANTAGES = ("random", "far")


def canon(
    points: Points,
    admits: Admits,
    *,
    distance: str = "euclid",
    vantage: str = "random",
    seed: int | None = None,
    power: float = 3.0,
    categorical: tuple[int, ...] = (),
    share: float = 0.5,
    threads: int | None = None,
) -> Partition:
    """Sort rows into balls and shells around vantage points, as small as ``admits`` allows.

    A segment gets a vantage point; with ``v`` the lower median of the distances to it, rows ``<= v`` go left
    and the others right; if a side may not stand, ``< v | >= v``; if that fails too, the segment is a class.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that columns compare.
        admits: Says of all candidate classes of a round at once which may stand.
        distance: ``euclid``, ``manhattan``, ``minkowski``, ``hamming`` (how many columns differ) or ``mixed``
            (Gower: differences by the column's range; 0 or 1 in ``categorical`` columns).
        vantage: ``random`` record of the segment, as published, or ``far``: the record farthest from the one
            farthest from a random one, which cuts along the segment's longest direction.
        seed: Draws the vantage points; None for another draw each time.
        power: Of the Minkowski distance, at least 1.
        categorical: Columns without an order, for the mixed distance.
        share: Of a segment's rows that goes left: 0.5 cuts at the median.
        threads: How many; None for one per core. The result does not depend on it.

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
        >>> canon(points, Admission(((KAnonymity(2), None),), rows=4), vantage="far", seed=1).sizes
        array([2, 2])
    """
    minimum = least_rows(len(points), admits)
    how = _settings(points, minimum, distance, vantage, seed, power, categorical, share)
    if admits.plain:
        labels, classes = arrays.grow_balls(points, how, threads=threads)
    else:
        labels, classes = _by_rounds(points, admits, how, threads)
    return Partition(labels=labels, classes=classes)


def _by_rounds(
    points: Points, admits: Admits, how: arrays.Vantage, threads: int | None
) -> tuple[Labels, int]:
    with arrays.Balls(points, how, threads=threads) as balls:
        while True:
            rows, offsets = balls.propose()
            if len(rows) == 0:
                return balls.result()
            balls.decide(admits(rows, offsets))


def _check(distance: str, vantage: str, seed: int | None, power: float, share: float) -> None:
    check.one_of(DISTANCES, distance=distance)
    check.one_of(VANTAGES, vantage=vantage)
    check.at_least(1, power=power)
    check.between(0, 1, share=share)
    if seed is not None:
        check.whole(seed=seed)


def _settings(
    points: Points,
    minimum: int,
    distance: str,
    vantage: str,
    seed: int | None,
    power: float,
    categorical: tuple[int, ...],
    share: float,
) -> arrays.Vantage:
    """Check the settings and put them as the kernels take them."""
    columns = points.shape[1]
    _check(distance, vantage, seed, power, share)
    strange = [column for column in categorical if not 0 <= column < columns]
    if strange:
        raise InvalidParameter(f"categorical={strange[0]} must be a column, 0 .. {columns - 1}")
    widths = np.ptp(points, axis=0) if len(points) else np.zeros(columns)
    category = np.zeros(columns, np.bool_)
    category[list(categorical)] = True
    return arrays.Vantage(
        distance=DISTANCES.index(distance),
        power=float(power),
        scale=1.0 / np.where(widths > 0, widths, 1.0),
        category=category & (distance == "mixed"),
        far=vantage == "far",
        share=float(share),
        seed=np.uint64(secrets.randbits(64) if seed is None else seed % 2**64),
        minimum=minimum,
    )


@dataclass(frozen=True, kw_only=True)
class Canon:
    """:func:`canon` as data: its settings can be printed, compared and stored."""

    distance: str = "euclid"
    vantage: str = "random"
    seed: int | None = None
    power: float = 3.0
    categorical: tuple[int, ...] = ()
    share: float = 0.5

    def __post_init__(self) -> None:
        _check(self.distance, self.vantage, self.seed, self.power, self.share)

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return canon(
            points,
            admits,
            distance=self.distance,
            vantage=self.vantage,
            seed=self.seed,
            power=self.power,
            categorical=self.categorical,
            share=self.share,
        )


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
    suited = distance if distance is not None else "mixed" if categorical else "euclid"
    return Canon(
        distance=suited, vantage=vantage, seed=seed, power=power, categorical=categorical, share=share
    )
