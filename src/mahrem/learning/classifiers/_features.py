"""From published cells to numbers a classifier can read; an untouched value is a cell of width nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.learning.classifiers._feature_cells import (
    cell_beginnings,
    cell_ends,
    cell_values,
    distinct_cells,
    missing_cells,
)
from mahrem.metrics import Cover, cover_words
from mahrem.table import Hierarchy, Kind
from mahrem.table.columns import infer_kind
from mahrem.types import Floats, Integers

Ends = Callable[[pl.Series], tuple[Floats, Floats]]
ROUNDS = 20  # of the estimate of how often values occur behind the cells
_LARGEST = 1e30  # of a number: models hold it in single precision, and add it up
MOST = 60  # values of a column that get a place of their own
LETTERS = 120  # beginnings of a code that get a place of their own


@dataclass(frozen=True)
class EncodedFeatures:
    """Rows as numbers: ``amounts`` need scaling, ``shares`` lie in [0, 1]."""

    amounts: Floats = field(repr=False)  # (n, a) middles of intervals
    shares: Floats = field(repr=False)  # (n, s) which values a cell may stand for, and what is missing
    widths: Floats = field(repr=False)  # (n, a) widths of intervals

    def take(self, rows: Integers) -> EncodedFeatures:
        """Give some of the rows."""
        return EncodedFeatures(self.amounts[rows], self.shares[rows], self.widths[rows])


class _Column(Protocol):
    """What one column becomes."""

    def block(self, cells: pl.Series) -> tuple[Floats, Floats, Floats]:
        """Give amounts, shares and widths of distinct cells."""
        ...


@dataclass(frozen=True)
class _Numbers:
    mean: float
    low: float
    high: float
    gaps: bool  # some values of the training rows are missing
    tree: Hierarchy | None = None

    def block(self, cells: pl.Series) -> tuple[Floats, Floats, Floats]:
        low, high, middle = _numbers(cells, self.tree)
        missing = missing_cells(cells)
        dark = np.isnan(low)
        middle = np.where(dark, self.mean, middle)
        width = np.where(dark & ~missing, self.high - self.low, np.where(dark, 0.0, high - low))
        flags = missing[:, None].astype(np.float64)[:, : int(self.gaps)]
        return middle[:, None], flags, width[:, None]


@dataclass(frozen=True)
class _Ordinals:
    labels: tuple[str, ...]
    mean: float

    def block(self, cells: pl.Series) -> tuple[Floats, Floats, Floats]:
        cover = cover_words(cells, self.labels)
        hole = len(self.labels)
        first, last = np.full(len(cells), hole), np.full(len(cells), -1)
        present = cover.first < hole
        np.minimum.at(first, cover.cell[present], cover.first[present])
        np.maximum.at(last, cover.cell[present], np.minimum(cover.last[present], hole - 1))
        missing = last < 0
        middle = np.where(missing, self.mean, (first + last) / 2)
        width = np.where(missing, 0.0, last - first)
        return middle[:, None], missing[:, None].astype(np.float64), width[:, None]


@dataclass(frozen=True)
class _Words:
    labels: tuple[str, ...]
    tree: Hierarchy | None
    frequency: Floats  # (labels + 1,) how often each value seems to occur; the last one is missing
    kept: Integers  # values with a place of their own

    def block(self, cells: pl.Series) -> tuple[Floats, Floats, Floats]:
        cover = cover_words(cells, self.labels, self.tree)
        shares = self._shares(cover)
        nothing = np.empty((len(cells), 0))
        if len(self.kept) == len(self.frequency):
            return nothing, shares, nothing
        rest = np.maximum(1.0 - shares.sum(axis=1, keepdims=True), 0.0)
        return nothing, np.hstack([shares, rest]), nothing

    def _shares(self, cover: Cover) -> Floats:
        """Give for each cell the share of every value that has a place, never of all values."""
        total = cover.weight(self.frequency)
        shares = np.zeros((cover.cells, len(self.kept)))
        for place, value in enumerate(self.kept):
            inside = cover.cell[(cover.first <= value) & (value <= cover.last)]
            inside = inside[total[inside] > 0]
            shares[inside, place] = self.frequency[value] / total[inside]
        return shares


@dataclass(frozen=True)
class _Letters:
    beginnings: Mapping[str, int]

    def block(self, cells: pl.Series) -> tuple[Floats, Floats, Floats]:
        shares = np.zeros((len(cells), len(self.beginnings) + 1))
        for row, text in enumerate(cells.to_list()):
            for beginning in cell_beginnings(text):
                if beginning in self.beginnings:
                    shares[row, self.beginnings[beginning]] = 1.0
            shares[row, -1] = float(not text)
        nothing = np.empty((len(cells), 0))
        return nothing, shares, nothing


@dataclass(frozen=True)
class Encoder:
    """How the columns of a table become features, learnt from published rows alone.

    - A number or date ``[low, high]`` becomes its middle and its width; ``*`` the column's mean and full
      width; a missing value the mean, with a flag.
    - A word becomes one share per value: 1 for a value alone; a set or a node of a hierarchy is shared among
      the values it covers by how often they occur as far as the cells tell; ``*`` among all of them.
    - An ordinal becomes the middle and the width of its run of places.
    - A code becomes one flag for each beginning it is known to have.
    """

    columns: Mapping[str, _Column] = field(repr=False)

    def __call__(self, frame: pl.DataFrame) -> EncodedFeatures:
        """Turn rows, published or untouched, into features; distinct cells are read once."""
        blocks = [self._column(frame[name], column) for name, column in self.columns.items()]
        amounts, shares, widths = (np.hstack([block[part] for block in blocks]) for part in range(3))
        return EncodedFeatures(amounts, shares, widths)

    def _column(self, series: pl.Series, column: _Column) -> tuple[Floats, Floats, Floats]:
        distinct, where = distinct_cells(series)
        amounts, shares, widths = column.block(distinct)
        return amounts[where], shares[where], widths[where]


def fit_encoder(
    frame: pl.DataFrame,
    kinds: Mapping[str, Kind],
    *,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Encoder:
    """Learn how columns become features, from the published rows a classifier will be trained on.

    Args:
        frame: PublishedRows rows: cells as text, numbers and dates as they are.
        kinds: What each column is; columns not named are left out.
        orders: Orders of ordinal columns, lowest first.
        hierarchies: Trees of columns that show nodes.

    Guarantees:
        - Nothing but the published rows, the orders and the trees is looked at.
        - An untouched value and a cell that says only this value have the same features.

    Example:
        >>> rows = pl.DataFrame({"age": ["[20, 30]", "40"], "sex": ["{f, m}", "f"]})
        >>> encode = fit_encoder(rows, {"age": Kind.NUMERIC, "sex": Kind.CATEGORICAL})
        >>> encode(rows).amounts.ravel().tolist(), encode(rows).widths.ravel().tolist()
        ([25.0, 40.0], [10.0, 0.0])
    """
    trees = hierarchies or {}
    columns = {
        name: _fit(frame[name], kind, (orders or {}).get(name), trees.get(name))
        for name, kind in kinds.items()
    }
    if not columns:
        raise InvalidInput("columns=0: a classifier needs at least one column besides the target")
    return Encoder(columns)


def kinds_of(frame: pl.DataFrame, columns: Sequence[str]) -> dict[str, Kind]:
    """Say what columns are by all of their values."""
    return {name: infer_kind(frame[name]) for name in columns}


def _fit(series: pl.Series, kind: Kind, order: Sequence[str] | None, tree: Hierarchy | None) -> _Column:
    distinct, where = distinct_cells(series)
    counts = np.bincount(where, minlength=len(distinct)).astype(np.float64)
    match kind:
        case Kind.NUMERIC | Kind.DATE:
            return _fit_numbers(distinct, counts, tree)
        case _ if tree is not None:
            return _fit_words(distinct, counts, tree.labels[0], tree)
        case Kind.ORDINAL if order is not None:
            blank = _Ordinals(tuple(order), 0.0)
            middle, missing, _ = blank.block(distinct)
            seen = counts * (1.0 - missing[:, 0])
            return _Ordinals(tuple(order), float(middle[:, 0] @ seen / max(seen.sum(), 1.0)))
        case Kind.CODE:
            return _fit_letters(distinct, counts)
        case _:
            return _fit_words(distinct, counts, cell_values(distinct), None)


def _fit_numbers(cells: pl.Series, counts: Floats, tree: Hierarchy | None) -> _Numbers:
    low, high, middle = _numbers(cells, tree)
    seen = ~np.isnan(low)
    gaps = bool(missing_cells(cells).any())
    if not seen.any():
        return _Numbers(0.0, 0.0, 0.0, gaps, tree)
    mean = float(np.average(middle[seen], weights=counts[seen]))
    return _Numbers(mean, float(low[seen].min()), float(high[seen].max()), gaps, tree)


def _numbers(
    cells: pl.Series, tree: Hierarchy | None, ends: Ends = cell_ends
) -> tuple[Floats, Floats, Floats]:
    """Give both ends and the middle of cells; a node that is no range has the mean of its leaves."""
    low, high = (np.clip(end, -_LARGEST, _LARGEST) for end in ends(cells))
    middle = low / 2 + high / 2
    nodes = np.flatnonzero(np.isnan(low) & ~missing_cells(cells) & cells.ne_missing("*").to_numpy())
    if tree is None or len(nodes) == 0:
        return low, high, middle
    leaves = ends(pl.Series(tree.labels[0], dtype=pl.String))[0]
    cover = cover_words(cells.gather(nodes), tree.labels[0], tree)
    for cell, first, last in zip(cover.cell, cover.first, cover.last, strict=True):
        under = leaves[first : last + 1]
        under = under[~np.isnan(under)]
        if len(under):
            place = nodes[cell]
            low[place], high[place], middle[place] = under.min(), under.max(), under.mean()
    return low, high, middle


def _fit_words(cells: pl.Series, counts: Floats, labels: Sequence[str], tree: Hierarchy | None) -> _Words:
    cover = cover_words(cells, labels, tree)
    frequency = _frequency(cover, counts)
    kept = np.sort(np.argsort(-frequency, kind="stable")[:MOST])
    return _Words(tuple(labels), tree, frequency, kept)


def _frequency(cover: Cover, counts: Floats) -> Floats:
    """Estimate how often each value occurs: spread cells, look how often values came out, spread again."""
    frequency = np.ones(cover.values)
    for _ in range(ROUNDS):
        frequency = cover.spread(counts[:, None], frequency)[:, 0]
    return frequency


def _fit_letters(cells: pl.Series, counts: Floats) -> _Letters:
    seen: dict[str, float] = {}
    for text, count in zip(cells.to_list(), counts.tolist(), strict=True):
        for beginning in cell_beginnings(text):
            seen[beginning] = seen.get(beginning, 0.0) + count
    often = sorted(seen, key=lambda beginning: (-seen[beginning], beginning))[:LETTERS]
    return _Letters({beginning: place for place, beginning in enumerate(often)})
