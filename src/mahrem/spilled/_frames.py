"""Rows on disk in several files, one for each part or bucket they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import polars as pl

from mahrem.types import Integers


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
        for place, (begin, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            if end > begin:
                self._append(place, ordered[int(begin) : int(end)])

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
        held = list(self.pieces(place))
        self.remove(place)
        return pl.concat(held, rechunk=True) if held else None

    def remove(self, place: int) -> None:
        """Remove a file: its rows went on."""
        self._path(place).unlink(missing_ok=True)

    def _path(self, place: int) -> Path:
        return self._folder / f"{self._what}-{place}"
