"""The order in which rows are published: that of a run in memory, found out of core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.recode import render
from mahrem.spilled._frames import FrameFiles
from mahrem.table import Cells
from mahrem.types import Labels

Hashes = NDArray[np.uint64]

_KEY = "key"
_WRITTEN = 65_536  # rows that are handed on at a time


class RowOrder:
    """Rows on their way out, in buckets of neighbouring hashes of what they publish.

    Args:
        folder: Where buckets are made.
        rows: Of the table.
        at_once: Rows of a bucket, about.
    """

    def __init__(self, folder: Path, rows: int, at_once: int) -> None:
        self._files = FrameFiles(folder, "bucket")
        self._buckets = max(1, -(-rows // max(1, at_once // 2)))

    def add(self, shown: Iterable[pl.Series], keys: Hashes) -> None:
        """Put rows into their buckets, by the hashes of what they publish."""
        own = [column.alias(f"c{place}") for place, column in enumerate(shown)]
        bucket = ((keys >> np.uint64(32)) * np.uint64(self._buckets)) >> np.uint64(32)
        self._files.scatter(pl.DataFrame([pl.Series(_KEY, keys), *own]), bucket.astype(np.int64))

    def close(self) -> None:
        """End adding."""
        self._files.close()

    def rows(self, names: tuple[str, ...]) -> Iterator[pl.DataFrame]:
        """Give all rows in their order, some at a time."""
        for bucket in range(self._buckets):
            held = self._files.take(bucket)
            if held is None:
                continue
            ordered = held[held[_KEY].arg_sort().to_numpy()].drop(_KEY)
            del held
            yield from ordered.rename(dict(zip(ordered.columns, names, strict=True))).iter_slices(_WRITTEN)


def class_hashes(cells: Mapping[str, Cells]) -> Hashes:
    """Hash what classes show, as a draft in memory does."""
    classes = np.arange(len(next(iter(cells.values())).text))
    shown = [series for name in cells for series in render(cells[name], classes, "text", name)]
    return pl.DataFrame(shown).hash_rows(seed=0).to_numpy()


def row_hashes(carried: pl.DataFrame, classes: Hashes, labels: Labels) -> Hashes:
    """Hash what rows publish, as a draft in memory does."""
    others = [column.alias(str(place)) for place, column in enumerate(carried)]
    return pl.DataFrame([pl.Series("", classes[labels]), *others]).hash_rows(seed=0).to_numpy()
