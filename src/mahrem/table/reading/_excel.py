"""Spreadsheets as they are: XLSX read and written, numbers as numbers and all else as text."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from datetime import time
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from mahrem.check import extra
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.table._frames import PolarsSource
from mahrem.table._reading import Reading, Source, name_columns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["excel_texts", "fits_excel", "open_excel", "write_excel"]

ROWS, COLUMNS, LETTERS = 1_048_576, 16_384, 32_767  # what the format holds; the header is a row
_EXACT = 2**53
_PLAIN = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$"  # a number that reads back as the same text
_DIGITS = 15  # that a spreadsheet keeps
_SETTINGS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}


def open_excel(path: Path, reading: Reading) -> Source:
    """Open a sheet of an XLSX file; ``reading.table`` says which, if there are several.

    The first row names the columns. Days without a time are dates; whole numbers are integers; columns that
    mix numbers and text are text. Of a formula the value counts that the spreadsheet saved.
    """
    label = f"XLSX file {path.name!r}"
    workbook = _workbook(path, label)
    names = name_columns(_header(workbook, path, reading, label), label)
    sheet = _sheet(workbook, reading, label)
    frame = _loaded(lambda: workbook.load_sheet(sheet, schema_sample_rows=None).to_polars(), label)
    frame.columns = list(names)
    frame = pl.DataFrame([_typed(series) for series in frame])
    return PolarsSource(frame.lazy(), label=label, reading=reading, columns=names, rows=frame.height)


def excel_texts(path: Path) -> tuple[list[str], pl.DataFrame]:
    """Read the first sheet as the text its cells show: the header, and all else under running names."""
    label = f"XLSX file {path.name!r}"
    workbook = _workbook(path, label)
    names = _header(workbook, path, Reading(), label)
    frame = _loaded(lambda: workbook.load_sheet(0, dtypes="string").to_polars(), label)
    frame.columns = [str(place) for place in range(frame.width)]
    return names, frame.select(pl.when(pl.all() != "").then(pl.all()))


def fits_excel(rows: int, columns: int = 1) -> None:
    """Refuse a table that is larger than a sheet may be."""
    if rows >= ROWS:
        raise InvalidParameter(
            f"format='xlsx' holds {ROWS - 1:,} rows below its header, and there are {rows:,}; "
            f"write CSV or Parquet"
        )
    if columns > COLUMNS:
        raise InvalidParameter(
            f"format='xlsx' holds {COLUMNS:,} columns, and there are {columns:,}; write CSV or Parquet"
        )


def write_excel(frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
    """Write a table as the only sheet of an XLSX file.

    Args:
        frame: Flat columns whose text was already disarmed; it is written as text, never as a formula.
        stream: Where the file goes.
        folder: Where rows wait on the way, in a private folder that vanishes.

    Guarantees:
        - Numbers are written as numbers if a spreadsheet can hold all of a column: text such as ``007``, or
          with more than 15 digits, stays text. Dates and truth values are the same text as in CSV.
        - A row in which everything is missing is still a row.
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise extra("excel", needed_for="writing XLSX") from error
    fits_excel(frame.height, frame.width)
    cells = pl.DataFrame([_cells(series) for series in frame])
    with tempfile.TemporaryDirectory(prefix=".xlsx-", dir=folder) as waiting:
        workbook = xlsxwriter.Workbook(stream, {**_SETTINGS, "tmpdir": waiting})
        sheet = workbook.add_worksheet("data")
        try:
            _fill(sheet, cells)
            workbook.close()
        except BaseException:
            workbook.fileclosed = True  # else it would try again when it is let go
            with suppress(OSError):
                sheet.row_data_fh.close()
            raise


def _fill(sheet: Any, cells: pl.DataFrame) -> None:
    for place, name in enumerate(cells.columns):
        sheet.write_string(0, place, name)
    writers = [sheet.write_number if kind.is_numeric() else sheet.write_string for kind in cells.dtypes]
    for row, values in enumerate(cells.iter_rows(), start=1):  # the library takes cells one by one
        empty = True
        for place, value in enumerate(values):
            if value is not None:
                writers[place](row, place, value)
                empty = False
        if empty:
            sheet.write_string(row, 0, "")  # else a reader would not know of the row


def _cells(series: pl.Series) -> pl.Series:
    """Give a column as a spreadsheet will hold it: numbers where they are safe, else text."""
    if series.dtype.is_float() and bool(series.drop_nulls().is_finite().all()):
        return series.cast(pl.Float64)
    if series.dtype.is_integer() and not pl.DataFrame([series]).filter(_beyond(series)).height:
        return series
    text = pl.Series(series.name, pl.DataFrame([series]).select(_as_written(series)).to_series())
    if bool((text.str.len_chars() > LETTERS).any()):
        raise InvalidParameter(
            f"column={series.name!r} has cells of more than {LETTERS:,} characters, which XLSX cannot hold; "
            f"write CSV or Parquet"
        )
    shown = text.drop_nulls()
    digits = shown.str.count_matches("[0-9]", literal=False)
    if len(shown) and bool((shown.str.contains(_PLAIN) & (digits <= _DIGITS) & (shown != "-0")).all()):
        return text.cast(pl.Float64)
    return text


def _beyond(series: pl.Series) -> pl.Expr:
    """Say which whole numbers a spreadsheet would round."""
    column = pl.col(series.name).cast(pl.Int128)
    return (column > _EXACT) | (column < -_EXACT)


def _as_written(series: pl.Series) -> pl.Expr:
    """Give the text that a CSV file would hold."""
    column = pl.col(series.name)
    if isinstance(series.dtype, pl.Datetime):
        return column.dt.to_string("iso:strict")
    return column.cast(pl.String)


def _typed(series: pl.Series) -> pl.Series:
    """Spreadsheets know neither whole numbers nor days; give a column that holds only such its kind."""
    held = series.drop_nulls()
    if not len(held):
        return series.cast(pl.String)
    if series.dtype.is_float() and bool(((held == held.round()) & (held.abs() <= _EXACT)).all()):
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


def _header(workbook: Any, path: Path, reading: Reading, label: str) -> list[str]:
    """Read the first row as it is: the library would give missing and doubled names new ones."""
    sheet = _sheet(workbook, reading, label)
    first = _loaded(
        lambda: workbook.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars(), label
    )
    if not first.height:
        raise InvalidInput(f"file={path.name!r}: the sheet is empty")
    return [name or "" for name in first.row(0)]


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
