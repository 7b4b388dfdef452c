"""Which original values a published cell covers, as runs of neighbouring values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.table import (
    Axis,
    Exact,
    Leaves,
    Members,
    MissingCell,
    Moments,
    Prefix,
    Suppressed,
    Words,
    read_cell,
    read_ranges,
)
from mahrem.table.cells.zones import on_this_clock
from mahrem.types import Floats, Integers

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Cover:
    """For each of ``cells`` published cells the values it covers, as runs sorted by cell.

    Run ``i`` says: cell ``cell[i]`` covers values ``first[i] .. last[i]``. An interval or a node is one run
    whatever it covers, a set has one run for each member: nothing grows with cells times values.
    """

    cell: Integers = field(repr=False)  # (r,) ascending
    first: Integers = field(repr=False)  # (r,)
    last: Integers = field(repr=False)  # (r,) not below first
    cells: int
    values: int  # distinct values of the column; the last one is the missing value

    def weight(self, frequency: Floats) -> Floats:
        """Give for each cell how often the values it covers occur."""
        before = np.concatenate([[0.0], np.cumsum(frequency)])
        lone = self.first == self.last
        held = np.where(lone, frequency[self.first], before[self.last + 1] - before[self.first])
        weight = np.bincount(self.cell, weights=held, minlength=self.cells)
        return weight.astype(np.float64, copy=False)

    def spread(self, counts: Floats, frequency: Floats) -> Floats:
        """Spread what is counted in each cell over the values it covers, in proportion to their frequency.

        Args:
            counts: ``(cells, m)`` what is to be spread.
            frequency: ``(values,)`` how often each value occurs; a cell whose values never occur is spread
                evenly over them.

        Guarantees:
            - Gives ``(values, m)`` with the column sums of ``counts``, up to rounding.
            - A cell of one value gives all it counts to it, exactly.
        """
        total = self.weight(frequency)
        unseen = total[self.cell] <= 0
        length = (self.last - self.first + 1).astype(np.float64)
        if unseen.any():
            widths = np.bincount(self.cell, weights=length, minlength=self.cells)
            blank = Cover(self.cell[unseen], self.first[unseen], self.last[unseen], self.cells, self.values)
            even = blank._evenly(counts / np.maximum(widths, 1.0)[:, None])
            seen = Cover(self.cell[~unseen], self.first[~unseen], self.last[~unseen], self.cells, self.values)
            return even + seen.spread(np.where(total[:, None] > 0, counts, 0.0), frequency)
        lone = self.first == self.last
        table = np.zeros((self.values, counts.shape[1]))
        share = frequency[self.first[lone]] / total[self.cell[lone]]
        _add_at(table, self.first[lone], counts[self.cell[lone]] * share[:, None])
        long = Cover(self.cell[~lone], self.first[~lone], self.last[~lone], self.cells, self.values)
        if len(long.cell):
            density = np.divide(counts, total[:, None], out=np.zeros_like(counts), where=total[:, None] > 0)
            table += long._evenly(density) * frequency[:, None]
        return table

    def _evenly(self, density: Floats) -> Floats:
        """Add the density of each cell to every value it covers, by differences."""
        steps = np.zeros((self.values + 1, density.shape[1]))
        _add_at(steps, self.first, density[self.cell])
        _add_at(steps, self.last + 1, -density[self.cell])
        return np.maximum(np.cumsum(steps[:-1], axis=0), 0.0)


def covered_values(cells: pl.Series, axis: Axis) -> tuple[Cover, Integers]:
    """Say which values of a column each published cell covers, and number the column's own values.

    A cell covers every value within it, not only those of its class: ``[20, 29]`` all ages from 20 to 29, a
    node all leaves under it, ``*`` everything. A number that is no value of the column (a centroid) covers
    the nearest one.

    Args:
        cells: ``(c,)`` published cells as text, null = missing.
        axis: The original column.

    Guarantees:
        - A cell that was published for a row covers the row's own value.
        - The values are numbered ``0 .. values-1`` in the column's order; missing is the last number.

    Example:
        >>> from mahrem.table import Numbers
        >>> axis = Axis("age", np.array([18.0, 23.0, 64.0]), Numbers(18, 64, True))
        >>> cover, codes = covered_values(pl.Series(["[15, 25]", "*"]), axis)
        >>> cover.first.tolist(), cover.last.tolist(), codes.tolist()
        ([0, 0], [1, 3], [0, 1, 2])
    """
    match axis.domain:
        case Words(labels):
            return cover_words(cells, labels), _codes(axis.positions, len(labels))
        case Leaves(tree):
            return cover_words(cells, tree.labels[0], tree), _codes(axis.positions, tree.leaves)
        case domain:
            distinct, codes = np.unique(axis.positions, return_inverse=True)  # all NaN are one, and the last
            known = distinct[~np.isnan(distinct)]
            low, high = read_ranges(cells)
            if isinstance(domain, Moments) and domain.unit == "us" and not cells.str.contains(":").any():
                low, high = _start_of_days(low, domain.zone), _start_of_days(high + 1, domain.zone) - 1
            return cover_numbers(cells, low, high, known), codes.astype(np.int64)


def _start_of_days(days: Floats, zone: str | None) -> Floats:
    """Give the instants, in microseconds, at which days since 1970 begin by the clock of a zone."""
    ticks = pl.Series(days * _DAY).fill_nan(None).cast(pl.Int64)
    wall = ticks.cast(pl.Datetime("us"))
    instants = on_this_clock(wall, zone, late=False).to_physical().cast(pl.Float64)
    return instants.fill_null(float("nan")).to_numpy()


def cover_numbers(cells: pl.Series, low: Floats, high: Floats, known: Floats) -> Cover:
    """Say which of the known numbers, ascending, lie in each cell ``[low, high]``; NaN ends are no range."""
    missing = cells.is_null().to_numpy() | (cells == "").fill_null(value=False).to_numpy()
    first = np.searchsorted(known, low, side="left")
    last = np.searchsorted(known, high, side="right") - 1
    if len(known):
        between = first > last  # no known number inside: the nearest one
        middle = np.where(np.isfinite(low), low / 2 + high / 2, 0.0)
        right = np.clip(np.searchsorted(known, middle), 0, len(known) - 1)
        left = np.maximum(right - 1, 0)
        near = np.where(np.abs(known[left] - middle) <= np.abs(known[right] - middle), left, right)
        first, last = np.where(between, near, first), np.where(between, near, last)
    anything = ~missing & (np.isnan(low) | (len(known) == 0))
    first = np.where(missing, len(known), np.where(anything, 0, first))
    last = np.where(missing | anything, len(known), last)
    return Cover(np.arange(len(cells)), first, last, len(cells), len(known) + 1)


def cover_words(cells: pl.Series, labels: Sequence[str], tree: Hierarchy | None = None) -> Cover:
    """Say which of the labels each cell covers: a value, a set, a beginning, a node of the tree, ``*``.

    A cell that names no known value covers everything, as ``*`` does.
    """
    place = {label: number for number, label in enumerate(labels)}
    nodes = {} if tree is None else _nodes(tree)
    hole = len(labels)
    runs = [
        (number, first, last)
        for number, text in enumerate(cells.to_list())
        for first, last in ([nodes[text]] if text in nodes else _runs(text, place, labels)) or ((0, hole),)
    ]
    table = np.array(runs, np.int64).reshape(-1, 3)
    return Cover(table[:, 0], table[:, 1], table[:, 2], len(cells), hole + 1)


def _runs(text: str | None, place: dict[str, int], labels: Sequence[str]) -> list[tuple[int, int]]:
    hole = len(labels)
    match read_cell(text):
        case MissingCell():
            return [(hole, hole)]
        case Suppressed():
            return [(0, hole)]
        case Exact(value):
            return [(place[value],) * 2] if value in place else []
        case Members(members):
            known = (hole if member is None else place.get(member, -1) for member in members)
            return list(_joined(sorted({number for number in known if number >= 0})))
        case Prefix(beginning):
            return list(_joined([n for n, label in enumerate(labels) if label.startswith(beginning)]))
        case _:
            value = text or ""
            return [(place[value],) * 2] if value in place else []


def _joined(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give neighbouring numbers as one run."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            yield numbers[start], numbers[end - 1]
            start = end


def _nodes(tree: Hierarchy) -> dict[str, tuple[int, int]]:
    """Give the leaves under each cell the tree can show; where levels share one the lowest level counts."""
    spans: dict[str, tuple[int, int]] = {}
    for height in range(tree.levels - 1):
        shown = tree.cells(height).to_list()
        first = np.searchsorted(tree.nodes[height], np.arange(len(shown)), side="left")
        last = np.searchsorted(tree.nodes[height], np.arange(len(shown)), side="right") - 1
        for cell, low, high in zip(shown, first.tolist(), last.tolist(), strict=True):
            spans.setdefault(cell, (low, high))
    return spans


def _codes(positions: Floats, hole: int) -> Integers:
    return np.where(np.isnan(positions), hole, positions).astype(np.int64)


def _add_at(table: Floats, rows: Integers, amounts: Floats) -> None:
    """Add amounts to rows of a table, column by column: quicker than ``np.add.at``."""
    for column in range(table.shape[1]):
        table[:, column] += np.bincount(rows, weights=amounts[:, column], minlength=len(table))
