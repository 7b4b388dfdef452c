"""Figures of a partition of points, with the names and definitions of the metrics room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.arrays import cutting
from mahrem.metrics import discernibility, gcp_sum
from mahrem.models import KAnonymity
from mahrem.partition import Admission, Partition, Partitioner
from mahrem.types import Labels, Points


@dataclass(frozen=True)
class PartitionFigures:
    """What the tables of Canbay (2019) print of a partition."""

    classes: int
    dm: int
    gcp_sum: float
    mean_class_size: float


def partition_by_size(method: Partitioner, points: Points, k: int) -> Partition:
    """Partition points under plain k-anonymity."""
    return method(points, Admission(((KAnonymity(k), None),), rows=len(points)))


def measure(points: Points, labels: Labels, classes: int) -> PartitionFigures:
    """Measure the classes of points that are scaled to [0, 1]; rows with label -1 are left out.

    Example:
        >>> import numpy as np
        >>> points = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]])
        >>> measure(points, np.array([0, 0, 1]), 2)
        PartitionFigures(classes=2, dm=5, gcp_sum=1.0, mean_class_size=1.5)
    """
    kept = labels >= 0
    inside, points = labels[kept], points[kept]
    sizes = np.bincount(inside, minlength=classes)
    widths = np.empty((classes, points.shape[1]))
    for column in range(points.shape[1]):
        low, high, _ = cutting.class_extremes(np.ascontiguousarray(points[:, column]), inside, classes)
        widths[:, column] = high - low
    held = sizes > 0
    count = int(held.sum())
    return PartitionFigures(
        classes=count,
        dm=discernibility(sizes),
        gcp_sum=gcp_sum(sizes[held], widths[held]),
        mean_class_size=len(inside) / max(count, 1),
    )
