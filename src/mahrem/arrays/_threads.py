"""Work in threads: kernels release the interpreter's lock, so plain threads use all cores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from mahrem.threads import available_threads
from mahrem.types import Integers, Sizes

__all__ = ["chunks", "in_threads", "spread", "work_off"]

Task = TypeVar("Task")


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
