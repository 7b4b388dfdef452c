"""Run everything in this process, on all of its cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from mahrem.arrays import available_threads
from mahrem.partition import Admits, Partition, Partitioner, within_patterns
from mahrem.types import Mask, Points

__all__ = ["Local", "in_parallel", "is_spark_frame"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Local:
    """This machine."""

    def partition(self, partitioner: Partitioner, points: Points, missing: Mask, admits: Admits) -> Partition:
        """Sort rows into classes; rows that miss other values stay apart where the promise lets them."""
        return within_patterns(partitioner, points, missing, admits)


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do the same to every item on all cores, results in order; polars and our kernels let go of the lock.

    Example:
        >>> in_parallel(len, ["age", "zip", "sex"])
        [3, 3, 3]
    """
    with ThreadPoolExecutor(available_threads()) as pool:
        return list(pool.map(work, items))


def is_spark_frame(source: object) -> bool:
    """Say whether something is a Spark DataFrame, without loading Spark."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
