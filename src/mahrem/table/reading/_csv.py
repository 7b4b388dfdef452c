"""CSV files as text: encoding, delimiter and header are found out, and cells stay as they are."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table.reading._frames import PolarsSource
from mahrem.table.reading._reading import CONTROL, Reading, Source, name_columns
from mahrem.table.reading._slices import TextSlices
from mahrem.table.reading._structure import (
    NEWLINE,
    QUOTE,
    RETURN,
    LooseQuotes,
    Structure,
    say_encoding,
    walk,
)
from mahrem.table.reading.headers import Header, find_header, given_names, header_score, refuse_headerless
from mahrem.words import Note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mahrem.table.reading._reading import RecordReading
    from mahrem.table.reading._records import TextRecords
    from mahrem.types import Integers

MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8"),
)
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
CANDIDATES = b",;\t|"
BLOCK = 1 << 16
SAMPLE = 200  # records the delimiter is looked for in
USUAL = 0.9  # share of records as wide as the first from which it is believed
_SPECIAL = frozenset('"\r\n')  # signs for which a record must be read with care
RECORDS = 1000  # records the header is looked for in


def open_csv(path: Path, reading: Reading, fast: RecordReading | None = None) -> Source:
    """Open a CSV file, plain or packed with gzip or zstd; all its columns are text.

    Args:
        path: The file.
        reading: How to read it.
        fast: Reads the records of a long file; what it leaves is walked over, and read by polars.

    Guarantees:
        - Every cell is given back as it is written, without its quotes; empty cells are missing.
        - A file that is no proper table is refused with the line number. Where each cell is read by itself no
          record is a reason to refuse: cells too many are left out, those too few are missing, and a quote
          in the wrong place is a sign like any other.
    """
    label = f"CSV file {path.name!r}"
    place, encoding = _utf8(path, reading, label)
    if not reading.by_cell:
        return _opened(path, place, encoding, reading, fast)
    effective = reading
    if reading.header is False and reading.names:  # the first record must not say how wide the others are
        place, effective = _with_header(path, place, reading)
    try:
        source = _opened(path, place, encoding, effective)
    except LooseQuotes:
        from mahrem.table.reading._loose_quotes import quote_properly

        content = place if isinstance(place, bytes) else place.read_bytes()
        content = content.removeprefix(codecs.BOM_UTF8)
        newline = _line_end(content, effective)
        delimiter = effective.delimiter or _delimiter_of_header(path, content, newline, effective)
        source = _opened(path, quote_properly(content, delimiter, newline), encoding, effective)
    # Whoever reads on reads the same way.
    source.reading = replace(reading, delimiter=source.reading.delimiter, encoding=encoding)
    return source


def _with_header(path: Path, place: Path | bytes, reading: Reading) -> tuple[bytes, Reading]:
    """Put the names that somebody gave above the records, as a header."""
    content = place if isinstance(place, bytes) else place.read_bytes()
    newline = _line_end(content, reading)
    delimiter = reading.delimiter or _delimiter_of_header(path, content, newline, reading)
    top = _top(content, newline, reading.skip_rows, f"CSV file {path.name!r}")
    names = delimiter.join('"' + name.replace('"', '""') + '"' for name in reading.names)
    effective = replace(reading, header=True, names=(), skip_rows=None, delimiter=delimiter)
    return names.encode() + bytes([newline]) + content[top:], effective


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is laid out, as its beginning says."""

    head: bytes
    newline: int
    delimiter: str
    start: int  # where the header begins, behind titles, or the first record where there is none
    after: int  # where the first record begins
    names: tuple[str, ...]
    has_header: bool
    titles: int  # records above the header


def _laid_out(path: Path, stream: BinaryIO, reading: Reading) -> _Layout:
    """Find out how a file is laid out; what was read of the stream is the head."""
    label = f"CSV file {path.name!r}"
    head = _head(stream, label, binary=reading.by_cell)
    newline = _line_end(head, reading)
    start = _top(head, newline, reading.skip_rows, label)
    delimiter = reading.delimiter or _delimiter_of_header(path, head, newline, reading)
    header, start = _find_header(head, start, newline, delimiter, reading)
    end = _first_end(head, start, newline)
    first = _header(head[start:end], delimiter, label)
    names = _names(first, header, reading, label, head.count(newline, 0, start))
    has_header = reading.header is not False and (header.score <= 0 or reading.header is True)
    after = end + 1 if has_header else start
    return _Layout(head, newline, delimiter, start, after, names, has_header, header.titles)


def open_records(path: Path, reading: Reading) -> TextRecords | None:
    """Open a CSV file without a look at its records; None where these need more than that to be read.

    Guarantees:
        - What is refused for its header, its encoding or its beginning is refused as by :func:`open_csv`.
    """
    if reading.by_cell or reading.null or reading.skip_last:
        return None
    place, _ = _utf8(path, reading, f"CSV file {path.name!r}")
    with _stream(place) as stream:
        return _records(path, place, _laid_out(path, stream, reading))


def _records(path: Path, place: Path | bytes, layout: _Layout) -> TextRecords | None:
    """Give the records of a file where they lie; a single column and other line ends need more care."""
    if layout.newline != NEWLINE or len(layout.names) < 2:
        return None
    from mahrem.table.reading._records import TextRecords  # small files are read at once

    return TextRecords(
        label=f"CSV file {path.name!r}",
        names=layout.names,
        content=np.frombuffer(place, np.uint8) if isinstance(place, bytes) else _mapped(place),
        begin=layout.after,
        delimiter=layout.delimiter,
        notes=_notes(layout),
    )


def _mapped(path: Path) -> NDArray[np.uint8]:
    return np.asarray(np.memmap(path, np.uint8, mode="r"))


def _notes(layout: _Layout) -> tuple[Note, ...]:
    return (Note("warning.title_rows"),) if layout.titles else ()


def _walked(
    path: Path,
    place: Path | bytes,
    stream: BinaryIO,
    layout: _Layout,
    reading: Reading,
    fast: RecordReading | None,
) -> tuple[int, Integers, TextRecords | None]:
    """Look whether all records are as they should be.

    Returns:
        How many there are, which are blank lines, and the records themselves where all are simple.
    """
    long = len(layout.head) >= BLOCK and not reading.by_cell
    records = _records(path, place, layout) if long and fast is not None else None
    rows = None if records is None or fast is None else fast.count(records)
    if rows is not None:
        return rows, np.empty(0, np.int64), records
    head, after = layout.head, layout.after
    structure = Structure(
        f"CSV file {path.name!r}",
        delimiter=ord(layout.delimiter),
        newline=layout.newline,
        fields=len(layout.names),
        line=1 + head.count(layout.newline, 0, after),
        binary=reading.by_cell,
    )
    if head[after:]:
        structure.feed(head[after:])
    walk(stream, structure)
    blanks = structure.blank_records()
    return structure.records - blanks.size, blanks, None


def _opened(
    path: Path, place: Path | bytes, encoding: str, reading: Reading, fast: RecordReading | None = None
) -> PolarsSource:
    label = f"CSV file {path.name!r}"
    with _stream(place) as stream:
        layout = _laid_out(path, stream, reading)
        rows, blanks, simple = _walked(path, place, stream, layout, reading, fast)
    names = layout.names
    lazy = pl.scan_csv(
        place,
        separator=layout.delimiter,
        eol_char=chr(layout.newline),
        infer_schema=False,
        has_header=layout.has_header,
        skip_lines=layout.head.count(layout.newline, 0, layout.start),
        new_columns=list(names),
        null_values=[""],
        encoding="utf8-lossy" if reading.by_cell else "utf8",
        truncate_ragged_lines=reading.by_cell,
        glob=False,
        row_index_name=_unused(names) if blanks.size else None,
    )
    if blanks.size:
        counter = pl.col(_unused(names))
        lazy = lazy.filter(~counter.is_in(pl.Series(blanks, dtype=pl.UInt32).implode())).select(names)
    if reading.by_cell:
        reading = replace(reading, delimiter=layout.delimiter, encoding=encoding)
    source = PolarsSource(
        lazy,
        label=label,
        reading=reading,
        columns=names,
        rows=rows,
        textual=True,
        slices=None
        if isinstance(place, bytes) or reading.by_cell
        else TextSlices(
            place, layout.after, names, layout.delimiter, layout.newline, blanks.astype(np.int64)
        ),
        at_one_look=None if simple is None or fast is None else partial(fast.columns, simple),
    )
    source.notes = _notes(layout)
    return source


def _line_end(head: bytes, reading: Reading) -> int:
    """Say which byte ends a line; where each cell is read by itself, as the header says and no record."""
    if not reading.by_cell:
        return RETURN if RETURN in head and NEWLINE not in head else NEWLINE
    if reading.header is False:
        return NEWLINE
    text = head.lstrip(b"\xef\xbb\xbf\r\n")
    first = [_first_end(text, 0, sign) for sign in (NEWLINE, RETURN)]
    return RETURN if first[1] + 1 < first[0] else NEWLINE


def _delimiter_of_header(path: Path, head: bytes, newline: int, reading: Reading) -> str:
    """Find the delimiter nobody has said: by the file's ending, else by what stands in it."""
    if ".tsv" in map(str.lower, path.suffixes):
        return "\t"
    start = _top(head, newline, reading.skip_rows, f"CSV file {path.name!r}")
    shown = head[start : _first_end(head, start, newline)] if reading.by_cell else head[start:]
    return _sniff(shown, newline)


def _top(head: bytes, newline: int, skip_rows: int | None, label: str) -> int:
    """Give the place of the first line that counts, behind a mark, lines to skip, and blank ones."""
    start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    for _ in range(skip_rows or 0):
        start = head.find(bytes([newline]), start) + 1
        if not start:
            raise InvalidParameter(f"skip_rows={skip_rows} must leave a line of {label} for the header")
    while head[start : start + 1] in {b"\n", b"\r"}:
        start += 1  # blank lines before the header
    return start


def _find_header(
    head: bytes, start: int, newline: int, delimiter: str, reading: Reading
) -> tuple[Header, int]:
    """Look for the header among the first records; gives what was found, and where it begins."""
    data = np.frombuffer(head, np.uint8)[start:]
    outside = (np.cumsum(data == QUOTE, dtype=np.uint8) & 1) == 0
    ends = np.flatnonzero((data == newline) & outside)[:RECORDS] + start
    if ends.size < RECORDS and (not ends.size or ends[-1] < len(head) - 1):
        ends = np.append(ends, len(head))  # the last record may be cut off: its width then counts for nothing
    starts = np.concatenate(([start], ends[:-1] + 1))
    records = [
        _cells(head[begin:end], delimiter) for begin, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    if reading.by_cell:
        header = Header(0, 0)  # whoever has none says so
    elif reading.skip_rows is None and reading.header is None:
        header = find_header(records)
    else:
        header = Header(0, header_score(records[0], records[1:]))
    return header, int(starts[header.titles])


def _cells(record: bytes, delimiter: str) -> list[str]:
    """Take a record apart; one with broken quotes has no cells."""
    text = record.removesuffix(b"\r").decode(errors="replace")
    if not text or _SPECIAL.isdisjoint(text):
        return text.split(delimiter) if text else []
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def _names(first: Sequence[str], header: Header, reading: Reading, label: str, above: int) -> tuple[str, ...]:
    """Give the names of the columns: as said, else as the header below some lines says."""
    given = given_names(
        reading.names, header=reading.header, score=header.score, columns=len(first), label=label
    )
    if given is not None:
        return name_columns(given, label)
    if reading.header is None and header.score > 0:
        raise refuse_headerless(label, len(first), above)
    return name_columns(first, label, header=True)


def _utf8(path: Path, reading: Reading, label: str) -> tuple[Path | bytes, str]:
    """Give the file itself if it is plain UTF-8, else its content in UTF-8; and how it is encoded."""
    with path.open("rb") as stream:
        head = stream.read(4)
    place: Path | bytes = path
    for mark, method in PACKED.items():
        if head.startswith(mark):
            place = _unpack(path, method, label)
            head = place[:4]
    marked = next((name for mark, name in MARKS if head.startswith(mark)), "utf-8")
    wanted = codecs.lookup(reading.encoding or marked).name
    if wanted in {"utf-8", "utf-8-sig", "ascii"}:
        return place, wanted
    content = place if isinstance(place, bytes) else place.read_bytes()
    try:
        text = content.decode(wanted, errors="replace" if reading.by_cell else "strict")
        return text.removeprefix("\ufeff").encode(), wanted
    except UnicodeError:
        raise InvalidInput(f"{label} is not written in encoding={wanted!r}; say another one") from None


def _unpack(path: Path, method: str, label: str) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(path, compression=method) as stream:
            return bytes(stream.read())
    except (pa.ArrowException, OSError):
        raise InvalidInput(f"{label} is packed with {method}, but broken") from None


def _stream(place: Path | bytes) -> BinaryIO:
    return io.BytesIO(place) if isinstance(place, bytes) else place.open("rb", buffering=0)


def _head(stream: BinaryIO, label: str, *, binary: bool) -> bytes:
    """Read enough to hold the header and, if there are any, some records; ``binary``: take any bytes."""
    head, size, whole = b"", BLOCK, False
    while not whole and not _has_header(head):
        block = stream.read(size)
        head, size, whole = head + block, size * 2, not block
    if b"\0" in head and not binary:
        raise InvalidInput(f"{label} holds NUL bytes: a binary file, not text")
    if not head.strip(b"\xef\xbb\xbf\r\n"):
        raise InvalidInput(f"{label} is empty; a table has at least a header")
    return head


def _has_header(head: bytes) -> bool:
    if head.endswith(b"\r"):
        return False  # a line feed may follow
    text = head.lstrip(b"\xef\xbb\xbf\r\n")
    return _first_end(text, 0, NEWLINE if b"\n" in head else RETURN) < len(text)


def _first_end(head: bytes, start: int, newline: int) -> int:
    """Find the end of the first record: the first line end outside quotes, or the end of all."""
    data = np.frombuffer(head, np.uint8)[start:]
    outside = (np.cumsum(data == QUOTE, dtype=np.uint8) & 1) == 0
    ends = np.flatnonzero((data == newline) & outside)
    return start + int(ends[0]) if ends.size else len(head)


def _sniff(head: bytes, newline: int) -> str:
    """Find the delimiter: it stands equally often in the header and in the next records."""
    data = np.frombuffer(head, np.uint8)
    outside = (np.cumsum(data == QUOTE, dtype=np.uint8) & 1) == 0
    ends = np.flatnonzero((data == newline) & outside)[:SAMPLE]
    ends = ends if ends.size else np.array([data.size])
    lengths = np.diff(ends, prepend=-1)
    in_first, in_most, best, usual = (0.0, 0), (0.0, 0), ",", ","
    for candidate in CANDIDATES:
        places = np.flatnonzero((data == candidate) & outside)
        counts = np.diff(np.searchsorted(places, ends), prepend=0)[lengths > 2]
        if not counts.size or not counts.any():
            continue
        most = int(np.bincount(counts[counts > 0]).argmax())
        by_most = (float(np.mean(counts == most)), most)
        in_most, usual = max((in_most, usual), (by_most, chr(candidate)), key=itemgetter(0))
        by_first = (float(np.mean(counts == counts[0])), int(counts[0]))
        if counts[0]:
            in_first, best = max((in_first, best), (by_first, chr(candidate)), key=itemgetter(0))
    # Titles above the header may hold no delimiter, or another sign: then most records tell.
    return best if in_first[0] >= min(in_most[0], USUAL) else usual


def _header(record: bytes, delimiter: str, label: str) -> list[str]:
    try:
        text = record.removesuffix(b"\r").decode()
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except UnicodeDecodeError:
        raise InvalidInput(f"{label}: the header is not UTF-8; {say_encoding(record)}") from None
    except (csv.Error, StopIteration):
        raise InvalidInput(f"{label}: a quote in the header is not closed at the end of its cell") from None
    if any(CONTROL.search(name) for name in names):
        raise InvalidInput(f"{label} holds control bytes in its header: a binary file, not text")
    return names


def _unused(names: tuple[str, ...]) -> str:
    """Make a name for the row counter that no column has."""
    name = "row"
    while name in names:
        name += "_"
    return name
