"""Parquet in small slices: what is read at once does not grow with the file or its row groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from mahrem.table.reading._frames import PolarsSource
from mahrem.table.reading._reading import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ROWS = 1 << 14  # read at once
_BUFFER = 1 << 20  # bytes of a column that wait to be decoded
_SIMPLE = (pl.String, pl.Boolean, pl.Date, pl.Datetime)


def scan_sparingly(source: Source, names: Sequence[str]) -> pl.LazyFrame:
    """Scan columns with little memory where the source can; else as :meth:`Source.scan` does."""
    sliced = source.sliced(names) if isinstance(source, PolarsSource) else None
    return (sliced or source).scan(names)


def scan_slices(paths: Sequence[Path], names: Sequence[str]) -> pl.LazyFrame | None:
    """Scan columns of Parquet files a slice at a time; None where kinds need polars' own reader.

    polars' reader takes row groups whole, several at once; a file of few large ones would need them all.

    Guarantees:
        - The rows, their order and their kinds are those of ``polars.scan_parquet``.
    """
    from polars.io.plugins import register_io_source

    schema = pl.scan_parquet(list(paths), glob=False).select(names).collect_schema()
    if not all(kind.is_numeric() or isinstance(kind, _SIMPLE) for kind in schema.values()):
        return None

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if columns is None else columns
        left = rows
        for part in _parts(paths, wanted or list(schema)[:1]):
            frame = part.cast({name: schema[name] for name in part.columns}).select(wanted or part.columns)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if left == 0:
                return

    return register_io_source(read, schema=schema)


def _parts(paths: Sequence[Path], columns: list[str]) -> Iterator[pl.DataFrame]:
    import pyarrow.parquet as pq

    for path in paths:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            for batch in file.iter_batches(ROWS, columns=columns, use_threads=False):
                yield pl.DataFrame(pl.from_arrow(batch))
