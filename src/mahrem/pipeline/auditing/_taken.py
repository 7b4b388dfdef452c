"""How an audit takes a table in: as it is, as numbers of its texts, or again for every question."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from mahrem.contents import TableSketch, merge_sketches, sketch_table
from mahrem.release.decisions import Policy
from mahrem.table import EVERY, Source
from mahrem.table.cells.formulas import restore_cells
from mahrem.table.reading import NumberedTable, PolarsSource, scan_sparingly
from mahrem.threads import ahead

_ROWS = 2_000, 1 << 17  # that are looked into at a time where not all fit
_WAITING = 4  # sketches of parts that wait to be added up
_HELD = 0.75  # share of the room for numbers: to go over them often still takes less than to read again
_BYTES_A_CELL = 40  # text in memory while it is grouped
_BYTES_A_ROW = 120  # hashes and codes in memory while numbered rows are grouped
_BYTES_HASHED = 40  # hashes and codes of a row that is read again, most of them waiting in buckets
_READER = 300 * 2**20  # what the program and the reader take for themselves


@dataclass(frozen=True)
class Taken:
    """The columns of a table that an audit is about, and a look into all others.

    Attributes:
        table: What to verify.
        passes: In how many parts; 0 for a table that lies in memory as it is.
        numbered: Columns in memory whose texts are numbered; None for a table that is read again.
        sketch: Gives what a look at every row leaves.
    """

    table: pl.LazyFrame
    passes: int
    numbered: Mapping[str, pl.Series] | None
    sketch: Callable[[], TableSketch]


@dataclass(frozen=True)
class Intake:
    """What an audit wants of a table.

    Args:
        opened: The table.
        names: Columns to verify.
        policy: How much memory there is, and columns that somebody accepted: they are not looked into.
        restores: Undo apostrophes before formulas.
    """

    opened: Source
    names: Sequence[str]
    policy: Policy
    restores: bool

    def whole(self) -> Taken:
        """Take the table into memory, texts as numbers of the different ones."""
        table = self.opened.scan(self.names)
        texts = [name for name, kind in table.collect_schema().items() if kind == pl.String]
        coded = (pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in texts)
        held = self._restored(table.with_columns(coded).collect().lazy())
        numbered = _numbered_columns(held)
        return Taken(held, 0, numbered, lambda: sketch_table(self._shown().collect(), numbered))

    def sparingly(self) -> Taken:
        """Take in what fits: the table, else numbers of its texts, else nothing."""
        rows = int(self.opened.scan(self.names).select(pl.len()).collect(engine="streaming").item())
        if rows * len(self.names) * _BYTES_A_CELL <= self._memory:
            return self.whole()
        if not (isinstance(self.opened, PolarsSource) and self.opened.in_batches()):
            return self._read_again(rows, self._looked_at_alone)
        numbers, sketch = self._numbered(self.opened)
        if numbers is None:
            return self._read_again(rows, lambda: sketch)
        passes, held = _passes(rows, self._room - numbers.size), numbers.frame().lazy()
        return Taken(held, passes, _numbered_columns(held), lambda: sketch)

    def _read_again(self, rows: int, sketch: Callable[[], TableSketch]) -> Taken:
        table = self._restored(scan_sparingly(self.opened, self.names))
        return Taken(table, _passes(rows, self._room, _BYTES_HASHED), None, sketch)

    def _numbered(self, opened: PolarsSource) -> tuple[NumberedTable | None, TableSketch]:
        """Read the table once: number its texts, as long as these fit, and look at every row."""
        numbers: NumberedTable | None = NumberedTable(self.names)
        sketches = _Sketches()
        read = list(dict.fromkeys([*self.names, *self._seen]))
        for batch in ahead(opened.batches(read, self._rows_at_once(len(read)))):
            part = self._restored(batch.lazy()).collect()
            coded = {} if numbers is None else numbers.add(part)
            sketches.add(part.select(self._seen), coded)
            if numbers is not None and numbers.size > _HELD * self._room:
                numbers = None
        return numbers, sketches.total()

    def _looked_at_alone(self) -> TableSketch:
        """Look at every row, part by part."""
        sketches, shown = _Sketches(), self._shown()
        for batch in shown.collect_batches(chunk_size=self._rows_at_once(len(self._seen))):
            sketches.add(batch, {})
        return sketches.total()

    def _shown(self) -> pl.LazyFrame:
        """Scan the columns whose cells are looked into."""
        return self._restored(scan_sparingly(self.opened, self._seen)) if self._seen else pl.LazyFrame()

    @cached_property
    def _seen(self) -> list[str]:
        """The columns whose cells are looked into: all but those somebody accepted."""
        accepted = self.policy.accept
        kinds = self.opened.scan(self.opened.columns).collect_schema()
        names = [name for name in self.opened.columns if not kinds[name].is_nested() and name not in accepted]
        return [] if EVERY in accepted else names

    def _restored(self, table: pl.LazyFrame) -> pl.LazyFrame:
        return restore_cells(table) if self.restores else table

    @cached_property
    def _memory(self) -> int:
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return half if self.policy.memory is None else self.policy.memory

    @property
    def _room(self) -> int:
        """Bytes for rows."""
        return max(self._memory - _READER, self._memory // 4)

    def _rows_at_once(self, columns: int) -> int:
        fewest, most = _ROWS
        return min(max(self._room // (8 * _BYTES_A_CELL * max(1, columns)), fewest), most)


class _Sketches:
    """Sketches of parts, added up some at a time."""

    def __init__(self) -> None:
        self._parts: list[TableSketch] = []

    def add(self, part: pl.DataFrame, coded: Mapping[str, pl.Series]) -> None:
        """Look at every row of a part, whose texts may be numbered already."""
        self._parts.append(sketch_table(part, coded))
        if len(self._parts) > _WAITING:
            self._parts = [self.total()]

    def total(self) -> TableSketch:
        return merge_sketches(self._parts) if self._parts else sketch_table(pl.DataFrame())


def _numbered_columns(held: pl.LazyFrame) -> dict[str, pl.Series]:
    return {column.name: column for column in held.collect() if isinstance(column.dtype, pl.Categorical)}


def _passes(rows: int, room: int, a_row: int = _BYTES_A_ROW) -> int:
    """Say in how many parts rows are grouped."""
    return max(1, -(-rows * a_row // max(1, room)))
