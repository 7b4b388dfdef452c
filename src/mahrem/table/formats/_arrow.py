"""Arrow files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mahrem.table.reading import Reading, Source, open_polars


class ArrowFiles:
    """Arrow files, which others call Feather or IPC."""

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a file."""
        return open_polars(path, reading, "Arrow file", lambda: pl.scan_ipc(path, glob=False))

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:  # noqa: ARG002 - nothing waits
        """Write a table."""
        frame.write_ipc(stream, compression="zstd")

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:  # noqa: ARG002 - nothing waits
        """Write each part as batches of its own."""
        import pyarrow as pa

        first = next(parts)
        schema = first.head(0).to_arrow().schema
        rows = 0
        with pa.ipc.new_file(stream, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            for part in chain([first], parts):
                writer.write_table(part.to_arrow().cast(schema))
                rows += part.height
        return rows

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:  # noqa: ARG002 - it names them
        """Read header and cells."""
        published = pl.scan_ipc(path, glob=False)
        return published.collect_schema().names(), published


ARROW = ArrowFiles()
