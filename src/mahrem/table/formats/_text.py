"""CSV and TSV."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.table._formats import NumberedCells
from mahrem.table.reading import Reading, RecordReading, Source, TextSlices, open_csv, scan_slices
from mahrem.threads import in_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars._typing import CsvQuoteStyle

    from mahrem.arrays.weaving import Cells, Views
    from mahrem.table.reading import TextRecords
    from mahrem.types import Offsets

_CHUNK = 1 << 20
_NUL = "a text cell holds a NUL character, which CSV cannot; write Parquet"


@dataclass(frozen=True)
class TextFiles:
    """Files of text in which a sign stands between cells."""

    separator: str

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a file; its separator and encoding are found out where nothing is said."""
        return open_csv(path, reading, RecordReading(_count, _columns_of))

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
        """Write a table; a NUL in a cell is refused."""
        self.write_parts(iter([frame]), stream, folder)

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:  # noqa: ARG002 - nothing waits
        """Write parts one after the other."""
        rows = 0
        for number, part in enumerate(parts):
            style: CsvQuoteStyle = "always" if _has_blank_lines(part) else "necessary"
            part.write_csv(stream, separator=self.separator, include_header=number == 0, quote_style=style)
            rows += part.height
        _refuse_nul(stream)
        return rows

    def records(self, frame: pl.DataFrame, end: str) -> tuple[NDArray[np.uint8], Offsets]:
        """Write some columns of a table: what each row shows in them, ``end`` behind it, and where it begins.

        A NUL in a cell is refused, as in a whole file.

        Example:
            >>> content, offsets = CSV.records(pl.DataFrame({"age": ["[18, 25]", "64"]}), ",")
            >>> content.tobytes(), offsets.tolist()
            (b'"[18, 25]",64,', [0, 11, 14])
        """
        stream = io.BytesIO()
        frame.write_csv(stream, separator=self.separator, include_header=False, line_terminator="\0")
        content = np.frombuffer(stream.getbuffer(), np.uint8)
        ends = np.flatnonzero(content == 0)
        if len(ends) != frame.height:
            raise InvalidParameter(_NUL)
        content[ends] = ord(end)
        return content, np.concatenate([[0], ends + 1])

    def header(self, names: Sequence[str]) -> bytes:
        """Write the line that names the columns."""
        return (
            pl.DataFrame(schema=dict.fromkeys(names, pl.String)).write_csv(separator=self.separator).encode()
        )

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:
        """Read header and cells as text."""
        with path.open(encoding="utf-8", newline="") as file:
            names = next(csv.reader(file, delimiter=self.separator))
        cells = pl.scan_csv(
            path, infer_schema=False, separator=self.separator, glob=False, new_columns=list(columns)
        )
        if len(columns) == 1:  # where missing ones are quoted, too
            cells = cells.select(pl.when(pl.all() != "").then(pl.all()))
        return names, cells

    def read_slices(self, path: Path, columns: Sequence[str]) -> pl.LazyFrame:
        """Read cells as :meth:`read_back` does, a block at a time."""
        with path.open("rb") as file:
            begin = len(file.readline())  # names hold no line ends
        cells = scan_slices(TextSlices(path, begin, tuple(columns), self.separator, ord("\n")), columns)
        assert cells is not None  # noqa: S101 - text has a simple kind
        return cells

    def read_numbered(
        self, path: Path, columns: Sequence[str], wanted: Sequence[str]
    ) -> tuple[list[str], dict[str, NumberedCells]] | None:
        """Read header and some columns, each text once; None where a file needs a reader of any file.

        Guarantees:
            - The cells are those of :meth:`read_back`.
        """
        if len(columns) < 2:
            return None
        from mahrem.arrays.weaving import unravel  # a small file does without

        with path.open("rb") as file:
            header = file.readline()
        if not header.endswith(b"\n") or header.count(b'"') % 2 or header.startswith(codecs.BOM_UTF8):
            return None  # quotes make the end of such a header hard to find
        places = [columns.index(name) for name in wanted]
        content = np.asarray(np.memmap(path, np.uint8, mode="r"))
        raw_columns = unravel(content, len(header), ord(self.separator), places, len(columns))
        if raw_columns is None:
            return None
        names = next(csv.reader(io.StringIO(header.decode(), newline=""), delimiter=self.separator))
        return names, {name: _numbered(cells) for name, cells in zip(wanted, raw_columns, strict=True)}


CSV, TSV = TextFiles(","), TextFiles("\t")


def _count(records: TextRecords) -> int | None:
    """Count the records of a file; None where one is not as simple as it should be."""
    from mahrem.arrays.sketching import IrregularRecords, RecordHashes  # a small file does without

    hashes = RecordHashes(records.content, ord(records.delimiter), len(records.names))
    try:
        return sum(in_parallel(lambda part: hashes.count(*part), hashes.parts(records.begin)))
    except IrregularRecords:
        return None


def _columns_of(records: TextRecords) -> dict[str, pl.Series] | None:
    """Read a file at one look: texts that are there again and again as categories, others as they are.

    Columns that need more care are left out; None where all do.

    Guarantees:
        - Cells are those that polars reads; empty ones are missing, in quotes or not.
    """
    from mahrem.arrays.weaving import Views, unravel_all

    names, content = records.names, records.content
    columns = unravel_all(content, records.begin, ord(records.delimiter), len(names))
    if columns is None:
        return None

    def read(place: int) -> pl.Series | None:
        cells = columns[place]
        series = _short_texts(cells) if isinstance(cells, Views) else _categories(_numbered(cells))
        return None if series is None else series.alias(names[place])

    read_columns = in_parallel(read, range(len(names)))
    return {series.name: series for series in read_columns if series is not None}


def _short_texts(cells: Views) -> pl.Series | None:
    """Give cells as polars holds short texts; None where one is long."""
    import pyarrow as pa

    if cells.views is None:
        return None
    views = np.concatenate(cells.views)
    cells.views.clear()
    present = views[:, 0] != 0
    valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    stored = pa.Array.from_buffers(pa.string_view(), len(views), [valid, pa.py_buffer(views)])
    return pl.Series(stored, dtype=pl.String)


def _categories(cells: NumberedCells) -> pl.Series:
    """Give cells as categories of their own; an empty text is a missing one."""
    texts = cells.texts
    coded = texts.set(texts == "", None).cast(pl.Categorical(pl.Categories.random()))
    return NumberedCells(texts, cells.codes).rows(coded)


def _numbered(cells: Cells) -> NumberedCells:
    import pyarrow as pa

    content, offsets = cells.texts()
    stored = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(content))
    stored.validate(full=True)  # that it is UTF-8, too
    texts = pl.Series(stored, dtype=pl.String)
    if texts.str.contains('"', literal=True).any():
        texts = texts.str.replace_all('""', '"', literal=True)
    return NumberedCells(texts, np.concatenate(cells.codes) if cells.codes else np.empty(0, np.int32))


def _has_blank_lines(part: pl.DataFrame) -> bool:
    """Say whether a table of one column would have lines that readers pass over as empty."""
    if part.width != 1:
        return False
    (cells,) = part.get_columns()
    if cells.null_count():
        return True
    return cells.dtype == pl.String and bool((cells.str.strip_chars() == "").any())


def _refuse_nul(stream: BinaryIO) -> None:
    """A NUL in a cell would make the file look binary to every reader, ours too."""
    stream.flush()
    stream.seek(0)
    while chunk := stream.read(_CHUNK):
        if b"\0" in chunk:
            raise InvalidParameter(_NUL)
