"""Tables out of the house: files and databases, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.table._formats import FORMATS, Format
from mahrem.table._staged import appearing
from mahrem.table.cells import neutralise_formulas, neutralise_names
from mahrem.table.reading import CONTROL, NESTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "exported_names",
    "refuse_nul",
    "refuse_unwritable",
    "write_table",
]

_CHUNK = 1 << 20


def write_table(frame: pl.DataFrame, path: Path, format: Format = "csv") -> None:  # noqa: A002 - the option's name
    """Write a table to a file that only its owner may read.

    Text that a spreadsheet would run as a formula is neutralised in CSV, TSV and XLSX
    (:func:`~mahrem.table.neutralise_formulas`).

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - Nobody but the owner can read it, at no moment.
        - Reading a CSV file back with :func:`~mahrem.table.open_source` and
          :func:`~mahrem.table.restore_formulas` gives the same text; empty text is missing.
    """
    check.one_of(FORMATS, format=format)
    if not frame.width:
        raise InvalidParameter("a table without columns cannot be written")
    if FORMATS[format].spreadsheets:
        refuse_unwritable(frame.schema, format)
        frame = neutralise_formulas(frame)
    with appearing(Path(path)) as stream:
        match format:
            case "parquet":
                frame.write_parquet(stream)
            case "arrow":
                frame.write_ipc(stream, compression="zstd")
            case "xlsx":
                from mahrem.table.writing._excel import write_excel

                write_excel(frame, stream, Path(path).parent)
            case _:
                frame.write_csv(stream, separator="\t" if format == "tsv" else ",")
                refuse_nul(stream)


def exported_names(names: Sequence[str], format: Format) -> list[str]:  # noqa: A002 - the option's name
    """Give the header that :func:`write_table` writes for these columns."""
    return neutralise_names(names) if FORMATS[format].spreadsheets else list(names)


def refuse_unwritable(schema: Mapping[str, pl.DataType], format: Format) -> None:  # noqa: A002 - the same
    """Refuse columns that text cannot hold."""
    for name, dtype in schema.items():
        if isinstance(dtype, NESTED):
            raise InvalidParameter(
                f"column={name!r} holds {dtype.base_type()} values, which {format.upper()} cannot; "
                f"drop it or write Parquet"
            )
        if CONTROL.search(name):
            raise InvalidParameter(f"column={name!r} has control characters in its name")


def refuse_nul(stream: BinaryIO) -> None:
    """A NUL in a cell would make the file look binary to every reader, ours too."""
    stream.flush()
    stream.seek(0)
    while chunk := stream.read(_CHUNK):
        if b"\0" in chunk:
            raise InvalidParameter("a text cell holds a NUL character, which CSV cannot; write Parquet")
