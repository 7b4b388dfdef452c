"""Files of text taken apart: where cells begin and end, and a number for each text that they show."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner_with, kernel
from mahrem.threads import available_threads
from mahrem.types import Codes, Integers, Offsets, Written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

__all__ = ["Cells", "copy_cells", "number_cells", "split_records", "unravel"]

Bytes: TypeAlias = NDArray[np.uint8]
Hashes: TypeAlias = NDArray[np.uint64]
Word: TypeAlias = np.uint64

_U = np.uint64
_QUOTE, _NEWLINE, _RETURN = np.uint8(34), np.uint8(10), np.uint8(13)
_SEED = np.uint64(0x6D616872656D2E63)
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_QUOTES = np.uint64(0x2222222222222222)
_SLOTS = 1 << 12  # of a column's table at first
_ROWS = 1 << 16  # taken apart at a time: where their cells lie stays in the processor's cache


@inner_with(inline="always")
def _eight(content: Bytes, at: Word) -> Word:
    """Give eight bytes as one word: one load, as their number is known."""
    word = _U(0)
    for byte in range(_U(8)):
        word |= _U(content[at + byte]) << (_BYTE * byte)
    return word


@inner_with(inline="always")
def _last(content: Bytes, begin: Word, size: Word) -> Word:
    """Give the last bytes of a text, eight of them where it has so many."""
    if size >= _U(8):
        return _eight(content, begin + size - _U(8))
    word = _U(0)
    for byte in range(size):
        word |= _U(content[begin + byte]) << (_BYTE * byte)
    return word


@kernel
def split_records(  # noqa: C901, PLR0912 - a kernel does all at one look
    content: Bytes,
    start: int,
    separator: int,
    wanted: Integers,
    begins: Written[Integers],
    lengths: Written[Integers],
    counted: Written[Integers],
) -> int:
    """Find the cells of as many records as there is room for; gives where the next one begins.

    Args:
        content: A file of text whose records all end with a line end.
        start: Where a record begins.
        separator: The byte between cells.
        wanted: ``(columns,)`` the list that a column's cells go to; -1 for none.
        begins: Where cells begin, list after list, within their quotes; written.
        lengths: Their bytes within quotes; -1 for a cell that is empty without quotes; written.
        counted: How many records were found; written.

    Returns:
        -1 where a quote, a line end or the number of cells is not as it should be.
    """
    size, columns = _U(len(content)), len(wanted)
    lists = 0
    for column in range(columns):
        lists += wanted[column] >= 0
    most = len(begins) // max(lists, 1)
    mark = np.uint8(separator)
    at, row = _U(start), 0
    while row < most and at < size:
        for column in range(columns):
            begin, plain = at, True
            if at < size and content[at] == _QUOTE:
                plain = False
                at += _U(1)
                begin = at
                while True:
                    while at + _U(8) <= size:  # eight bytes at a time, as long as none is a quote
                        block = _eight(content, at) ^ _QUOTES
                        if (block - _ONES) & ~block & _HIGHS:
                            break
                        at += _U(8)
                    while at < size and content[at] != _QUOTE:
                        at += _U(1)
                    if at + _U(1) >= size:
                        return -1
                    if content[at + _U(1)] != _QUOTE:
                        break
                    at += _U(2)
            else:
                while at < size and content[at] != mark and content[at] != _NEWLINE:
                    if content[at] == _QUOTE or content[at] == _RETURN:
                        return -1
                    at += _U(1)
            length = np.int64(at - begin)
            if not plain:
                at += _U(1)
            if at >= size or content[at] != (_NEWLINE if column == columns - 1 else mark):
                return -1
            at += _U(1)
            if wanted[column] >= 0:
                place = wanted[column] * most + row
                begins[place] = np.int64(begin)
                lengths[place] = -1 if plain and length == 0 else length
        row += 1
    counted[0] = row
    return int(np.int64(at))  # one type for all returns: mixed ones would be floats


@kernel
def number_cells(
    content: Bytes,
    begins: Integers,
    lengths: Integers,
    first: int,
    slots: Written[Codes],
    hashes: Written[Hashes],
    places: Written[Integers],
    sizes: Written[Integers],
    counted: Written[Integers],
    codes: Written[Codes],
) -> int:
    """Number cells by their texts, from row ``first`` on; gives the row where the table was full, or the end.

    Args:
        content: The file.
        begins: ``(rows,)`` where cells begin.
        lengths: ``(rows,)`` their bytes; a cell of -1 says nothing and gets the number -1.
        first: The first row to number.
        slots: The table: a power of two; the number of a text and 1, or 0; written.
        hashes: Of the texts that are known, by number; written.
        places: Where each was seen first; written.
        sizes: Their bytes; written.
        counted: How many there are; written.
        codes: ``(rows,)`` numbers; written.
    """
    mask = _U(len(slots) - 1)
    for row in range(first, len(begins)):
        if lengths[row] < 0:
            codes[row] = -1
            continue
        if 2 * counted[0] >= len(slots):
            return row
        begin, size = _U(begins[row]), _U(lengths[row])
        mixed = _SEED ^ size
        for word in range(size >> _U(3)):
            mixed = (mixed ^ _eight(content, begin + (word << _U(3)))) * _MIXER
            mixed ^= mixed >> _HALF
        mixed = (mixed ^ _last(content, begin, size)) * _MIXER
        mixed ^= mixed >> _HALF
        slot = mixed & mask
        while True:
            number = slots[slot] - 1
            if number < 0:
                number = counted[0]
                counted[0] += 1
                slots[slot] = np.int32(number + 1)
                hashes[number], places[number], sizes[number] = mixed, np.int64(begin), np.int64(size)
                break
            if hashes[number] == mixed and _U(sizes[number]) == size:
                other = _U(places[number])
                unlike = _last(content, begin, size) ^ _last(content, other, size)
                for word in range(size >> _U(3)):
                    at = word << _U(3)
                    unlike |= _eight(content, begin + at) ^ _eight(content, other + at)
                if unlike == _U(0):
                    break
            slot = (slot + _U(1)) & mask
        codes[row] = np.int32(number)
    return len(begins)


@kernel
def copy_cells(content: Bytes, places: Integers, offsets: Offsets, out: Written[Bytes]) -> None:
    """Copy texts one after the other; ``offsets`` says where each begins there, and ends."""
    for text in range(len(places)):
        begin, to = _U(places[text]), _U(offsets[text])
        for byte in range(_U(offsets[text + 1]) - to):
            out[to + byte] = content[begin + byte]


@dataclass
class Cells:
    """The cells of one column of a file, as numbers of the texts that they show.

    Attributes:
        codes: By some rows at a time, the number of each row's text; -1 where a cell says nothing.
    """

    content: Bytes = field(repr=False)
    codes: list[Codes] = field(default_factory=list, repr=False)
    _places: Integers = field(init=False, repr=False)
    _sizes: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._counted = np.zeros(1, np.int64)
        self._make_room(_SLOTS)

    def add(self, begins: Integers, lengths: Integers) -> None:
        """Number the cells of further rows."""
        codes, row = np.empty(len(begins), np.int32), 0
        while True:
            row = number_cells(
                self.content,
                begins,
                lengths,
                row,
                self._slots,
                self._hashes,
                self._places,
                self._sizes,
                self._counted,
                codes,
            )
            if row == len(begins):
                break
            self._make_room(4 * len(self._slots))
        self.codes.append(codes)

    def texts(self) -> tuple[Bytes, Offsets]:
        """Give the texts one after the other, and where each begins; doubled quotes stay so."""
        count = int(self._counted[0])
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(self._sizes[:count], out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        copy_cells(self.content, self._places[:count], offsets, out)
        return out, offsets

    def _make_room(self, slots: int) -> None:
        """Make the table larger; texts keep their numbers."""
        count = int(self._counted[0])
        if count:
            places, sizes = self._places, self._sizes
        self._slots = np.zeros(slots, np.int32)
        self._hashes = np.empty(slots // 2 + 1, np.uint64)
        self._places, self._sizes = np.empty((2, slots // 2 + 1), np.int64)
        if count:
            self._counted[0] = 0
            numbers = np.empty(count, np.int32)
            number_cells(
                self.content,
                places[:count],
                sizes[:count],
                0,
                self._slots,
                self._hashes,
                self._places,
                self._sizes,
                self._counted,
                numbers,
            )


def unravel(
    content: Bytes, start: int, separator: int, wanted: Sequence[int], columns: int
) -> list[Cells] | None:
    r"""Read some columns of a file of text; None where it is not written as this reads it.

    Records end with a line feed, and cells with quotes, separators or line ends stand in quotes.

    Args:
        content: The file.
        start: Where its first record begins.
        separator: The byte between cells.
        wanted: Which columns, by place.
        columns: How many there are; at least two.

    Example:
        >>> content = np.frombuffer(b'"[1, 2]",flu\n"[1, 2]",gout\n', np.uint8)
        >>> (ages,) = unravel(content, 0, ord(","), [0], 2)
        >>> ages.codes[0].tolist(), ages.texts()[0].tobytes()
        ([0, 0], b'[1, 2]')
    """
    lists = np.full(columns, -1, np.int64)
    lists[list(wanted)] = np.arange(len(wanted))
    wanted_cells = [Cells(content) for _ in wanted]
    rooms = [np.empty((2, len(wanted), _ROWS), np.int64) for _ in range(2)]
    counted, at, number = np.zeros(1, np.int64), start, 0
    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(available_threads()) as pool:
        while at < len(content):
            begins, lengths = rooms[number % 2]  # the next records are split while these are numbered
            at = split_records(content, at, separator, lists, begins.ravel(), lengths.ravel(), counted)
            for future in waiting:
                future.result()
            if at < 0:
                return None
            rows = int(counted[0])
            waiting = [
                pool.submit(cells.add, begins[place, :rows], lengths[place, :rows])
                for place, cells in enumerate(wanted_cells)
            ]
            number += 1
        for future in waiting:
            future.result()
    return wanted_cells
