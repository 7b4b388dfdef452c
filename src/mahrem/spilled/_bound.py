"""How much memory a run may take, and how much of a table is then held at a time."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from mahrem.errors import spelled

_PROGRAM = 300 * 2**20  # what the program and its readers take for themselves
_BYTES_A_CELL = 80  # of a table that is read, rewritten, written and checked in memory
_BYTES_HELD = 160  # of a cell while a part is finished: as it came, as it is shown, and as it is written
_BYTES_PLACED = 80  # of a quasi-identifier's place: the point, the kernel's keys and what it lays aside
_BYTES_SORTED = 36  # of each quasi-identifier of a row while a method sorts all rows at once
_BYTES_LABELLED = 60  # of a row besides: its class, values, person, and what is made of these meanwhile
_BYTES_COUNTED = 180  # of a row besides where people are counted: who has it, while people are numbered
_BYTES_HELD_BY = 840  # and what its person shows of each column with a promise, in every reading of it
_BYTES_REPAIRED = 160  # of a row while classes are repaired: where it lies, what it costs, who is near
_BYTES_DISTINCT = 200  # of a value in a dictionary, and while it is looked up
_BYTES_CHECKED = 30, 6  # of a row while classes are told apart by their hashes, and of each sensitive value
_LEAST = 400 * 10**6  # below that, what the program itself takes would break the promise
_MOST_PARTS = 200  # files that are open at a time
_ROWS = 2_000, 131_072  # of a batch
_FEWEST = 1_000  # rows that fit beside any program


@dataclass(frozen=True)
class MemoryBound:
    """What a bound on memory means for a table.

    Args:
        most: Bytes to stay below.
        rows: Of the table.
        columns: Of the table.
        quasi: Columns that are cut.
        sensitive: Columns that promises are about.
        part: Rows of a part, where somebody says it; else as many as fit.
        people: Whether people are counted, who may have several rows.
        valued: Columns of whose values something is promised.
        repaired: Whether classes are repaired, of which every row is looked at.
    """

    most: int
    rows: int
    columns: int
    quasi: int
    sensitive: int = 1
    part: int | None = None
    people: bool = False
    valued: int = 0
    repaired: bool = False

    @property
    def room(self) -> int:
        """Bytes for rows."""
        return max(self.most - _PROGRAM, self.most // 4)

    @property
    def batch(self) -> int:
        """Rows that are read at a time."""
        return min(max(self.room // (8 * _BYTES_HELD * self.columns), _ROWS[0]), _ROWS[1])

    @property
    def part_rows(self) -> int:
        """Rows that are finished at a time."""
        a_row = _BYTES_HELD * self.columns + _BYTES_PLACED * self.quasi
        return max(1, self.part or self.room // (2 * a_row))

    @property
    def numbers(self) -> int:
        """Bytes that a run takes which holds places, values and classes of all rows, and no cell of them."""
        a_row = _BYTES_SORTED * self.quasi + _BYTES_LABELLED + 4 * self.sensitive
        if self.people:
            a_row += _BYTES_COUNTED + _BYTES_HELD_BY * self.valued
        if self.repaired:
            a_row += _BYTES_REPAIRED
        return _PROGRAM + self.rows * a_row

    @property
    def distinct(self) -> int:
        """Different values of one column that are held."""
        return max(1_000, self.room // (_BYTES_DISTINCT * 4))

    @property
    def passes(self) -> int:
        """How often the published file is read to tell its classes apart."""
        a_row = _BYTES_CHECKED[0] + _BYTES_CHECKED[1] * self.sensitive
        return max(1, -(-self.rows * a_row // self.room))

    def too_small(self) -> str | None:
        """Say why a bound cannot be kept, or makes too many parts of the table; None: it is large enough."""
        if self.most < _LEAST:
            return (
                f"memory={self.most} cannot be kept: the program itself and its readers take up to "
                f"{_LEAST // 10**6} MB; say {spelled('memory', f'{_LEAST // 10**6}MB')} or more"
            )
        if self.rows > _MOST_PARTS * self.part_rows:
            wanted = _PROGRAM + self.room * self.rows // (_MOST_PARTS * self.part_rows)
            return (
                f"memory={self.most} is too little for rows={self.rows}: say "
                f"{spelled('memory', f'{-(-wanted // 10**8) / 10:g}GB')} or more"
            )
        return None


def needed_in_memory(rows: int, columns: int) -> int:
    """Give how many bytes a run takes that holds the table in memory."""
    return _PROGRAM + rows * columns * _BYTES_A_CELL


def rows_that_fit(memory: int, columns: int) -> int:
    """Give how many rows a run in memory may hold under a bound; some in any case."""
    return max(_FEWEST, (memory - _PROGRAM) // (max(1, columns) * _BYTES_A_CELL))


def usual_bound() -> int:
    """Give the bound that counts if none is said: half of what is free, but no less than can be kept."""
    return max(_free_memory() // 2, _LEAST)


def _free_memory() -> int:
    """Give how many bytes the system could still hand out."""
    try:
        match = re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        match = None
    if match is not None:
        return int(match[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
