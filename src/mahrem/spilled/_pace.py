"""How far a long stage is: rows a second, and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from mahrem.words import Note

_EVERY = 1.0  # seconds between two words

Item = TypeVar("Item")


@dataclass
class Pace:
    """Tells how far a stage is, once a second at most."""

    rows: int  # of the table
    tell: Callable[[Note], None]
    _stage: Note | None = None
    _done: int = 0
    _began: float = 0.0
    _last_report: float = field(default=0.0)

    def begin(self, stage: Note) -> None:
        """Name the stage that begins."""
        self._stage, self._done = stage, 0
        self._began = self._last_report = time.perf_counter()
        self.tell(stage)

    def watch(self, items: Iterable[Item], rows: Callable[[Item], int]) -> Iterator[Item]:
        """Pass items on, and tell how many rows have gone by."""
        for item in items:
            yield item
            self.add(rows(item))

    def add(self, rows: int) -> None:
        """Count rows that are done."""
        self._done += rows
        now = time.perf_counter()
        if self._stage is None or now - self._last_report < _EVERY:
            return
        self._last_report = now
        pace = self._done / (now - self._began)
        values = {
            "stage": self._stage,
            "done": self._done,
            "rows": self.rows,
            "pace": round(pace),
            "seconds": max(0, self.rows - self._done) / pace,
        }
        self.tell(Note("stage.rows", values))
