"""Files of text taken apart: where cells begin and end, and a number for each text that they show."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner_with, kernel, lean
from mahrem.threads import available_threads, in_parallel
from mahrem.types import Codes, Integers, Matrix, Offsets, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "Cells",
    "Views",
    "copy_cells",
    "mark_signs",
    "number_cells",
    "split_records",
    "unravel",
    "unravel_all",
    "view_cells",
]

Bytes: TypeAlias = NDArray[np.uint8]
Hashes: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.uint32]
Word: TypeAlias = np.uint64

_U = np.uint64
_QUOTE, _NEWLINE, _RETURN = np.uint8(34), np.uint8(10), np.uint8(13)
_SEED = np.uint64(0x6D616872656D2E63)
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_QUOTES = np.uint64(0x2222222222222222)
_INLINE = np.uint64(12)  # letters that a view holds
_BYTES = np.uint64(1 << 15)  # in which marks are looked for at once
_SLOTS = 1 << 12  # of a column's table at first
_ROWS = 1 << 13  # taken apart at a time: where their cells lie stays in the processor's cache
_TRIED = 1 << 16  # records that show whether a column's texts are there again and again
_AGAIN = 0.8  # different texts among these, by record, from which on they are not
_WORTH_A_PART = 1 << 21  # bytes


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
    if begin + _U(8) <= _U(len(content)):  # one load; what is behind the text is masked
        return _eight(content, begin) & ((_U(1) << (_BYTE * size)) - _U(1))
    word = _U(0)
    for byte in range(size):
        word |= _U(content[begin + byte]) << (_BYTE * byte)
    return word


def mark_signs(separator: int) -> Bytes:
    """Mark the bytes at which a cell may end, and those for which a file is read with more care."""
    marked = np.zeros(256, np.uint8)
    marked[[0, int(_NEWLINE), int(_QUOTE), separator]] = 1
    return marked


@lean
def _find_marks(content: Bytes, begin: Word, end: Word, marked: Bytes, marks: Places) -> Word:
    """Note where marked bytes stand behind a place; gives how many. No branch, no guess."""
    count = _U(0)
    for at in range(begin, end):
        marks[count] = np.uint32(at - begin)
        count += _U(marked[content[at]])
    return count


@lean
def _closing(content: Bytes, base: Word, marks: Places, first: Word, count: Word) -> Word:
    """Find the mark that closes a cell whose first quote is the mark ``first``; ``count`` if none does."""
    mark = first + _U(1)
    while mark < count:
        sign = content[base + _U(marks[mark])]
        if sign == _QUOTE:
            if mark + _U(1) == count:
                return count  # what follows it is not known yet
            if content[base + _U(marks[mark]) + _U(1)] != _QUOTE:
                return mark
            mark += _U(1)
        elif sign == np.uint8(0):
            return count
        mark += _U(1)
    return count


@kernel
def split_records(  # noqa: C901, PLR0912 - a kernel does all at one look
    content: Bytes,
    start: int,
    end: int,
    separator: int,
    marked: Bytes,
    wanted: Integers,
    begins: Written[Integers],
    lengths: Written[Integers],
    counted: Written[Integers],
) -> int:
    """Find the cells of as many records as there is room for; gives where the next one begins.

    Args:
        content: A file of text whose records all end with a line end.
        start: Where a record begins.
        end: Where the last one ends.
        separator: The byte between cells.
        marked: As :func:`mark_signs` gives it.
        wanted: ``(columns,)`` the list that a column's cells go to; -1 for none.
        begins: Where cells begin, list after list, within their quotes; written.
        lengths: Their bytes within quotes; -1 for a cell that is empty without quotes; written.
        counted: How many records were found; written.

    Returns:
        -1 where a quote, a line end or the number of cells is not as it should be.
    """
    last, columns, one = _U(end), len(wanted), _U(1)
    lists = 0
    for column in range(columns):
        lists += wanted[column] >= 0
    most = len(begins) // max(lists, 1)
    mark, at, row = np.uint8(separator), _U(start), 0
    marks = np.empty(np.int64(_BYTES) + 1, np.uint32)
    while row < most and at < last:
        base, next_mark, before = at, _U(0), row
        count = _find_marks(content, base, min(base + _BYTES, last), marked, marks)
        while row < most:
            begin, this = at, next_mark
            for column in range(columns):
                if this >= count:
                    break
                stop, plain = base + _U(marks[this]), True
                if content[stop] == _QUOTE:
                    if stop != begin:
                        return -1
                    this = _closing(content, base, marks, this, count)
                    if this >= count:
                        break
                    begin, stop, plain = begin + one, base + _U(marks[this]), False
                    this += one
                behind = stop + _U(not plain)  # where the cell's end must stand
                follows = base + _U(marks[this])
                if column == columns - 1:
                    returned = follows > begin and content[follows - one] == _RETURN
                    if content[follows] != _NEWLINE:
                        return -1
                    stop -= _U(plain and returned)
                    behind += _U(not plain and returned)
                elif content[follows] != mark or (
                    plain and follows > begin and content[follows - one] == _RETURN
                ):
                    return -1  # such a return is part of a cell to some readers, and to others is not
                if not plain and behind != follows:
                    return -1
                if wanted[column] >= 0:
                    place = wanted[column] * most + row
                    length = np.int64(stop - begin)
                    begins[place] = np.int64(begin)
                    lengths[place] = -1 if plain and length == 0 else length
                begin = follows + one
                this += one
            else:
                at, next_mark = begin, this
                row += 1
                continue
            break
        if row == before:
            return -1  # a record that is longer than what is looked at, or that does not end
    counted[0] = row
    return int(np.int64(at))  # one type for all returns: mixed ones would be floats


@kernel
def view_cells(content: Bytes, begins: Integers, lengths: Integers, views: Written[Matrix[Hashes]]) -> bool:
    """Write short cells as sixteen bytes each: their length, and their letters behind it.

    Args:
        content: The file.
        begins: ``(rows,)`` where cells begin.
        lengths: ``(rows,)`` their bytes; below 1 for a cell that says nothing, which gets no letters.
        views: ``(rows, 2)``; written.

    Returns:
        Whether all cells could be written: none longer than twelve bytes, with a quote, or beyond ASCII.
    """
    odd = _U(0)
    for row in range(len(begins)):
        size, begin = _U(max(lengths[row], 0)), _U(begins[row])
        if size > _INLINE:
            return False
        if size <= _U(8):
            letters, more = _last(content, begin, size), _U(0)
        else:
            letters = _eight(content, begin)
            more = _eight(content, begin + size - _U(8)) >> (_BYTE * (_U(16) - size))
        for word in (letters, more):
            quoted = word ^ _QUOTES
            odd |= (word | ((quoted - _ONES) & ~quoted)) & _HIGHS
        views[row, 0] = size | (letters << _HALF)
        views[row, 1] = (letters >> _HALF) | (more << _HALF)
    return bool(odd == _U(0))


@kernel
def number_cells(  # noqa: C901 - the same
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
                if size < _U(8):
                    break  # one word, mixed in steps that can be undone: such texts share no hash
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
        self.codes.append(self._numbers_of(begins, lengths))

    def extend(self, others: Cells) -> None:
        """Take over the rows of another part of the column."""
        numbers = self._numbers_of(others._places[: len(others)], others._sizes[: len(others)])
        known = np.append(numbers, np.int32(-1))
        self.codes += [known[codes] for codes in others.codes]

    def __len__(self) -> int:
        """Count the texts."""
        return int(self._counted[0])

    def texts(self) -> tuple[Bytes, Offsets]:
        """Give the texts one after the other, and where each begins; doubled quotes stay so."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self._sizes[: len(self)], out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        copy_cells(self.content, self._places[: len(self)], offsets, out)
        return out, offsets

    def _numbers_of(self, begins: Integers, lengths: Integers) -> Codes:
        codes, row = np.empty(len(begins), np.int32), 0
        while row < len(begins):
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
            if row < len(begins):
                self._make_room(4 * len(self._slots))
        return codes

    def _make_room(self, slots: int) -> None:
        """Make the table larger; texts keep their numbers."""
        count = len(self)
        if count:
            places, sizes = self._places[:count], self._sizes[:count]
        self._slots = np.zeros(slots, np.int32)
        self._hashes = np.empty(slots // 2 + 1, np.uint64)
        self._places, self._sizes = np.empty((2, slots // 2 + 1), np.int64)
        if count:
            self._counted[0] = 0
            self._numbers_of(places, sizes)


@dataclass
class Views:
    """The cells of one column of a file as they are, sixteen bytes each.

    Attributes:
        views: By some rows at a time, ``(rows, 2)``: the length of each text, and its letters; none for
            nothing. None where a cell is too long for that, or needs more care to be read.
    """

    content: Bytes = field(repr=False)
    views: list[NDArray[np.uint64]] | None = field(default_factory=list, repr=False)

    def add(self, begins: Integers, lengths: Integers) -> None:
        """Take the cells of further rows."""
        views = np.empty((len(begins), 2), np.uint64)
        if self.views is not None:
            self.views = [*self.views, views] if view_cells(self.content, begins, lengths, views) else None

    def extend(self, others: Views) -> None:
        """Take over the rows of another part of the column."""
        self.views = None if self.views is None or others.views is None else self.views + others.views


class _Records:
    """The records of a file of text: where they are, and which of their cells are wanted."""

    def __init__(self, content: Bytes, separator: int, wanted: Sequence[int], columns: int) -> None:
        self._content, self._separator, self._marked = content, separator, mark_signs(separator)
        self._lists = np.full(columns, -1, np.int64)
        self._lists[list(wanted)] = np.arange(len(wanted))
        self._wanted = len(wanted)

    def parts(self, start: int) -> list[tuple[int, int]]:
        """Part the file behind line ends, for as many threads as there are; one may stand within quotes."""
        size = len(self._content)
        parts = min(available_threads(), 1 + (size - start) // _WORTH_A_PART)
        wanted = (start + (size - start) * part // parts for part in range(1, parts))
        return list(pairwise(sorted({start, size, *map(self._behind_line, wanted)})))

    def _behind_line(self, place: int) -> int:
        near = np.flatnonzero(self._content[place : place + int(_BYTES)] == _NEWLINE)
        return place + int(near[0]) + 1 if len(near) else len(self._content)

    def read(self, columns: Sequence[Cells | Views], begin: int, end: int, most: int | None = None) -> bool:
        """Hand the records between two places to columns; False where they are not as they should be."""
        begins, lengths = np.empty((2, self._wanted, _ROWS), np.int64)
        counted, at, rows = np.zeros(1, np.int64), begin, 0
        while at < end and (most is None or rows < most):
            at = split_records(
                self._content,
                at,
                end,
                self._separator,
                self._marked,
                self._lists,
                begins.ravel(),
                lengths.ravel(),
                counted,
            )
            if at < 0:
                return False
            some = int(counted[0])
            rows += some
            for place, cells in enumerate(columns):
                cells.add(begins[place, :some], lengths[place, :some])
        return True


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
    records = _Records(content, separator, wanted, columns)
    return _read_parts(records, start, lambda: [Cells(content) for _ in wanted])


def unravel_all(content: Bytes, start: int, separator: int, columns: int) -> list[Cells | Views] | None:
    r"""Read all columns of a file of text, those in which texts hardly repeat as they are; else as above.

    Example:
        >>> content = np.frombuffer(b"1,flu\n2,flu\n", np.uint8)
        >>> numbers, ills = unravel_all(content, 0, ord(","), 2)
        >>> numbers.views[0][:, 0].tolist(), ills.codes[0].tolist()
        ([210453397505, 214748364801], [0, 0])
    """
    records = _Records(content, separator, range(columns), columns)
    tried = [Cells(content) for _ in range(columns)]
    parts = records.parts(start)
    for begin, end in parts:  # a file may be sorted by a column
        if not records.read(tried, begin, end, most=_TRIED // len(parts)) and begin == start:
            return None
    rows = sum(map(len, tried[0].codes))
    often = [len(cells) < _AGAIN * rows for cells in tried]
    return _read_parts(
        records, start, lambda: [Cells(content) if again else Views(content) for again in often]
    )


Column = TypeVar("Column", bound=Cells | Views)


def _read_parts(records: _Records, start: int, make: Callable[[], list[Column]]) -> list[Column] | None:
    """Read a file part by part, side by side.

    A part ends where the next begins, or is not as it should be: then a line end stood within quotes.
    """

    def read(part: tuple[int, int]) -> list[Column] | None:
        columns = make()
        return columns if records.read(columns, *part) else None

    parts = records.parts(start)
    by_part = in_parallel(read, parts)
    if len(parts) > 1 and None in by_part:
        by_part = [read((start, parts[-1][1]))]
    first, *others = by_part or [make()]
    for other in others:
        for cells, further in zip(first or (), other or (), strict=True):
            cells.extend(further)  # type: ignore[arg-type]  # both are of one kind
    return first
