"""Work on all cores of this machine: the same for many items, or one thing beside another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar

WORTH_THREADS = 10_000  # rows from which on a second thread saves more than it costs

__all__ = ["available_threads", "in_parallel", "meanwhile"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads(threads: int | None = None) -> int:
    """Give the number of threads to use: as asked, else one per core this process may use."""
    if threads is not None:
        return max(1, threads)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def in_parallel(
    work: Callable[[Item], Result], items: Iterable[Item], *, rows: int | None = None
) -> list[Result]:
    """Do the same to every item on all cores, results in order; polars and our kernels let go of the lock.

    Args:
        work: What to do.
        items: With what.
        rows: How many rows each item has, where that is known: few are done sooner than threads are started.

    Example:
        >>> in_parallel(len, ["age", "zip", "sex"])
        [3, 3, 3]
    """
    todo = list(items)
    threads = min(available_threads(), len(todo))
    if threads < 2 or (rows is not None and rows < WORTH_THREADS):
        return [work(item) for item in todo]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, todo))


@contextmanager
def meanwhile(work: Callable[[], Result], *, rows: int) -> Iterator[Callable[[], Result]]:
    """Begin some work in a thread of its own; gives a function that waits for what came of it.

    Few rows are worked on when somebody asks. What was begun is done when the block ends, however it ends;
    what it raised is raised by who asks, and by nobody else.

    Example:
        >>> with meanwhile(lambda: sum(range(10)), rows=10) as total:
        ...     total()
        45
    """
    if rows < WORTH_THREADS or available_threads() < 2:
        yield cache(work)
        return
    with ThreadPoolExecutor(1) as pool:  # what was set for this context holds there, too
        yield pool.submit(copy_context().run, work).result
