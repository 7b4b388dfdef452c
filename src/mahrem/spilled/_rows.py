"""Numbers of rows on disk: written once, read again in the same order, never mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mahrem.types import Floats, Matrix

_AT_ONCE = 1 << 16  # rows that are read for one of their numbers


class RowStore:
    """Some numbers of every row in a file.

    Args:
        path: The file, which is new.
        width: Numbers of a row.
    """

    def __init__(self, path: Path, width: int) -> None:
        self.path, self.width, self.rows = path, width, 0
        path.touch(exist_ok=False)

    def append(self, numbers: Matrix[Floats]) -> None:
        """Write the numbers of some rows."""
        with self.path.open("ab") as stream:
            stream.write(np.ascontiguousarray(numbers, np.float64).data)
        self.rows += len(numbers)

    def batches(self, rows: int) -> Iterator[Matrix[Floats]]:
        """Read them again, so many rows at a time."""
        with self.path.open("rb") as stream:
            while len(read := self.next_rows(stream, rows)):
                yield read

    def column(self, place: int) -> Floats:
        """Read one number of every row."""
        numbers, begin = np.empty(self.rows), 0
        for read in self.batches(_AT_ONCE):
            numbers[begin : begin + len(read)] = read[:, place]
            begin += len(read)
        return numbers

    def next_rows(self, stream: BinaryIO, rows: int) -> Matrix[Floats]:
        """Read the next rows of the file, once opened."""
        return np.frombuffer(stream.read(rows * self.width * 8), np.float64).reshape(-1, self.width)
