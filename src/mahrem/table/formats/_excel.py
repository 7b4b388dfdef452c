"""XLSX: spreadsheets as they are, numbers as numbers and all else as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import time
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
from polars import selectors

from mahrem.check import extra
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.table._formats import refuse_too_large
from mahrem.table.cells import EXACT
from mahrem.table.reading import (
    PolarsSource,
    Reading,
    Source,
    name_columns,
)
from mahrem.table.reading.headers import Header, find_header, given_names, header_score, refuse_headerless
from mahrem.words import Note


class ExcelFiles:
    """XLSX files with one sheet that counts."""

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a sheet."""
        return open_excel(path, reading)

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
        """Write a table as the only sheet."""
        from mahrem.table.formats._excel_writer import write_excel

        refuse_too_large("xlsx", frame.height, frame.width)
        write_excel(frame, stream, folder)

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:
        """Hold all parts: a sheet cannot be written in parts."""
        whole = pl.concat(parts)
        self.write(whole, stream, folder)
        return whole.height

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:
        """Read header and cells as text."""
        names, held = excel_texts(path)
        return names, held.rename(dict(zip(held.columns, columns, strict=False))).lazy()


EXCEL = ExcelFiles()


def open_excel(path: Path, reading: Reading) -> Source:
    """Open a sheet of an XLSX file; ``reading.table`` says which, if there are several.

    The first row names the columns. Days without a time are dates; whole numbers are integers; columns that
    mix numbers and text are text. Of a formula the value counts that the spreadsheet saved.
    """
    label = f"XLSX file {path.name!r}"
    workbook = _workbook(path, label)
    sheet = _sheet(workbook, reading, label)
    records = _first_rows(workbook, sheet, path, label)
    top = reading.skip_rows or 0
    if top >= len(records):
        raise InvalidParameter(f"skip_rows={top} must leave a row of {label} for the header")
    header = Header(0, 0) if reading.by_cell else find_header(records[top:])
    if reading.by_cell:
        records[top] = _named(records[top])  # a stray cell beside the table makes every row wider
    elif reading.skip_rows is not None or reading.header is not None:
        header = Header(
            0, header.score if not header.titles else header_score(records[top], records[top + 1 :])
        )
    first = records[top + header.titles]
    given = given_names(
        reading.names, header=reading.header, score=header.score, columns=len(first), label=label
    )
    if given is None and reading.header is None and header.score > 0:
        raise refuse_headerless(label, len(first), top + header.titles)
    names = name_columns(first if given is None else given, label, header=given is None)
    has_header = reading.header is not False and (header.score <= 0 or reading.header is True)
    begins: dict[str, Any] = {"header_row": top + header.titles} if has_header else {"header_row": None}
    if not has_header:
        begins |= {"skip_rows": top + header.titles, "column_names": list(names)}
    begins |= {"dtypes": "string"} if reading.by_cell else {"schema_sample_rows": None}
    frame = _loaded(lambda: workbook.load_sheet(sheet, **begins).to_polars(), label)
    frame = frame.select(frame.columns[: len(names)])
    frame.columns = list(names)
    if reading.by_cell:
        frame = frame.select(pl.all().str.strip_suffix(" 00:00:00"))  # days, as every other day is written
    else:
        frame = pl.DataFrame([_typed(series) for series in frame])
    source = PolarsSource.held(frame, label, reading)
    if header.titles:
        source.notes = (Note("warning.title_rows"),)
    return source


def _named(header: list[str]) -> list[str]:
    """Leave out what stands behind the last name."""
    last = max((place for place, name in enumerate(header) if name), default=-1)
    return header[: last + 1] or header


def excel_texts(path: Path) -> tuple[list[str], pl.DataFrame]:
    """Read the first sheet as the text its cells show: the header, and all else under running names."""
    label = f"XLSX file {path.name!r}"
    workbook = _workbook(path, label)
    names = _first_rows(workbook, _sheet(workbook, Reading(), label), path, label, 1)[0]
    frame = _loaded(lambda: workbook.load_sheet(0, schema_sample_rows=None).to_polars(), label)
    frame.columns = [str(place) for place in range(frame.width)]
    # The library would write numbers as text with fewer digits than they have.
    texts = frame.with_columns(selectors.float().cast(pl.String).str.strip_suffix(".0")).cast(pl.String)
    return names, texts.select(pl.when(pl.all() != "").then(pl.all()))


def _typed(series: pl.Series) -> pl.Series:
    """Spreadsheets know neither whole numbers nor days; give a column that holds only such its kind."""
    held = series.drop_nulls()
    if not len(held):
        return series.cast(pl.String)
    if series.dtype.is_float() and bool(((held == held.round()) & (held.abs() <= EXACT)).all()):
        return series.cast(pl.Int64)
    if isinstance(series.dtype, pl.Datetime) and bool((held.dt.time() == time(0)).all()):
        return series.cast(pl.Date)
    return series


def _workbook(path: Path, label: str) -> Any:
    try:
        import fastexcel
    except ImportError as error:
        raise extra("excel", needed_for="reading XLSX") from error
    return _loaded(lambda: fastexcel.read_excel(path), label)


def _sheet(workbook: Any, reading: Reading, label: str) -> str:
    names: list[str] = workbook.sheet_names
    if reading.table is None:
        if len(names) == 1:
            return names[0]
        raise InvalidInput(
            f"{label} has {len(names)} sheets; say which with {spelled('table')}: {', '.join(names)}"
        )
    if reading.table not in names:
        raise InvalidInput(f"{label} has no sheet table={reading.table!r}; there are {', '.join(names)}")
    return reading.table


def _first_rows(workbook: Any, sheet: str, path: Path, label: str, rows: int = 200) -> list[list[str]]:
    """Read the first rows as they are: the library would give missing and doubled names new ones."""
    first = _loaded(
        lambda: workbook.load_sheet(sheet, header_row=None, n_rows=rows, dtypes="string").to_polars(), label
    )
    if not first.height:
        raise InvalidInput(f"file={path.name!r}: the sheet is empty")
    return [[cell or "" for cell in row] for row in first.rows()]


def _loaded(read: Callable[[], Any], label: str) -> Any:
    """Call the library; its own messages may quote cells."""
    try:
        return read()
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - the reader's errors have no common parent
        raise InvalidInput(
            f"{label} cannot be read ({type(error).__name__}); is it whole, and without a password?"
        ) from None
