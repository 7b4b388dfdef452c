"""Files in small slices: what is read at once does not grow with the file or its row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.table.reading._frames import PolarsSource
from mahrem.table.reading._reading import Source
from mahrem.table.reading._structure import QUOTE

ROWS = 1 << 14  # read at once
_BUFFER = 1 << 20  # bytes of a column that wait to be decoded
_BLOCK = 1 << 22  # bytes of text read at once
_SIMPLE = (pl.String, pl.Boolean, pl.Date, pl.Datetime)


class Slices(Protocol):
    """A table that can be read slice by slice, again and again in the same order."""

    def schema(self, names: Sequence[str]) -> pl.Schema | None:
        """Give the kinds of some columns; None where one of them cannot be read in slices."""

    def read(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns; slices have a few ten thousand rows."""


def scan_sparingly(source: Source, names: Sequence[str]) -> pl.LazyFrame:
    """Scan columns with little memory where the source can; else as :meth:`Source.scan` does."""
    sliced = source.sliced(names) if isinstance(source, PolarsSource) else None
    return (sliced or source).scan(names)


def scan_slices(slices: Slices, names: Sequence[str]) -> pl.LazyFrame | None:
    """Scan columns a slice at a time; None where kinds need polars' own reader.

    Guarantees:
        - The rows, their order and their kinds are those of polars' own reader.
    """
    from polars.io.plugins import register_io_source

    schema = slices.schema(names)
    if schema is None:
        return None

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if columns is None else columns
        left = rows
        for part in slices.read(wanted or list(schema)[:1]):
            frame = part.select(wanted or part.columns)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if left == 0:
                return

    return register_io_source(read, schema=schema)


@dataclass(frozen=True)
class ParquetSlices:
    """Parquet files: polars' own reader takes row groups whole, several at once, and some files have one."""

    paths: Sequence[Path]

    def schema(self, names: Sequence[str]) -> pl.Schema | None:
        """Give the kinds of some columns; None where one of them is none of the simple ones."""
        schema = pl.scan_parquet(list(self.paths), glob=False).select(names).collect_schema()
        simple = all(kind.is_numeric() or isinstance(kind, _SIMPLE) for kind in schema.values())
        return schema if simple else None

    def read(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns."""
        import pyarrow.parquet as pq

        schema = pl.scan_parquet(list(self.paths), glob=False).select(names).collect_schema()
        for path in self.paths:
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for batch in file.iter_batches(ROWS, columns=list(names), use_threads=False):
                    frame = pl.DataFrame(pl.from_arrow(batch))
                    yield frame.cast({name: schema[name] for name in frame.columns}).select(names)


@dataclass(frozen=True)
class TextSlices:
    """A proper CSV file in UTF-8: blocks of whole records.

    Attributes:
        path: The file.
        begin: Where its first record begins, in bytes.
        names: Of all columns.
        separator: Between cells.
        newline: The byte at the end of a record.
        blanks: Which records are blank lines, in order; they are passed over.
    """

    path: Path
    begin: int
    names: tuple[str, ...]
    separator: str
    newline: int
    blanks: NDArray[np.int64] = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))

    def schema(self, names: Sequence[str]) -> pl.Schema:
        """All cells are text."""
        return pl.Schema(dict.fromkeys(names, pl.String()))

    def read(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns as text; empty cells are missing."""
        done = 0
        for block in self._blocks():
            frame = (
                pl.scan_csv(
                    block,
                    has_header=False,
                    new_columns=list(self.names),
                    separator=self.separator,
                    eol_char=chr(self.newline),
                    infer_schema=False,
                    null_values=[""],
                )
                .select(names)
                .collect()
            )
            here = self.blanks[np.searchsorted(self.blanks, done) :]
            here = here[: np.searchsorted(here, done + frame.height)] - done
            done += frame.height
            if len(here):
                keep = np.ones(frame.height, np.bool_)
                keep[here] = False
                frame = frame.filter(pl.Series(keep))
            yield frame

    def _blocks(self) -> Iterator[bytes]:
        """Give whole records: a line end within quotes ends none."""
        end = bytes([self.newline])
        with self.path.open("rb") as stream:
            stream.seek(self.begin)
            rest = b""
            while block := stream.read(_BLOCK):
                rest += block
                cut = _last_end(rest, end)
                if cut:
                    yield rest[:cut]
                    rest = rest[cut:]
            if rest:
                yield rest


def _last_end(content: bytes, end: bytes) -> int:
    """Give the place behind the last record that is whole, 0 if none is."""
    cut = content.rfind(end) + 1
    if b'"' not in content:
        return cut
    data = np.frombuffer(content, np.uint8)
    outside = (np.cumsum(data == QUOTE, dtype=np.uint8) & 1) == 0
    ends = np.flatnonzero((data == end[0]) & outside)
    return int(ends[-1]) + 1 if ends.size else 0
