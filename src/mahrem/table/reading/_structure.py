"""Is a file a proper CSV? A vectorised walk over its bytes that finds the first line that is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mahrem.types import Integers, Mask

QUOTE, NEWLINE, RETURN = 34, 10, 13
CHUNK = 1 << 18  # bytes looked at together: the masks stay in the processor's cache
_TITLES = 21  # lines among which the header may be
_TURKISH = re.compile("[ğĞıİşŞ]".encode("cp1254"))  # letters that Western European files hardly have


def walk(stream: BinaryIO, structure: Structure) -> None:
    """Feed the rest of a stream to a structure check, in chunks of bounded size."""
    while chunk := stream.read(CHUNK):
        structure.feed(chunk)
    structure.finish()


def say_encoding(content: bytes) -> str:
    """Advise which encoding to say, by letters that only Turkish files have.

    Example:
        >>> say_encoding("Çağ, İl".encode("cp1254")), say_encoding("Straße".encode("cp1252"))
        ("say the encoding, probably encoding='cp1254'", "say the encoding, probably encoding='cp1252'")
    """
    likely = "cp1254" if _TURKISH.search(content) else "cp1252"
    return f"say the encoding, probably {spelled('encoding', likely)}"


def _cut_off(content: bytes) -> bytes:
    """Give the beginning of a letter that bytes end with, where the rest of it is still to come."""
    for size in range(1, min(3, len(content)) + 1):
        sign = content[-size]
        if sign >= 0b1100_0000:  # a letter begins, of so many bytes
            return content[-size:] if size < 2 + (sign >= 0b1110_0000) + (sign >= 0b1111_0000) else b""
        if sign < 0b1000_0000:
            break
    return b""


class LooseQuotes(InvalidInput):
    """A quote neither begins nor ends a cell, or is never closed."""


class Structure:
    """Counts the records of a CSV file and refuses the first one that does not fit.

    Args:
        label: What the file is called in messages.
        delimiter: The byte between cells.
        newline: The byte at the end of a record.
        fields: How many cells a record must have.
        line: The number of the line the first byte fed belongs to.
        binary: Whether bytes that are no text are let through, and records with too few or too many cells.

    Guarantees:
        - A record with too few or too many cells is reported by its line, with counts and never its content,
          unless any record is let through.
        - Memory does not grow with the file, except for the places of blank lines.
    """

    def __init__(
        self, label: str, *, delimiter: int, newline: int, fields: int, line: int, binary: bool = False
    ) -> None:
        self.records = 0  # including blank ones
        self.blanks: list[Integers] = []  # which records are blank lines
        self._label = label
        self._binary = binary
        self._delimiter = delimiter
        self._newline = newline
        self._delimiters = fields - 1
        self._line = line  # of the next byte
        self._record_line = line  # where the open record began
        self._size = 0  # bytes of the open record so far
        self._seen = 0  # delimiters of the open record so far
        self._inside = False  # within quotes
        self._quote_line = line  # where the last quote opened
        self._closed = False  # the last byte was a closing quote
        self._previous = newline
        self._cut_off = b""  # the beginning of a letter that the last bytes fed ended with
        self._unmarked = bytes(sign for sign in range(256) if sign not in (delimiter, newline))
        record = bytes([delimiter]) * self._delimiters + bytes([newline])
        self._regular = record * (CHUNK // len(record) + 2)  # the marks of records that all fit

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes of the file."""
        if not self._binary:
            self._check_text(chunk)
        if self._fits(chunk):
            return
        data = np.frombuffer(chunk, np.uint8)
        newline = data == self._newline
        marking = newline | (data == self._delimiter)
        if self._inside or self._closed or b'"' in chunk:
            marks = self._outside(data, newline, marking)
        else:
            marks = np.flatnonzero(marking)
        ends = np.flatnonzero(data[marks] == self._newline)
        if ends.size:
            counts = np.diff(ends, prepend=-1) - 1
            counts[0] += self._seen
            wrong = np.flatnonzero(counts != self._delimiters)
            if wrong.size:
                self._judge(data, newline, marks[ends], counts, wrong)
            after = int(marks[ends[-1]]) + 1
            self.records += ends.size
            self._seen = marks.size - int(ends[-1]) - 1
            self._size = data.size - after
            self._record_line = self._line_of(newline, after)
        else:
            self._seen += marks.size
            self._size += data.size
        self._line += int(np.count_nonzero(newline))
        self._previous = chunk[-1]

    def _fits(self, chunk: bytes) -> bool:
        """Pass over bytes without quotes whose records all fit; all else needs a closer look."""
        if self._inside or self._closed or self._seen > self._delimiters or b'"' in chunk:
            return False
        marks = chunk.translate(None, self._unmarked)
        if len(marks) > CHUNK or not self._regular.startswith(marks, self._seen):
            return False
        records = marks.count(self._newline)
        self._line += records
        if records:
            self.records += records
            self._seen = len(marks) - 1 - marks.rfind(self._newline)
            self._size = len(chunk) - 1 - chunk.rfind(self._newline)
            self._record_line = self._line
        else:
            self._seen += len(marks)
            self._size += len(chunk)
        self._previous = chunk[-1]
        return True

    def finish(self) -> None:
        """Look at what is left when the file ends without a line end."""
        if self._cut_off:
            advice = say_encoding(self._cut_off)
            raise InvalidInput(f"{self._label}: line {self._line} is not UTF-8; {advice}")
        if self._inside:
            raise self._unclosed(self._quote_line)
        if self._size:
            blank = self._size == 1 and self._previous == RETURN
            if blank:
                self.blanks.append(np.array([self.records], dtype=np.int64))
            elif self._seen != self._delimiters and not self._binary:
                raise self._ragged(self._record_line, self._seen)
            self.records += 1

    def blank_records(self) -> Integers:
        """Give the places of blank lines among the records."""
        return np.concatenate(self.blanks) if self.blanks else np.empty(0, np.int64)

    def _check_text(self, chunk: bytes) -> None:
        nul = chunk.find(b"\0")
        if nul >= 0:
            raise InvalidInput(
                f"{self._label}: line {self._line_at(chunk, nul)} holds a NUL byte: a binary file, not text"
            )
        if self._cut_off or not chunk.isascii():
            self._check_letters(self._cut_off + chunk, len(self._cut_off))

    def _check_letters(self, content: bytes, before: int = 0) -> None:
        """Refuse bytes that are no UTF-8, of which some were fed before; a letter cut in two must wait."""
        whole = len(content) - len(_cut_off(content))
        self._cut_off = content[whole:]
        try:
            pl.Series([content[:whole]], dtype=pl.Binary).cast(pl.String)  # many bytes at once
        except pl.exceptions.PolarsError:
            self._name_line(content, before)

    def _name_line(self, content: bytes, before: int) -> None:
        try:
            content.decode()
        except UnicodeDecodeError as error:
            place = max(error.start - before, 0)
            line, advice = self._line_at(content[before:], place), say_encoding(content[before + place :])
            raise InvalidInput(f"{self._label}: line {line} is not UTF-8; {advice}") from None

    def _line_at(self, chunk: bytes, place: int) -> int:
        return self._line + chunk.count(self._newline, 0, place)

    def _outside(self, data: NDArray[np.uint8], newline: Mask, marking: Mask) -> Integers:
        """Give the delimiters and line ends outside quotes; refuse quotes in the wrong place."""
        places = np.flatnonzero(
            marking | (data == QUOTE)
        )  # counting quotes here is cheaper than at every byte
        quote = data[places] == QUOTE
        inside = int(self._inside)
        quotes = places[quote]
        opening, closing = quotes[inside::2], quotes[1 - inside :: 2]
        self._check_quotes(data, newline, opening, closing)
        within = ((np.cumsum(quote, dtype=np.uint8) + inside) & 1).view(np.bool_)
        if opening.size:
            self._quote_line = self._line_of(newline, int(opening[-1]))
        self._inside = bool((quotes.size + inside) & 1)
        self._closed = bool(closing.size and closing[-1] == data.size - 1)
        return np.asarray(places[~(quote | within)])

    def _check_quotes(
        self, data: NDArray[np.uint8], newline: Mask, opening: Integers, closing: Integers
    ) -> None:
        """Refuse the first quote that neither begins nor ends a cell."""
        stray, loose = self._stray(data, opening), self._loose(data, closing)
        if loose < stray:
            before = opening[opening < loose]
            raise self._unclosed(self._line_of(newline, int(before[-1])) if before.size else self._quote_line)
        if stray < data.size:
            raise LooseQuotes(
                f"{self._label}: line {self._line_of(newline, stray)} has a quote inside a cell that "
                f"does not begin with one; put the cell in quotes and double the quote"
            )

    def _stray(self, data: NDArray[np.uint8], opening: Integers) -> int:
        """Find the first opening quote that does not begin a cell; the size of the data if there is none."""
        before = data[opening - 1]
        if opening.size and opening[0] == 0:
            before[0] = self._previous
        fits = (before == self._delimiter) | (before == self._newline) | (before == QUOTE)
        return int(data.size if fits.all() else opening[np.argmin(fits)])

    def _loose(self, data: NDArray[np.uint8], closing: Integers) -> int:
        """Find the first closing quote that does not end a cell; the size of the data if there is none."""
        places = np.concatenate(([-1], closing)) if self._closed else closing
        places = places[places < data.size - 1]
        after = data[places + 1]
        second = data[np.minimum(places + 2, data.size - 1)]  # past the border: the carriage return itself
        returned = (after == RETURN) & ((second == self._newline) | (places + 2 == data.size))
        fits = (after == self._delimiter) | (after == self._newline) | (after == QUOTE) | returned
        return int(data.size if fits.all() else places[np.argmin(fits)])

    def _line_of(self, newline: Mask, place: int) -> int:
        return self._line + int(np.count_nonzero(newline[:place]))

    def _judge(
        self, data: NDArray[np.uint8], newline: Mask, stops: Integers, counts: Integers, wrong: Integers
    ) -> None:
        """Remember records that are blank lines; refuse the first other one with a wrong number of cells."""
        starts = np.concatenate(([-self._size], stops[:-1] + 1))[wrong]
        ends = stops[wrong]
        last = np.where(ends > 0, data[ends - 1], self._previous)
        sizes = ends - starts
        blank = (sizes == 0) | ((sizes == 1) & (last == RETURN))
        if not blank.all() and not self._binary:
            first = int(np.argmin(blank))
            start = int(starts[first])
            line = self._line_of(newline, start) if start >= 0 else self._record_line
            raise self._ragged(line, int(counts[wrong[first]]))
        self.blanks.append(self.records + wrong[blank])

    def _ragged(self, line: int, delimiters: int) -> InvalidInput:
        return InvalidInput(
            f"{self._label}: line {line} has {delimiters + 1} cells, the header has {self._delimiters + 1}; "
            f"mend the line, or say the delimiter if it was guessed wrongly, or how many lines stand above "
            f"the header: {spelled('skip_rows', line - 1 if 1 < line <= _TITLES else 1)}"
        )

    def _unclosed(self, line: int) -> InvalidInput:
        return LooseQuotes(
            f"{self._label}: the quote opened on line {line} is not closed at the end of its cell"
        )
