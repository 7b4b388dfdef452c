"""Random first cuts: nobody can play a method again to learn what it must have seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.partition.judging import Within
from mahrem.types import Points, Rows

_DEPTH = 4  # random cuts one below the other: up to 16 parts


@dataclass(frozen=True)
class Jittered:
    """Cut the table at random near its medians, a few times, and let a method sort the parts.

    The column of a cut is drawn by its width; the cut lies where a share of the rows drawn from ``0.5 - share
    .. 0.5 + share`` is on its left. Columns also get random weights within the same share, so that a method
    breaks ties between them differently each time. Whoever knows the method but not the seed cannot tell
    whether a cut is where it is because of the data or by chance.

    Args:
        method: Sorts the rows of each part.
        share: How far from the median a cut may lie, and how far from 1 a weight.
        trees: Which columns are leaves of a tree: they are neither cut here nor weighed.
        seed: Of all draws; None draws a new one from the system, which is what protects.

    Raises:
        InvalidParameter: If the method works on whole tables only.
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - Rows equal in every column lie in the same part.

    References:
        Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, 2007.
        Cohen: Attacks on deidentification's defenses, 2022.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission, Mondrian
        >>> points = np.linspace(0, 1, 12)[:, None]
        >>> admits = Admission(((KAnonymity(3), None),), rows=12)
        >>> Jittered(Mondrian(), share=0.2, seed=1)(points, admits).sizes.min() >= 3
        np.True_
    """

    method: Partitioner
    share: float = 0.1
    trees: tuple[bool, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        check.between(0, 0.4, share=self.share)

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        if getattr(self.method, "whole_table", False):
            raise InvalidParameter("jitter needs a method that cuts; this one lifts whole columns to levels")
        rng = np.random.default_rng(self.seed)
        plain = [place for place in range(points.shape[1]) if not (self.trees and self.trees[place])]
        parts = [np.arange(len(points), dtype=np.int32)]
        for _ in range(_DEPTH):
            parts = [side for part in parts for side in _cut(points, part, admits, plain, self.share, rng)]
        weighed = points.copy()
        for place in plain:
            weighed[:, place] *= np.where(
                points[:, place] > 0, rng.uniform(1 - self.share, 1 + self.share), 1.0
            )
        labels = np.empty(len(points), np.int64)
        classes = 0
        for part in parts:
            inside = self.method(weighed[part], Within(admits, part))
            labels[part] = np.where(inside.labels >= 0, inside.labels + classes, -1)
            classes += inside.classes
        return Partition(labels=labels, classes=classes)


def _cut(
    points: Points,
    part: Rows,
    admits: Admits,
    columns: list[int],
    share: float,
    rng: np.random.Generator,
) -> list[Rows]:
    """Cut a part at random if both sides may stand; else it stays whole."""
    widths = np.array([np.ptp(points[part, place]) for place in columns])
    if not len(columns) or widths.sum() == 0 or len(part) < 4 * admits.minimum:
        return [part]
    column = columns[int(rng.choice(len(columns), p=widths / widths.sum()))]
    values = points[part, column]
    at = int((0.5 + rng.uniform(-share, share)) * (len(part) - 1))
    left = values <= np.partition(values, at)[at]
    if left.all():
        return [part]
    sides = [part[left], part[~left]]
    offsets = np.array([0, len(sides[0]), len(part)], np.int64)
    return sides if admits(np.concatenate(sides), offsets).all() else [part]
