"""Tables out of the house: files and databases, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.table._formats import FORMATS, LabelledFiles, written_formats
from mahrem.table._staged import appearing
from mahrem.table.cells import text_where_needed
from mahrem.table.cells.formulas import neutralise_formulas, neutralise_names
from mahrem.table.reading import CONTROL, NESTED


def write_table(
    frame: pl.DataFrame,
    path: Path,
    format: str = "csv",  # noqa: A002 - the option's name
    labels: Mapping[str, str] | None = None,
) -> None:
    """Write a table to a file that only its owner may read.

    What columns are called in words (``labels``) is written where the format has a place for it.

    Text that a spreadsheet would run as a formula is neutralised in CSV, TSV and XLSX
    (:func:`~mahrem.table.cells.formulas.neutralise_formulas`).

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - Nobody but the owner can read it, at no moment.
        - Reading a CSV file back with :func:`~mahrem.table.open_source` and
          :func:`~mahrem.table.cells.formulas.restore_formulas` gives the same text; empty text is missing.
    """
    check.one_of(written_formats(), format=format)
    if not frame.width:
        raise InvalidParameter("a table without columns cannot be written")
    if FORMATS[format].spreadsheets:
        refuse_unwritable(frame.schema, format)
        frame = neutralise_formulas(text_where_needed(frame))
    with appearing(Path(path)) as stream:
        files = FORMATS[format].load()
        if labels and isinstance(files, LabelledFiles):
            files.write_labelled(frame, stream, Path(path).parent, labels)
        else:
            files.write(frame, stream, Path(path).parent)


def write_parts(parts: Iterable[pl.DataFrame], path: Path, format: str = "csv") -> int:  # noqa: A002 - the option's name
    """Write a table that comes in parts to a file that only its owner may read; gives the number of rows.

    The file is as :func:`~mahrem.table.writing.write_table` would write all parts at once (Parquet in more
    row groups). XLSX cannot be written in parts: all of them are held for it.

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - No more than a part is held at a time, XLSX excepted.
    """
    check.one_of(written_formats(), format=format)
    stream_of = iter(parts)
    first = next(stream_of, None)
    if first is None or not first.width:
        raise InvalidParameter("a table without columns cannot be written")
    rows: Iterator[pl.DataFrame] = chain([first], stream_of)
    if FORMATS[format].spreadsheets:
        refuse_unwritable(first.schema, format)
        rows = (neutralise_formulas(text_where_needed(part)) for part in rows)
    with appearing(Path(path)) as stream:
        return FORMATS[format].load().write_parts(rows, stream, Path(path).parent)


def write_pieces(pieces: Iterable[bytes | memoryview], path: Path) -> None:
    """Write a file that only its owner may read from its bytes, piece by piece.

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - Nobody but the owner can read it, at no moment.
    """
    with appearing(Path(path)) as stream:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:  # a raw file may take less than it is given
                rest = rest[stream.write(rest) :]


def exported_names(names: Sequence[str], format: str) -> list[str]:  # noqa: A002 - the option's name
    """Give the header that :func:`write_table` writes for these columns."""
    return neutralise_names(names) if FORMATS[format].spreadsheets else list(names)


def refuse_unwritable(schema: Mapping[str, pl.DataType], format: str) -> None:  # noqa: A002 - the same
    """Refuse columns that a format of text cannot hold."""
    for name, dtype in schema.items():
        if isinstance(dtype, NESTED):
            raise InvalidParameter(
                f"column={name!r} holds {dtype.base_type()} values, which {format.upper()} cannot; "
                f"drop it or write Parquet"
            )
        if CONTROL.search(name):
            raise InvalidParameter(f"column={name!r} has control characters in its name")
