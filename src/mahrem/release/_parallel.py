"""The same work for many items, on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mahrem.arrays import available_threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do the same to every item on all cores, results in order; polars and our kernels let go of the lock.

    Example:
        >>> in_parallel(len, ["age", "zip", "sex"])
        [3, 3, 3]
    """
    todo = list(items)
    threads = min(available_threads(), len(todo))
    if threads < 2:  # a pool costs more than a small table
        return [work(item) for item in todo]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, todo))
