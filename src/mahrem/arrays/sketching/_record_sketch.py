"""Records of a file of text, each looked at once where it lies: hashes of cells and rows, ways of writing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, inner_with, kernel
from mahrem.arrays.sketching._text_sketch import (
    NO_TEXT,
    NOTHING,
    SPREAD,
    Bytes,
    Hashes,
    HashTable,
    Word,
    count_signs,
    hash_long_text,
    hash_short_text,
    shape_of,
    sign_weights,
)
from mahrem.types import Integers, Written

__all__ = ["IrregularRecords", "RecordHashes", "hash_records"]

ShapeTable: TypeAlias = Annotated[NDArray[np.int32], 2]

_U = np.uint64
_NUL, _NEWLINE, _RETURN, _QUOTE = (np.uint8(sign) for sign in b'\0\n\r"')
_STOP = np.uint64(0xFFFFFFFFFFFFFFFF)  # a weight that no sign has
_SHORT, _AT_ONCE = np.uint64(12), np.uint64(127)
_HIGH = np.uint8(128)
_CELLS = 1 << 16  # looked at together: their hashes stay in the processor's cache
_TRIED = 64  # records that show whether one begins somewhere


def _stopping_weights(delimiter: int) -> Hashes:
    """Give what signs add to the counts of a cell; all ones for those that end it, or may not be in it."""
    weights = sign_weights().copy()
    weights[[_NUL, _NEWLINE, _RETURN, _QUOTE, delimiter]] = _STOP
    return weights


@inner
def _is_text(content: Bytes, begin: Word, end: Word) -> bool:
    """Tell whether bytes are UTF-8: no letter too long, too short, too large or half of a pair."""
    at = begin
    while at < end:
        first = content[at]
        at += _U(1)
        if first < _HIGH:
            continue
        more = _U(first >= np.uint8(0xC2)) + _U(first >= np.uint8(0xE0)) + _U(first >= np.uint8(0xF0))
        if more == _U(0) or first > np.uint8(0xF4) or at + more > end:
            return False
        second = content[at]
        if (
            (first == np.uint8(0xE0) and second < np.uint8(0xA0))
            or (first == np.uint8(0xED) and second > np.uint8(0x9F))
            or (first == np.uint8(0xF0) and second < np.uint8(0x90))
            or (first == np.uint8(0xF4) and second > np.uint8(0x8F))
        ):
            return False
        for _ in range(more):
            if content[at] & np.uint8(0xC0) != _HIGH:
                return False
            at += _U(1)
    return True


@inner
def _closing(content: Bytes, begin: Word) -> Word:
    """Find the quote that ends a cell, from behind the first; the size of all if there is none."""
    at, size = begin, _U(len(content))
    while at < size:
        sign = content[at]
        if sign == _NUL:
            return size
        if sign == _QUOTE:
            if at + _U(1) >= size or content[at + _U(1)] != _QUOTE:
                return at
            at += _U(1)
        at += _U(1)
    return size


@inner
def _without_doubles(content: Bytes, begin: Word, end: Word) -> Bytes:
    """Write the text of a cell within quotes: a quote that stands twice is one."""
    text = np.empty(np.int64(end - begin), np.uint8)
    at, size = begin, _U(0)
    while at < end:
        text[size] = content[at]
        size += _U(1)
        at += _U(2) if content[at] == _QUOTE else _U(1)
    return text[: np.int64(size)]


@inner_with(inline="always")
def _hashed(content: Bytes, begin: Word, length: Word) -> Word:
    return (
        hash_short_text(content, begin, length)
        if length <= _SHORT
        else hash_long_text(content, begin, length)
    )


@inner
def _quoted(content: Bytes, begin: Word, end: Word, lookups: Hashes, told: Hashes) -> bool:
    """Hash a text that stood in quotes and say how it is written; False if it is none."""
    if begin == end:
        told[0], told[1] = NOTHING, _STOP
        return True
    if not _is_text(content, begin, end):
        return False
    text = _without_doubles(content, begin, end)
    told[0] = _hashed(text, _U(0), _U(len(text)))
    told[1] = _U(shape_of(count_signs(text, _U(0), _U(len(text)), lookups), lookups))
    return True


@kernel
def hash_records(  # noqa: C901, PLR0912 - a kernel does all at one look
    content: Bytes,
    start: int,
    end: int,
    delimiter: int,
    lookups: Hashes,
    stops: Hashes,
    hashes: Written[HashTable],
    shapes: Written[ShapeTable],
    begins: Written[Integers],
) -> int:
    """Hash the cells and rows of as many records as there is room for, and say how cells are written.

    Args:
        content: A file of text whose records end with a line feed; the last one need not.
        start: Where a record begins.
        end: Where the last record to look at ends.
        delimiter: The byte between cells.
        lookups: What bytes add to counts, and counts to a shape.
        stops: The same of bytes outside quotes, as :func:`_stopping_weights` gives it.
        hashes: ``(columns + 1, room)`` of cells, and of whole rows; written.
        shapes: ``(columns, room)`` of cells; written.
        begins: ``(room + 1,)`` where each record begins, and the one behind the last; written.

    Returns:
        How many records there were; -1 where one is not as simple as it should be.
    """
    columns, room = shapes.shape
    size, last, one = _U(len(content)), _U(end), _U(1)
    mark, told = np.uint8(delimiter), np.zeros(2, np.uint64)
    at, row = _U(start), 0
    while row < room and at < last:
        begins[row] = np.int64(at)
        together = _U(0)
        for column in range(columns):
            begin, total, signs = at, _U(0), np.uint8(0)
            while at < size:
                sign = content[at]
                weight = stops[sign]
                if weight == _STOP:
                    break
                total += weight
                signs |= sign
                at += one
            length = at - begin
            if at < size and content[at] == _QUOTE:
                closing = _closing(content, at + one)
                if length or closing >= size or not _quoted(content, at + one, closing, lookups, told):
                    return -1
                key, shape = told[0], np.int32(np.int64(told[1]))
                at = closing + one
            elif length == _U(0):
                key, shape = NOTHING, np.int32(NO_TEXT)
            else:
                if signs >= _HIGH and not _is_text(content, begin, at):
                    return -1
                if length > _AT_ONCE:
                    total = count_signs(content, begin, length, lookups)
                key, shape = _hashed(content, begin, length), shape_of(total, lookups)
            hashes[column, row], shapes[column, row] = key, shape
            together = (together + key) * SPREAD
            if column < columns - 1:
                if at >= size or content[at] != mark:
                    return -1
            elif at < size:
                if content[at] == _RETURN:
                    at += one
                if at >= size or content[at] != _NEWLINE:
                    return -1
            at += one
        hashes[columns, row] = together
        row += 1
    begins[row] = np.int64(min(at, size))
    return row


@kernel
def count_records(  # noqa: C901 - a kernel does all at one look
    content: Bytes, start: int, end: int, delimiter: int, columns: int, stops: Hashes
) -> int:
    """Count the records between two places; -1 where one is not as simple as it should be.

    Args:
        content: A file of text whose records end with a line feed; the last one need not.
        start: Where a record begins.
        end: Where the last one ends.
        delimiter: The byte between cells.
        columns: Cells of a record.
        stops: Weights of bytes, as :func:`_stopping_weights` gives them.
    """
    size, last, one = _U(len(content)), _U(end), _U(1)
    at, rows, mark = _U(start), 0, np.uint8(delimiter)
    while at < last:
        begin, signs = at, np.uint8(0)
        for column in range(columns):
            first = at
            while at < size and stops[content[at]] != _STOP:
                signs |= content[at]
                at += one
            if at < size and content[at] == _QUOTE:
                closing = _closing(content, at + one)
                if at != first or closing >= size:
                    return -1
                at, signs = closing + one, _HIGH
            if column < columns - 1:
                if at >= size or content[at] != mark:
                    return -1
            elif at < size:
                if content[at] == _RETURN:
                    at += one
                if at >= size or content[at] != _NEWLINE:
                    return -1
            at += one
        if signs >= _HIGH and not _is_text(content, begin, min(at, size)):
            return -1
        rows += 1
    return rows if min(at, size) == last else -1


class IrregularRecords(ValueError):
    """A record is not as simple as it should be; who reads with more care can say what is wrong."""


class RecordBlock(NamedTuple):
    """Some records of a file; what is told of them stands until the next ones are asked for."""

    hashes: HashTable  # (columns + 1, rows) of cells, and of whole rows
    shapes: ShapeTable  # (columns, rows) of cells
    begins: Integers  # (rows,)
    ends: Integers  # (rows,)


class RecordHashes:
    r"""The records of a CSV file in UTF-8, looked at where they lie.

    Args:
        content: The file; a line feed ends each of its records, perhaps behind a carriage return.
        delimiter: The byte between cells.
        columns: Cells of a record, at least two.

    Guarantees:
        - Cells are hashed as the texts that they show, without quotes; empty ones as nothing.
        - Records of another width, quotes in a wrong place, bytes that are no text: all these are refused.

    Example:
        >>> content = np.frombuffer(b'ada,"a, b"\nbob,\n', np.uint8)
        >>> [block.shapes.tolist() for block in RecordHashes(content, ord(","), 2).blocks(0, len(content))]
        [[[1, 1], [117, -1]]]
    """

    def __init__(self, content: Bytes, delimiter: int, columns: int) -> None:
        self._content, self._delimiter, self._columns = content, delimiter, columns
        self._weights = sign_weights(), _stopping_weights(delimiter)

    def blocks(self, begin: int, end: int, *, room: int | None = None) -> Iterator[RecordBlock]:
        """Give what begins between two places, some records at a time; the last must end at the second."""
        rows = room or max(64, _CELLS // self._columns)
        hashes = np.empty((self._columns + 1, rows), np.uint64)
        shapes = np.empty((self._columns, rows), np.int32)
        begins = np.empty(rows + 1, np.int64)
        at = begin
        while at < end:
            found = hash_records(
                self._content, at, end, self._delimiter, *self._weights, hashes, shapes, begins
            )
            at = int(begins[found])
            if found < 0 or at > end:
                raise IrregularRecords
            yield RecordBlock(hashes[:, :found], shapes[:, :found], begins[:found], begins[1 : found + 1])

    def count(self, begin: int, end: int) -> int:
        """Count what begins between two places; the last must end at the second."""
        found = count_records(self._content, begin, end, self._delimiter, self._columns, self._weights[1])
        if found < 0:
            raise IrregularRecords
        return found

    def borders(self, begin: int, parts: int) -> list[int]:
        """Part the records into about equal parts: where each seems to begin, and where the last ends.

        A line end may stand within quotes. Whether parts fit together is seen when they are read.
        """
        size = len(self._content)
        wanted = [begin + (size - begin) * part // parts for part in range(1, parts)]
        found = (self._begins_behind(place) for place in wanted)
        return sorted({begin, size, *(place for place in found if place is not None)})

    def _begins_behind(self, place: int) -> int | None:
        """Find a line end behind which some records are as they should be."""
        some = self._content[place : place + (1 << 20)]
        for line_end in np.flatnonzero(some == _NEWLINE)[:_TRIED].tolist():
            at = place + line_end + 1
            try:
                next(self.blocks(at, len(self._content), room=_TRIED), None)
            except IrregularRecords:
                continue
            return int(at)
        return None
