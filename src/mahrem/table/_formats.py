"""The formats of files: one entry each, with what others ask of one before a file is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, Protocol, cast, runtime_checkable

from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
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


@runtime_checkable
class LabelledFiles(Protocol):
    """Files of packages that hold some kinds of cells alone, with words beside the names of columns."""

    def as_held(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give a table as such a file holds it: columns with a cell that it cannot hold are text."""
        ...

    def write_labelled(
        self, frame: pl.DataFrame, stream: BinaryIO, folder: Path, labels: Mapping[str, str]
    ) -> None:
        """Write a table as ``write`` does, with what its columns are called in words."""
        ...


@runtime_checkable
class SlicedFiles(Protocol):
    """Files that are read back with little memory."""

    def read_slices(self, path: Path, columns: Sequence[str]) -> pl.LazyFrame:
        """Read the cells of a published file, a slice at a time."""
        ...


class NumberedCells(NamedTuple):
    """The cells of a column as numbers of the texts that they show."""

    texts: pl.Series  # all different
    codes: Codes  # (rows,) -1 where a cell says nothing

    def rows(self, texts: pl.Series) -> pl.Series:
        """Give every row what ``texts``, made of these one by one, says of its text."""
        import numpy as np
        import polars as pl

        if self.codes.min(initial=0) >= 0:
            return texts.gather(pl.Series(self.codes.view(np.uint32)))
        return texts.extend_constant(None, 1).gather(np.where(self.codes < 0, len(texts), self.codes))


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
        writable: Files of it are written, not only read.
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
    writable: bool = True

    def load(self) -> TableFiles:
        """Import what reads and writes it."""
        return cast("TableFiles", super().load())

    def fits(self, ending: str, head: bytes) -> bool:
        """Say whether a file with this ending and these first bytes is one."""
        if self.begins:
            return head.startswith(self.begins) and (ending in self.endings or not self.ending_decides)
        return False


# Written by scripts/keywords.py: the names below that can be written, for type checkers.
FormatName = Literal["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta", "xpt"]
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
        FileFormat(
            name="sav",
            home="mahrem.table.formats._statistics:SPSS",
            media="application/x-spss-sav",
            endings=(".sav", ".zsav"),
            begins=b"$FL",
        ),
        FileFormat(
            name="dta",
            home="mahrem.table.formats._statistics:STATA",
            media="application/x-stata-dta",
            endings=(".dta",),
            begins=b"<stata_dta>",  # older ones have none, and go by their ending
        ),
        FileFormat(
            name="xpt",
            home="mahrem.table.formats._statistics:SAS_TRANSPORT",
            media="application/x-sas-xport",
            endings=(".xpt",),
            begins=b"HEADER RECORD***",
        ),
        FileFormat(
            name="sas7bdat",
            home="mahrem.table.formats._statistics:SAS",
            media="application/x-sas-data",
            endings=(".sas7bdat",),
            begins=bytes(12) + b"\xc2\xea\x81\x60",
            writable=False,
        ),
    ),
)


def written_formats() -> tuple[str, ...]:
    """Name the formats that tables are written in."""
    return tuple(name for name, known in FORMATS.items() if known.writable)


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
