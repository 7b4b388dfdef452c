"""Records of a file of text, each looked at once where it lies: hashes of cells and rows, ways of writing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, inner_with, kernel, lean
from mahrem.arrays.sketching._text_sketch import (
    AT_ONCE,
    NO_TEXT,
    NOTHING,
    SPREAD,
    Bytes,
    Hashes,
    HashTable,
    Word,
    count_signs,
    eight_bytes,
    hash_bytes,
    hash_view,
    shape_of,
    sign_weights,
    view_of,
)
from mahrem.threads import available_threads
from mahrem.types import Integers, Written

__all__ = ["IrregularRecords", "RecordBlock", "RecordHashes", "count_records", "hash_records"]

ShapeTable: TypeAlias = Annotated[NDArray[np.int32], 2]
Places: TypeAlias = NDArray[np.uint32]

_U = np.uint64
_NUL, _NEWLINE, _RETURN, _QUOTE = np.uint8(0), np.uint8(10), np.uint8(13), np.uint8(34)
_STOP = np.uint64(0xFFFFFFFFFFFFFFFF)  # a weight that no sign has
_SHORT, _HIGH, _HIGHS = np.uint64(12), np.uint8(128), np.uint64(0x8080808080808080)
_BYTES = np.uint64(1 << 14)  # in which marks are looked for at once
_CELLS = 1 << 16  # looked at together: their hashes stay in the processor's cache
_PARTS, _WORTH_A_PART = 8, 1 << 21  # looked at side by side, bytes
_TRIED = 64  # records that show whether one begins somewhere


def _stopping_weights(delimiter: int) -> Hashes:
    """Give what signs add to the counts of a cell; all ones for those that end it, or may not be in it."""
    weights = sign_weights().copy()
    weights[np.array([_NUL, _NEWLINE, _QUOTE, delimiter])] = _STOP
    return weights


def _mark_signs(delimiter: int) -> Bytes:
    """Mark the bytes at which a cell ends, and those for which a record must be read with care."""
    marked = np.zeros(256, np.uint8)
    marked[np.array([_NUL, _NEWLINE, _QUOTE, delimiter])] = 1
    return marked


@lean
def _is_text(content: Bytes, begin: Word, end: Word) -> bool:
    """Tell whether bytes are UTF-8: no letter too long, too short, too large or half of a pair."""
    at = begin
    while at < end:
        if at + _U(8) <= end and eight_bytes(content, at) & _HIGHS == _U(0):
            at += _U(8)
            continue
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


@lean
def _find_marks(content: Bytes, begin: Word, end: Word, marked: Bytes, marks: Places) -> Word:
    """Note where marked bytes stand behind a place; gives how many. No branch, no guess."""
    count = _U(0)
    for at in range(begin, end):
        marks[count] = np.uint32(at - begin)
        count += _U(marked[content[at]])
    return count


@lean
def _fits(content: Bytes, at: Word, marks: Places, first: Word, columns: Word, mark: np.uint8) -> bool:
    """Tell whether the marks of a record are delimiters and a line end, in this order."""
    wrong = content[at + _U(marks[first + columns - _U(1)])] != _NEWLINE
    for cell in range(columns - _U(1)):
        wrong |= content[at + _U(marks[first + cell])] != mark
    return not wrong


@lean
def _closing(content: Bytes, begin: Word) -> Word:
    """Find the end of a cell from behind its first quote on; behind the end of all if there is none."""
    at, size = begin, _U(len(content))
    while at < size and content[at] != _NUL:
        if content[at] == _QUOTE:
            if at + _U(1) >= size or content[at + _U(1)] != _QUOTE:
                return at + _U(1)
            at += _U(1)
        at += _U(1)
    return size + _U(1)


@lean
def _ends_record(content: Bytes, at: Word) -> bool:
    """Tell whether a line end follows the last cell, or the end of all."""
    size = _U(len(content))
    if at + _U(1) < size and content[at] == _RETURN:
        at += _U(1)
    return bool(content[at] == _NEWLINE if at < size else content[size - _U(1)] != _RETURN)


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
    if length > _SHORT:
        return hash_bytes(content, begin, length)
    first, second = view_of(content, begin, length)
    return hash_view(first, second)


@inner
def _look_into_quotes(content: Bytes, begin: Word, end: Word, lookups: Hashes) -> tuple[Word, Word]:
    """Hash the text that a cell shows in quotes, and count its signs."""
    text = _without_doubles(content, begin + _U(1), end - _U(1))
    if len(text) == 0:
        return NOTHING, _U(0)
    return _hashed(text, _U(0), _U(len(text))), count_signs(text, _U(0), _U(len(text)), lookups)


@lean
def _behind_record(content: Bytes, begin: Word, mark: np.uint8, columns: Word, marked: Bytes) -> Word:
    """Walk over a record that may have quotes; gives where the next one begins, 0 if it is wrong."""
    at, size = begin, _U(len(content))
    for column in range(columns):
        if at < size and content[at] == _QUOTE:
            at = _closing(content, at + _U(1))
        else:
            while at < size and marked[content[at]] == 0:
                at += _U(1)
        if column < columns - _U(1):
            if at >= size or content[at] != mark:
                return _U(0)
        elif at > size or not _ends_record(content, at):
            return _U(0)
        else:
            at += _U(at < size and content[at] == _RETURN)
        at += _U(1)
    return min(at, size)


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
    mark, at, row = np.uint8(delimiter), _U(start), 0
    while row < room and at < last:
        begins[row] = np.int64(at)
        together = _U(0)
        for column in range(columns):
            begin, total = at, _U(0)
            while at < size:
                weight = stops[content[at]]
                if weight == _STOP:
                    break
                total += weight
                at += one
            length = at - begin
            if at < size and content[at] == _QUOTE:
                at = _closing(content, begin + one)
                if length or at > size:
                    return -1
                key, total = _look_into_quotes(content, begin, at, lookups)
            else:
                if column == columns - 1 and length and content[at - one] == _RETURN:
                    length -= one
                key = NOTHING if length == _U(0) else _hashed(content, begin, length)
                if length > AT_ONCE:
                    total = count_signs(content, begin, length, lookups)
            hashes[column, row] = key
            shapes[column, row] = np.int32(NO_TEXT) if key == NOTHING else shape_of(total, lookups)
            together = (together + key) * SPREAD
            if column < columns - 1:
                if at >= size or content[at] != mark:
                    return -1
            elif not _ends_record(content, at):
                return -1
            else:
                at += _U(at < size and content[at] == _RETURN)
            at += one
        hashes[columns, row] = together
        row += 1
    begins[row] = np.int64(min(at, size))
    return row if _is_text(content, _U(start), min(at, size)) else -1


@kernel
def count_records(content: Bytes, start: int, end: int, delimiter: int, columns: int, marked: Bytes) -> int:
    """Count the records between two places; -1 where one is not as simple as it should be.

    Args:
        content: A file of text whose records end with a line feed; the last one need not.
        start: Where a record begins.
        end: Where the last one ends.
        delimiter: The byte between cells.
        columns: Cells of a record.
        marked: Bytes at which cells may end, as :func:`_mark_signs` gives them.
    """
    wide, mark, last = _U(columns), np.uint8(delimiter), min(_U(end), _U(len(content)))
    marks = np.empty(np.int64(_BYTES) + 1, np.uint32)
    at, rows = _U(start), 0
    while at < last:
        base, first, to = at, _U(0), min(at + _BYTES, last)
        mark_count = _find_marks(content, base, to, marked, marks)
        while first + wide <= mark_count and _fits(content, base, marks, first, wide, mark):
            first += wide
            at = base + _U(marks[first - _U(1)]) + _U(1)
            rows += 1
        careful = to if first + wide <= mark_count or first == _U(0) else at
        while at < careful:
            at = _behind_record(content, at, mark, wide, marked)
            if at == _U(0):
                return -1
            rows += 1
    return rows if at == last and _is_text(content, _U(start), at) else -1


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
        self._stops, self._marked = _stopping_weights(delimiter), _mark_signs(delimiter)

    def blocks(self, begin: int, end: int, *, room: int | None = None) -> Iterator[RecordBlock]:
        """Give what begins between two places, some records at a time; the last must end at the second."""
        rows = room or max(64, _CELLS // self._columns)
        hashes = np.empty((self._columns + 1, rows), np.uint64)
        shapes = np.empty((self._columns, rows), np.int32)
        begins = np.empty(rows + 1, np.int64)
        at = begin
        while at < end:
            records = hash_records(
                self._content, at, end, self._delimiter, sign_weights(), self._stops, hashes, shapes, begins
            )
            at = int(begins[records])
            if records < 0 or at > end:
                raise IrregularRecords
            yield RecordBlock(
                hashes[:, :records], shapes[:, :records], begins[:records], begins[1 : records + 1]
            )

    def count(self, begin: int, end: int) -> int:
        """Count what begins between two places; the last must end at the second."""
        records = count_records(self._content, begin, end, self._delimiter, self._columns, self._marked)
        if records < 0:
            raise IrregularRecords
        return records

    def parts(self, begin: int) -> list[tuple[int, int]]:
        """Part the records for as many threads as there are: where each part seems to begin, and its end.

        A line end may stand within quotes. Whether parts fit together is seen when they are read.
        """
        size = len(self._content)
        parts = min(available_threads(), _PARTS, 1 + size // _WORTH_A_PART)
        wanted = [begin + (size - begin) * part // parts for part in range(1, parts)]
        begins = (self._begins_behind(place) for place in wanted)
        return list(pairwise(sorted({begin, size, *(place for place in begins if place is not None)})))

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
