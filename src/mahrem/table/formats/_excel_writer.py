"""Tables as XLSX files: numbers where a spreadsheet can hold them, all else as text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.files import StageFolder
from mahrem.table.cells import EXACT

LETTERS = 32_767  # in a cell
_PLAIN = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$"  # a number that reads back as the same text
_DIGITS = 15  # that a spreadsheet keeps
_RANGE = (1e-307, 9.99e307)  # of its numbers
_SETTINGS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}


def write_excel(frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
    """Write a table as the only sheet of an XLSX file.

    Args:
        frame: No larger than a sheet. Flat columns whose text was already disarmed; it is written as text,
            never as a formula.
        stream: Where the file goes.
        folder: Where rows wait on the way, in a private folder that vanishes.

    Guarantees:
        - Numbers are written as numbers, with all their digits, if a spreadsheet can hold all of a column:
          text such as ``007``, or with more than 15 digits, and numbers beyond 1e308 stay text. Dates and
          truth values are the same text as in CSV.
        - A row in which everything is missing is still a row.
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise extra("excel", needed_for="writing XLSX") from error
    cells = pl.DataFrame([_cells(series) for series in frame])
    with StageFolder(folder) as waiting:
        workbook = xlsxwriter.Workbook(stream, {**_SETTINGS, "tmpdir": str(waiting.path)})
        sheet = workbook.add_worksheet("data")
        try:
            _fill(sheet, cells)
            workbook.close()
        except BaseException:
            workbook.fileclosed = True  # else it would try again when it is let go
            with suppress(OSError):
                sheet.row_data_fh.close()
            raise


class _Shortest(float):
    """A number that the library writes with all its digits; by itself it keeps sixteen, which is too few.

    Example:
        >>> f"{0.1 + 0.2:.16G}", f"{_Shortest(0.1 + 0.2):.16G}"
        ('0.3', '0.30000000000000004')
    """

    __slots__ = ()

    def __format__(self, form: str) -> str:
        return repr(float(self))


def _fill(sheet: Any, cells: pl.DataFrame) -> None:
    for place, name in enumerate(cells.columns):
        sheet.write_string(0, place, name)
    writers = [_writer(sheet, kind) for kind in cells.dtypes]
    for row, values in enumerate(cells.iter_rows(), start=1):  # the library takes cells one by one
        empty = True
        for place, value in enumerate(values):
            if value is not None:
                writers[place](row, place, value)
                empty = False
        if empty:
            sheet.write_string(row, 0, "")  # else a reader would not know of the row


def _writer(sheet: Any, kind: pl.DataType) -> Callable[[int, int, Any], object]:
    if kind.is_float():
        return lambda row, place, value: sheet.write_number(row, place, _Shortest(value))
    return sheet.write_number if kind.is_numeric() else sheet.write_string  # type: ignore[no-any-return]


def _cells(series: pl.Series) -> pl.Series:
    """Give a column as a spreadsheet will hold it: numbers where they are safe, else text."""
    if series.dtype.is_float() and bool(_within_range(series.drop_nulls().cast(pl.Float64)).all()):
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


def _within_range(numbers: pl.Series) -> pl.Series:
    """Say which numbers every spreadsheet knows; floats reach a little further."""
    return (numbers == 0) | numbers.abs().is_between(*_RANGE)


def _beyond(series: pl.Series) -> pl.Expr:
    """Say which whole numbers a spreadsheet would round."""
    column = pl.col(series.name).cast(pl.Int128)
    return (column > EXACT) | (column < -EXACT)


def _as_written(series: pl.Series) -> pl.Expr:
    """Give the text that a CSV file would hold."""
    column = pl.col(series.name)
    if isinstance(series.dtype, pl.Datetime):
        return column.dt.to_string("iso:strict")
    return column.cast(pl.String)
