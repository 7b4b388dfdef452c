"""Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mahrem.table.reading import ParquetSlices, Reading, Source, open_polars, scan_slices


class ParquetFiles:
    """Parquet files, and folders of them as a cluster writes them."""

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a file, or all files of a folder as one table."""
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        kind = "Parquet folder" if path.is_dir() else "Parquet file"
        return open_polars(path, reading, kind, lambda: pl.scan_parquet(files, glob=False), files=files)

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:  # noqa: ARG002 - nothing waits
        """Write a table."""
        frame.write_parquet(stream)

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:  # noqa: ARG002 - nothing waits
        """Write each part as row groups of its own."""
        import pyarrow.parquet as pq

        first = next(parts)
        schema = first.head(0).to_arrow().schema
        rows = 0
        with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
            for part in chain([first], parts):
                writer.write_table(part.to_arrow().cast(schema))
                rows += part.height
        return rows

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:  # noqa: ARG002 - it names them
        """Read header and cells."""
        published = pl.scan_parquet(path, glob=False)
        return published.collect_schema().names(), published

    def read_slices(self, path: Path, columns: Sequence[str]) -> pl.LazyFrame:
        """Read cells as :meth:`read_back` does, a slice at a time where kinds allow it."""
        sliced = scan_slices(ParquetSlices([path]), columns)
        return pl.scan_parquet(path, glob=False) if sliced is None else sliced


PARQUET = ParquetFiles()
