"""Run everything in this process, on all of its cores."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.partition import Admits, Partition, Partitioner, within_patterns
from mahrem.types import Mask, Points

__all__ = ["Local"]


@dataclass(frozen=True)
class Local:
    """This machine."""

    def partition(self, partitioner: Partitioner, points: Points, missing: Mask, admits: Admits) -> Partition:
        """Sort rows into classes; rows that miss other values stay apart where the promise lets them."""
        return within_patterns(partitioner, points, missing, admits)
