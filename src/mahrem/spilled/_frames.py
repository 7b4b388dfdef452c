"""Rows on disk in several files, one for each part or bucket they belong to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import polars as pl

from mahrem.errors import MahremError, OutputFailed, spelled
from mahrem.types import Integers

_NUMBER = re.compile(r"errno (\d+)", re.IGNORECASE)  # how pyarrow passes on what the system said


@contextmanager
def on_disk(output: Path) -> Iterator[None]:
    """Say in our words that there is no place for what does not fit into memory."""
    try:
        yield
    except OSError as error:
        if isinstance(error, MahremError):
            raise
        noted = _NUMBER.search(str(error))
        number = error.errno or (int(noted[1]) if noted else 0)
        reason = os.strerror(number) if number else type(error).__name__
        raise OutputFailed(
            f"beside output={output.name!r} there is no place for what does not fit into memory ({reason}); "
            f"nothing was left behind: choose another disk, or give more memory ({spelled('memory')})"
        ) from None


class FrameFiles:
    """Files of rows in a private folder; what was read is removed.

    Args:
        folder: Where they are made.
        what: Their names begin so.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._folder, self._what = folder, what
        self._open: dict[int, Any] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def scatter(self, frame: pl.DataFrame, places: Integers) -> None:
        """Append every row to the file of its place."""
        order = np.argsort(places, kind="stable")
        ordered = frame[order]
        ends = np.searchsorted(places[order], np.arange(int(places.max(initial=-1)) + 2))
        for place, (begin, end) in enumerate(pairwise(ends.tolist())):
            if end > begin:
                self._append(place, ordered[begin:end])

    def _append(self, place: int, rows: pl.DataFrame) -> None:
        import pyarrow as pa

        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        if place not in self._open:
            sink = self._stack.enter_context(pa.OSFile(str(self._path(place)), "wb"))
            tight = pa.ipc.IpcWriteOptions(compression="lz4")
            self._open[place] = self._stack.enter_context(
                pa.ipc.new_stream(sink, table.schema, options=tight)
            )
        self._open[place].write_table(table)

    def close(self) -> None:
        """End writing."""
        self._stack.close()

    def pieces(self, place: int) -> Iterator[pl.DataFrame]:
        """Read a file piece by piece, as it was written."""
        import pyarrow as pa

        if not self._path(place).exists():
            return
        with pa.OSFile(str(self._path(place)), "rb") as stream, pa.ipc.open_stream(stream) as reader:
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))

    def take(self, place: int) -> pl.DataFrame | None:
        """Read a whole file and remove it; None if nothing was written there."""
        import pyarrow as pa

        if not self._path(place).exists():
            return None
        with pa.OSFile(str(self._path(place)), "rb") as stream, pa.ipc.open_stream(stream) as reader:
            held = pl.DataFrame(pl.from_arrow(reader.read_all(), rechunk=True))
        self.remove(place)
        return held

    def remove(self, place: int) -> None:
        """Remove a file: its rows went on."""
        self._path(place).unlink(missing_ok=True)

    def _path(self, place: int) -> Path:
        return self._folder / f"{self._what}-{place}"
