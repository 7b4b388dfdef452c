"""Tables as items: an item is a column and a cell it shows, exact or published."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
import polars as pl

from mahrem.arrays.mining import Bits, pack_bits
from mahrem.errors import ColumnNotFound, InvalidInput
from mahrem.table import Exact, Hierarchy, Members, Prefix, as_polars, read_cell, read_ranges
from mahrem.types import Codes, Integers, Mask

_FEW = 4096  # rows below which a dictionary is quicker than an enumeration
SAYS_NOTHING = ("", "*")  # cells that are no item
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Items:
    """The items of a table, numbered by column, then by the text of the cell."""

    columns: tuple[str, ...]
    place: Codes = field(repr=False)  # (items,) column of each item
    cells: tuple[str, ...] = field(repr=False)  # (items,) what it shows

    def __len__(self) -> int:
        return len(self.cells)

    def pairs(self) -> list[tuple[int, str]]:
        """Give each item as place of its column and cell."""
        return list(zip(self.place.tolist(), self.cells, strict=True))


def as_cells(table: object, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a frame or a matrix as a frame of text, one cell for each row and column.

    Args:
        table: A frame of any library we know, or a two-dimensional array.
        columns: Which columns, in this order; by default all.

    Raises:
        ColumnNotFound: If the table has no such column.
        InvalidInput: If the table is none.
    """
    if isinstance(table, pl.DataFrame):
        frame = table
    elif hasattr(table, "columns") or hasattr(table, "collect"):
        frame = as_polars(table)
    else:
        matrix = np.asarray(table)
        if matrix.ndim != 2:
            raise InvalidInput(f"dimensions={matrix.ndim}: a table has 2, rows and columns")
        names = columns or [f"x{place}" for place in range(matrix.shape[1])]
        if len(names) != matrix.shape[1]:
            raise InvalidInput(f"columns={matrix.shape[1]}: the classifier was trained on {len(names)}")
        frame = pl.DataFrame(
            [pl.Series(name, matrix[:, place].tolist(), strict=False) for place, name in enumerate(names)]
        )
    for name in columns or ():
        if name not in frame.columns:
            raise ColumnNotFound(name, frame.columns)
    chosen = frame if columns is None else frame.select(columns)
    if not chosen.width:
        raise InvalidInput("columns=0: a table needs at least one")
    if all(kind == pl.String for kind in chosen.schema.values()):
        return chosen
    return chosen.select(pl.all().cast(pl.String))


def learn_items(cells: pl.DataFrame | Sequence[pl.Series]) -> tuple[Items, Codes]:
    """Number the items of a table.

    Gives the items and ``(n, d)`` the item of each row in each column. A missing cell and ``*`` are -1:
    they say nothing, so they are no item.

    Example:
        >>> items, codes = learn_items(pl.DataFrame({"age": ["[20, 29]", "*"], "sex": ["f", "m"]}))
        >>> items.pairs(), codes.tolist()
        ([(0, '[20, 29]'), (1, 'f'), (1, 'm')], [[0, 1], [-1, 2]])
    """
    columns = cells.get_columns() if isinstance(cells, pl.DataFrame) else cells
    codes = np.empty((len(columns[0]), len(columns)), np.int32)
    text: list[str] = []
    sizes: list[int] = []
    for number, column in enumerate(columns):
        values, codes[:, number] = _number(column, len(text))
        text += values
        sizes.append(len(values))
    place = np.repeat(np.arange(len(columns), dtype=np.int32), sizes)
    return Items(tuple(column.name for column in columns), place, tuple(text)), codes


def number_classes(labels: pl.Series) -> tuple[list[str], Integers]:
    """Give the sorted classes, and the number of each row's class.

    Raises:
        InvalidInput: If a class is missing.
    """
    if labels.null_count():
        raise InvalidInput(f"classes missing in {labels.null_count()} rows; leave these rows out")
    names = sorted(labels.unique().to_list()) if len(labels) >= _FEW else sorted({*labels.to_list()})
    if len(labels) >= _FEW:
        return names, labels.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    number = dict(zip(names, range(len(names)), strict=True))
    return names, np.fromiter(map(number.get, labels.to_list()), np.int64, len(labels))


def _number(column: pl.Series, first: int) -> tuple[list[str], Codes]:
    """Give the sorted cells of a column that say something, and which each row shows, as ``first`` on."""
    if len(column) < _FEW:  # a dictionary is quicker than waking threads
        shown = column.to_list()
        values = sorted({*shown} - {None, *SAYS_NOTHING})
        number = dict(zip(values, range(first, first + len(values)), strict=True))
        return values, np.fromiter(map(number.get, shown, repeat(-1)), np.int32, len(shown))
    known = column.unique()
    known = known.filter(known.is_not_null() & ~known.is_in(SAYS_NOTHING)).sort()
    speaking = column.set(column.is_in(SAYS_NOTHING).fill_null(value=False), None)
    ranks = speaking.cast(pl.Enum(known)).to_physical().cast(pl.Int32) + first
    return known.to_list(), ranks.fill_null(-1).to_numpy()


def covered_bits(
    cells: pl.DataFrame, items: Items, hierarchies: Mapping[str, Hierarchy] | None = None
) -> Bits:
    """Say which rows lie in each item: a row of 25 lies in ``[20, 29]``, one of ``f`` in ``{f, m}``.

    A row shows an item if its cell is the same text, or if all the cell may stand for lies inside the item:
    a number or a range in a range, a value or a set in a set, a code in a prefix, a leaf or a node in a node
    of the column's hierarchy.

    Args:
        cells: The rows, as text.
        items: The items of a classifier.
        hierarchies: Trees of columns whose items are nodes.
    """
    rows = cells.height
    everyone = pack_bits(np.empty((rows, 0), np.int32), 0, np.zeros(rows, np.int64), 1)
    bits = np.zeros((len(items), len(everyone.everyone)), np.uint64)
    for column, name in enumerate(items.columns):
        mine = np.flatnonzero(items.place == column)
        if len(mine) == 0:
            continue
        distinct = cells[name].unique(maintain_order=True)
        number = (
            cells[name]
            .to_frame("cell")
            .join(
                pl.DataFrame({"cell": distinct, "number": np.arange(len(distinct))}),
                on="cell",
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )["number"]
        )
        inside = _inside(distinct, [items.cells[item] for item in mine], (hierarchies or {}).get(name))
        shown = inside[:, number.to_numpy()]  # (items of the column, rows)
        padded = np.zeros((len(mine), 64 * len(everyone.everyone)), np.uint8)
        padded[:, :rows] = shown
        bits[mine] = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return Bits(bits, everyone.everyone, everyone.starts, everyone.place)


def _inside(cells: pl.Series, items: Sequence[str], tree: Hierarchy | None) -> Mask:
    """Say for each item which of the cells lie in it."""
    texts = cells.to_list()
    inside = np.zeros((len(items), len(texts)), np.bool_)
    low, high = _ends(cells)
    from_, to = _ends(pl.Series(items, dtype=pl.String))
    nodes = _nodes(tree)
    values = [_values(text, nodes) for text in texts]
    plain = np.array([text is not None and bool(_NUMBER.fullmatch(text)) for text in texts], np.bool_)
    places: dict[str | None, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, []).append(place)
    for number, item in enumerate(items):
        inside[number, places.get(item, [])] = True
        cell = read_cell(item)
        if not np.isnan(from_[number]):
            held = (from_[number] <= low) & (high <= to[number])
            if isinstance(cell, Exact):  # 25 is 25.0, but the code 007 is not 7
                held &= plain & bool(_NUMBER.fullmatch(item))
            inside[number] |= held
        elif isinstance(cell, Prefix):
            begins = cell.beginning
            inside[number] |= np.array([_begins(text, begins) for text in texts], np.bool_)
        elif isinstance(cell, Members) or item in nodes:
            whole = _values(item, nodes)
            inside[number] |= np.array([bool(held) and held <= whole for held in values], np.bool_)
    return inside


def _ends(cells: pl.Series) -> tuple[Any, Any]:
    return read_ranges(cells) if len(cells) else (np.empty(0), np.empty(0))


def _begins(text: str | None, beginning: str) -> bool:
    cell = read_cell(text)
    known = cell.beginning if isinstance(cell, Prefix) else getattr(cell, "text", "")
    return bool(known) and known.startswith(beginning)


def _values(text: str | None, nodes: Mapping[str, frozenset[str | None]]) -> frozenset[str | None]:
    """Give the values a cell may stand for; none for a cell that says nothing."""
    if text is not None and text in nodes:
        return nodes[text]
    match read_cell(text):
        case Members(members):
            return frozenset(members)
        case Exact(label):
            return frozenset([label])
    return frozenset()


def _nodes(tree: Hierarchy | None) -> dict[str, frozenset[str | None]]:
    """Give the leaves under each cell that a tree can show."""
    by_cell: dict[str, frozenset[str | None]] = {}
    if tree is None:
        return by_cell
    for height in range(tree.levels):
        leaves: dict[int, set[str | None]] = {}
        for leaf, node in zip(tree.labels[0], tree.nodes[height].tolist(), strict=True):
            leaves.setdefault(node, set()).add(leaf)
        for node, cell in enumerate(tree.cells(height).to_list()):
            by_cell.setdefault(cell, frozenset(leaves[node]))
    return by_cell
