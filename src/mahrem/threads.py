"""Work on all cores of this machine: kernels and polars release the interpreter's lock, so threads do."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar, cast

import numpy as np

from mahrem.types import Integers, Sizes

WORTH_THREADS = 10_000  # rows from which on a second thread saves more than it costs

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = TypeVar("Task")


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


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Give items in their order; the next one is made in a thread of its own while somebody has this one.

    Example:
        >>> list(ahead(iter("abc")))
        ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1) as pool:
        ends = object()
        coming = pool.submit(next, items, ends)
        while (item := coming.result()) is not ends:
            coming = pool.submit(next, items, ends)
            yield cast("Item", item)


def chunks(sizes: Sizes, parts: int) -> Integers:
    """Cut a list of pieces into runs of about equal total size; gives the runs' borders."""
    if parts == 1 or len(sizes) < 2:
        return np.arange(0, len(sizes) + 1, max(1, len(sizes)))
    ends = np.cumsum(sizes)
    wanted = np.arange(1, parts) * (float(ends[-1]) / parts)
    borders = np.concatenate([[0], np.searchsorted(ends, wanted), [len(sizes)]])
    return borders[np.diff(borders, prepend=-1) > 0]


def spread(
    work: Callable[[int, int], object], borders: Integers, pool: ThreadPoolExecutor | None, threads: int
) -> None:
    """Run ``work(first, last)`` for every run between two borders; the calling thread takes its share."""
    runs = iter(list(itertools.pairwise(borders.tolist())))

    def drain() -> None:
        for first, last in runs:  # a list's iterator gives each run to one thread only
            work(first, last)

    helpers = min(threads, len(borders) - 1) - 1
    futures = [pool.submit(drain) for _ in range(helpers)] if pool is not None else []
    try:
        drain()
    finally:
        wait(futures)
    for future in futures:
        future.result()


def in_threads(
    work: Callable[[int, int], object], sizes: Sizes, parts: int, threads: int | None = None
) -> None:
    """Run ``work(first, last)`` on about ``parts`` runs of pieces with about equal total size.

    ``work`` runs in several threads at once and writes where no other run writes.
    """
    workers = min(available_threads(threads), parts)
    if workers < 2:
        spread(work, chunks(sizes, parts), None, 1)
        return
    with ThreadPoolExecutor(workers - 1) as pool:
        spread(work, chunks(sizes, parts), pool, workers)


def work_off(work: Callable[[Task], Iterable[Task]], first: Task, pool: ThreadPoolExecutor) -> None:
    """Do a task and whatever tasks come out of it, until none is left."""
    waiting: set[Future[Iterable[Task]]] = {pool.submit(work, first)}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            waiting.update(pool.submit(work, task) for task in future.result())
