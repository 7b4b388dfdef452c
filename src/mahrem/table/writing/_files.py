"""Tables out of the house: files and databases, whole or not at all."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.table._formats import FORMATS
from mahrem.table._staged import appearing
from mahrem.table.cells import neutralise_formulas, neutralise_names
from mahrem.table.reading import CONTROL, NESTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["exported_names", "fits_excel", "write_parts", "write_table"]

_CHUNK = 1 << 20
_SHEET_ROWS, _SHEET_COLUMNS = 1_048_576, 16_384  # what XLSX holds; the header is a row


def write_table(frame: pl.DataFrame, path: Path, format: str = "csv") -> None:  # noqa: A002 - the option's name
    """Write a table to a file that only its owner may read.

    Text that a spreadsheet would run as a formula is neutralised in CSV, TSV and XLSX
    (:func:`~mahrem.table.cells.neutralise_formulas`).

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - Nobody but the owner can read it, at no moment.
        - Reading a CSV file back with :func:`~mahrem.table.open_source` and
          :func:`~mahrem.table.cells.restore_formulas` gives the same text; empty text is missing.
    """
    check.one_of(FORMATS, format=format)
    if not frame.width:
        raise InvalidParameter("a table without columns cannot be written")
    if FORMATS[format].spreadsheets:
        _refuse_unwritable(frame.schema, format)
        frame = neutralise_formulas(frame)
    with appearing(Path(path)) as stream:
        match format:
            case "parquet":
                frame.write_parquet(stream)
            case "arrow":
                frame.write_ipc(stream, compression="zstd")
            case "xlsx":
                from mahrem.table.writing._excel import write_excel

                fits_excel(frame.height, frame.width)
                write_excel(frame, stream, Path(path).parent)
            case _:
                frame.write_csv(stream, separator="\t" if format == "tsv" else ",")
                _refuse_nul(stream)


def write_parts(parts: Iterable[pl.DataFrame], path: Path, format: str = "csv") -> int:  # noqa: A002 - the option's name
    """Write a table that comes in parts to a file that only its owner may read; gives the number of rows.

    The file is as :func:`~mahrem.table.write_table` would write all parts at once (Parquet in more row
    groups). XLSX cannot be written in parts: all of them are held for it.

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - No more than a part is held at a time, XLSX excepted.
    """
    check.one_of(FORMATS, format=format)
    stream_of = iter(parts)
    first = next(stream_of, None)
    if first is None or not first.width:
        raise InvalidParameter("a table without columns cannot be written")
    rows = chain([first], stream_of)
    if format == "xlsx":
        whole = pl.concat(rows)
        write_table(whole, path, format)
        return whole.height
    with appearing(Path(path)) as stream:
        if FORMATS[format].spreadsheets:
            _refuse_unwritable(first.schema, format)
            return _write_text(rows, stream, "\t" if format == "tsv" else ",")
        return _write_columns(rows, first, stream, format)


def _write_text(parts: Iterator[pl.DataFrame], stream: BinaryIO, separator: str) -> int:
    rows = 0
    for number, part in enumerate(parts):
        neutralise_formulas(part).write_csv(stream, separator=separator, include_header=number == 0)
        rows += part.height
    _refuse_nul(stream)
    return rows


def _write_columns(
    parts: Iterator[pl.DataFrame],
    first: pl.DataFrame,
    stream: BinaryIO,
    format: str,  # noqa: A002 - the option's name
) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, schema = 0, first.head(0).to_arrow().schema
    writer = (
        pq.ParquetWriter(stream, schema, compression="zstd")
        if format == "parquet"
        else pa.ipc.new_file(stream, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    )
    with writer:
        for part in parts:
            writer.write_table(part.to_arrow().cast(schema))
            rows += part.height
    return rows


def fits_excel(rows: int, columns: int = 1) -> None:
    """Refuse a table that is larger than a sheet may be."""
    if rows >= _SHEET_ROWS:
        raise InvalidParameter(
            f"format='xlsx' holds {_SHEET_ROWS - 1:,} rows below its header, and there are {rows:,}; "
            f"write CSV or Parquet"
        )
    if columns > _SHEET_COLUMNS:
        raise InvalidParameter(
            f"format='xlsx' holds {_SHEET_COLUMNS:,} columns, and there are {columns:,}; write CSV or Parquet"
        )


def exported_names(names: Sequence[str], format: str) -> list[str]:  # noqa: A002 - the option's name
    """Give the header that :func:`write_table` writes for these columns."""
    return neutralise_names(names) if FORMATS[format].spreadsheets else list(names)


def _refuse_unwritable(schema: Mapping[str, pl.DataType], format: str) -> None:  # noqa: A002 - the same
    """Refuse columns that text cannot hold."""
    for name, dtype in schema.items():
        if isinstance(dtype, NESTED):
            raise InvalidParameter(
                f"column={name!r} holds {dtype.base_type()} values, which {format.upper()} cannot; "
                f"drop it or write Parquet"
            )
        if CONTROL.search(name):
            raise InvalidParameter(f"column={name!r} has control characters in its name")


def _refuse_nul(stream: BinaryIO) -> None:
    """A NUL in a cell would make the file look binary to every reader, ours too."""
    stream.flush()
    stream.seek(0)
    while chunk := stream.read(_CHUNK):
        if b"\0" in chunk:
            raise InvalidParameter("a text cell holds a NUL character, which CSV cannot; write Parquet")
