"""Tables out of the house part by part, so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, get_args

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.table._formats import FORMATS, Format
from mahrem.table._staged import appearing
from mahrem.table.cells import neutralise_formulas
from mahrem.table.writing._files import refuse_nul, refuse_unwritable, write_table

__all__ = ["write_parts"]


def write_parts(parts: Iterable[pl.DataFrame], path: Path, format: Format = "csv") -> int:  # noqa: A002 - the option's name
    """Write a table that comes in parts to a file that only its owner may read; gives the number of rows.

    The file is as :func:`~mahrem.table.write_table` would write all parts at once (Parquet in more row
    groups). XLSX cannot be written in parts: all of them are held for it.

    Guarantees:
        - The file appears under its name when it is whole; a failure leaves nothing behind.
        - No more than a part is held at a time, XLSX excepted.
    """
    check.one_of(get_args(Format), format=format)
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
            refuse_unwritable(first.schema, format)
            return _text(rows, stream, "\t" if format == "tsv" else ",")
        return _columns(rows, first, stream, format)


def _text(parts: Iterator[pl.DataFrame], stream: BinaryIO, separator: str) -> int:
    rows = 0
    for number, part in enumerate(parts):
        neutralise_formulas(part).write_csv(stream, separator=separator, include_header=number == 0)
        rows += part.height
    refuse_nul(stream)
    return rows


def _columns(
    parts: Iterator[pl.DataFrame],
    first: pl.DataFrame,
    stream: BinaryIO,
    format: Format,  # noqa: A002 - the option's name
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
