"""How far Spark is, and how many jobs it took."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mahrem.spark._session import is_connected
from mahrem.words import Note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY = 0.3  # seconds between two looks
_BAR = 20  # signs of the bar


@contextmanager
def count_jobs(session: SparkSession) -> Iterator[Callable[[], int | None]]:
    """Count the jobs that start inside the block; None with Spark Connect, where nobody can count them."""
    context = _context(session)
    if context is None:
        yield lambda: None
        return
    group = f"mahrem-{secrets.token_hex(8)}"
    context.setJobGroup(group, "mahrem", interruptOnCancel=True)
    tracker = context.statusTracker()
    try:
        yield lambda: len(tracker.getJobIdsForGroup(group))
    except KeyboardInterrupt:
        context.cancelJobGroup(group)
        raise
    finally:
        with suppress(Exception):  # a stopped context forgets its groups itself
            context._jsc.clearJobGroup()  # noqa: SLF001 - PySpark offers no other way


@contextmanager
def watch_tasks(
    session: SparkSession, progress: Callable[[Note], None] | None
) -> Iterator[Callable[[Note], None]]:
    """Add a bar of the tasks that are done to the name of the stage, while the block runs.

    Gives what to call with the name of each stage as it begins.
    """
    context = _context(session)
    if context is None or progress is None:
        yield progress or (lambda _: None)
        return
    ended, current = threading.Event(), [Note("stage.starting")]

    def begin(stage: Note) -> None:
        current[0] = stage
        progress(stage)

    def look() -> None:
        tracker = context.statusTracker()
        while not ended.wait(_EVERY):
            with suppress(Exception):  # Spark may be on its way out
                stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
                every = sum(stage.numTasks for stage in stages if stage)
                done = sum(stage.numCompletedTasks for stage in stages if stage)
                if every and not ended.is_set():
                    shown = {"stage": current[0], "bar": bar(done, every), "done": done, "every": every}
                    progress(Note("stage.tasks", shown))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield begin
    finally:
        ended.set()
        thread.join(5)


def bar(done: int, every: int) -> str:
    """Draw a bar.

    Example:
        >>> bar(1, 4)
        '▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱'
    """
    full = _BAR * done // every
    return f"{'▰' * full}{'▱' * (_BAR - full)}"


def _context(session: SparkSession) -> Any:
    """Give the context of a session that lives in this process."""
    return None if is_connected(session) else session.sparkContext
