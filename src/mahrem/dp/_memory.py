"""A ledger without a file, for tests and simulations."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mahrem.dp._store import Record


class MemoryStore:
    """Keeps lines as long as it lives; as a file would, it shows them under a lock."""

    def __init__(self, header: Mapping[str, object]) -> None:
        self._lock = Lock()
        self._records: list[Record] = []
        self._add("ledger", header)

    def _add(self, kind: str, body: Mapping[str, object]) -> Record:
        from mahrem.dp._store import Record

        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        record = Record(len(self._records), now, kind, body, f"in memory {len(self._records)}")
        self._records.append(record)
        return record

    def records(self) -> list[Record]:
        """Give all lines."""
        with self._lock:
            return list(self._records)

    def append(self, kind: str, decide: Callable[[list[Record]], Mapping[str, object]]) -> Record:
        """Add one line; ``decide`` sees all others and may refuse by raising."""
        with self._lock:
            return self._add(kind, decide(list(self._records)))
