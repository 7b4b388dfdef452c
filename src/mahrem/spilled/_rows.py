"""Numbers of rows on disk: written once, read again in the same order, never mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mahrem.types import Floats, Matrix


class RowStore:
    """Some numbers of every row in a file.

    Args:
        path: The file, which is new.
        width: Numbers of a row.
    """

    def __init__(self, path: Path, width: int) -> None:
        self.path, self.width, self.rows = path, width, 0
        self._stream = path.open("xb")

    def append(self, numbers: Matrix[Floats]) -> None:
        """Write the numbers of some rows."""
        self._stream.write(np.ascontiguousarray(numbers, np.float64).data)
        self.rows += len(numbers)

    def batches(self, rows: int) -> Iterator[Matrix[Floats]]:
        """Read them again, so many rows at a time."""
        if not self._stream.closed:
            self._stream.close()
        with self.path.open("rb") as stream:
            while len(read := np.fromfile(stream, np.float64, rows * self.width)):
                yield read.reshape(-1, self.width)

    def next_rows(self, stream: object, rows: int) -> Matrix[Floats]:
        """Read the next rows of an open file."""
        return np.fromfile(stream, np.float64, rows * self.width).reshape(-1, self.width)  # type: ignore[arg-type]

    def close(self) -> None:
        """End writing."""
        self._stream.close()
