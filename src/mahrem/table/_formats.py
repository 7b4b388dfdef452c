"""The formats of files: one entry each, with what others ask of one before a file is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from mahrem.table.reading import Reading, Source
    from mahrem.types import Codes, Offsets


class TableFiles(Protocol):
    """Files of one format: how they are opened, written, and read back to be checked."""

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a file as a table."""
        ...

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
        """Write a table; ``folder`` is for what must wait on the way."""
        ...

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:
        """Write a table that comes in parts; gives the number of rows."""
        ...

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:
        """Read a published file, without what opens others' files: header, and cells as ``columns``."""
        ...


@runtime_checkable
class RecordFiles(Protocol):
    """Files of text whose rows can be put together from pieces."""

    separator: str

    def header(self, names: Sequence[str]) -> bytes:
        """Write the line that names the columns."""
        ...

    def records(self, frame: pl.DataFrame, end: str) -> tuple[NDArray[np.uint8], Offsets]:
        """Write what each row shows in some columns, ``end`` behind it; gives where each begins, too."""
        ...


class NumberedCells(NamedTuple):
    """The cells of a column as numbers of the texts that they show."""

    texts: pl.Series  # all different
    codes: Codes  # (rows,) -1 where a cell says nothing

    def rows(self, texts: pl.Series) -> pl.Series:
        """Give every row what ``texts``, made of these one by one, says of its text."""
        beyond = texts.extend_constant(None, 1)
        return beyond.gather(np.where(self.codes < 0, len(texts), self.codes))


@runtime_checkable
class NumberedFiles(Protocol):
    """Files of text that can be read column by column, each text once."""

    def read_numbered(
        self, path: Path, columns: Sequence[str], wanted: Sequence[str]
    ) -> tuple[list[str], dict[str, NumberedCells]] | None:
        """Read header and some of the columns; None where only :meth:`TableFiles.read_back` can."""
        ...


@dataclass(frozen=True, kw_only=True)
class FileFormat(Entry):
    """A format of files.

    Attributes:
        media: What the web calls it.
        endings: Of its files.
        begins: Their first bytes, where these tell.
        ending_decides: Other formats begin alike: only the ending tells.
        sheets: A file may hold several tables.
        spreadsheets: They open it: text that could be a formula is disarmed, and nested values are refused.
        on_spark: A cluster writes it, in parts.
        most_rows: That a file can hold.
        most_columns: The same.
    """

    media: str
    endings: tuple[str, ...]
    begins: bytes = b""
    ending_decides: bool = False
    sheets: bool = False
    spreadsheets: bool = False
    on_spark: bool = False
    most_rows: int | None = None
    most_columns: int | None = None

    def load(self) -> TableFiles:
        """Import what reads and writes it."""
        return cast("TableFiles", super().load())

    def fits(self, ending: str, head: bytes) -> bool:
        """Say whether a file with this ending and these first bytes is one."""
        if self.begins:
            return head.startswith(self.begins) and (ending in self.endings or not self.ending_decides)
        return False


FORMATS: Entries[FileFormat] = Entries(
    "mahrem.formats",
    FileFormat,
    (
        FileFormat(
            name="csv",
            home="mahrem.table.formats._text:CSV",
            media="text/csv; charset=utf-8",
            endings=(".csv", ".txt"),
            spreadsheets=True,
            on_spark=True,
        ),
        FileFormat(
            name="tsv",
            home="mahrem.table.formats._text:TSV",
            media="text/tab-separated-values; charset=utf-8",
            endings=(".tsv",),
            spreadsheets=True,
            on_spark=True,
        ),
        FileFormat(
            name="parquet",
            home="mahrem.table.formats._parquet:PARQUET",
            media="application/vnd.apache.parquet",
            endings=(".parquet",),
            begins=b"PAR1",
            on_spark=True,
        ),
        FileFormat(
            name="arrow",
            home="mahrem.table.formats._arrow:ARROW",
            media="application/vnd.apache.arrow.file",
            endings=(".arrow", ".feather", ".ipc"),
            begins=b"ARROW1",
        ),
        FileFormat(
            name="xlsx",
            home="mahrem.table.formats._excel:EXCEL",
            media="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            endings=(".xlsx", ".xlsm"),
            begins=b"PK\x03\x04",
            ending_decides=True,
            sheets=True,
            spreadsheets=True,
            most_rows=1_048_575,  # and the header
            most_columns=16_384,
        ),
    ),
)


def refuse_too_large(format: str, rows: int, columns: int = 1) -> None:  # noqa: A002 - the option's name
    """Refuse a table that is larger than a file of the format can hold."""
    known = FORMATS[format]
    if known.most_rows is not None and rows > known.most_rows:
        raise InvalidParameter(
            f"format={format!r} holds {known.most_rows:,} rows below its header, and there are {rows:,}; "
            f"write CSV or Parquet"
        )
    if known.most_columns is not None and columns > known.most_columns:
        raise InvalidParameter(
            f"format={format!r} holds {known.most_columns:,} columns, and there are {columns:,}; "
            f"write CSV or Parquet"
        )
