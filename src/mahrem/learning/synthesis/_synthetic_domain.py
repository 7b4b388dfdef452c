"""The declared domain of a synthetic table: cells that are public before a value is looked at."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from mahrem import check
from mahrem.dp import Facts, Unit, cells_of, open_privately, unit_numbers
from mahrem.errors import InvalidParameter
from mahrem.table import Reading, Source
from mahrem.table.cells.alone import day_alone
from mahrem.types import Floats, Integers

DomainKind: TypeAlias = Literal["category", "whole", "number", "date"]
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class DomainColumn:
    """One column as it may be published.

    A column of words has a cell for each declared value. A number has one cell for everything at or below its
    lower bound, one for everything at or above its upper bound, and cells of equal width (or with declared
    edges) between them; a short range of whole numbers has a cell for each.

    Attributes:
        name: As the table calls it.
        kind: ``category``, ``whole``, ``number`` or ``date`` (days since 1970 inside).
        categories: The declared values, of a column of words.
        edges: ``(e,)`` of a number, both bounds included.
        gaps: Whether it may be missing: a last cell.
    """

    name: str
    kind: DomainKind
    categories: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    gaps: bool = False

    @property
    def values(self) -> int:
        """Cells that hold a value."""
        if self.kind == "category":
            return len(self.categories)
        return len(self.edges) if self.single else len(self.edges) + 1

    @property
    def single(self) -> bool:
        """Whether each cell is one whole number (or day)."""
        if self.kind not in {"whole", "date"}:
            return False
        return self.edges[-1] - self.edges[0] + 1 == len(self.edges)

    @property
    def cells(self) -> int:
        """All cells."""
        return self.values + self.gaps

    @property
    def dtype(self) -> pl.DataType:
        """What it is published as."""
        if self.kind == "date":
            return pl.Date()
        if self.kind == "number":
            return pl.Float64()
        if self.kind == "whole" or all(_is_whole(text) for text in self.categories):
            return pl.Int64()
        return pl.String()

    def places(self, numbers: Floats) -> Integers:
        """Give the cell of each number (of each place, for words); -1 for a NaN that no cell is for."""
        gone = np.isnan(numbers)
        filled = np.where(gone, 0.0 if self.kind == "category" else self.edges[0], numbers)
        if self.kind == "category":
            cells = filled.astype(np.int64)
        elif self.single:
            cells = np.rint(filled - self.edges[0]).astype(np.int64).clip(0, self.values - 1)
        else:
            cells = np.searchsorted(np.asarray(self.edges), filled, side="left").astype(np.int64)
            cells[filled >= self.edges[-1]] = self.values - 1
        cells[gone] = self.values if self.gaps else -1
        return cells

    def ranges(self) -> tuple[Floats, Floats]:
        """Give the ends of each cell that holds a value; whole numbers: both inside."""
        edges = np.asarray(self.edges)
        if self.kind == "category":
            places = np.arange(float(self.values))
            return places, places
        if self.single:
            return edges, edges
        low, high = np.concatenate([edges[:1], edges]), np.concatenate([edges, edges[-1:]])
        if self.kind != "number":
            low[1:-1], high[-2] = low[1:-1] + 1, high[-2] - 1
        return low, high

    def draw(
        self, cells: Integers, rng: np.random.Generator, within: tuple[float, float] | None = None
    ) -> pl.Series:
        """Draw a value inside each cell; ``within`` narrows numbers further."""
        gone = cells >= self.values
        held = np.where(gone, 0, cells)
        if self.kind == "category":
            words = pl.Series(self.name, list(self.categories), dtype=pl.String)
            values = words.gather(held).cast(self.dtype)
        else:
            low, high = self.ranges()
            if within is not None:
                low, high = np.maximum(low, within[0]), np.minimum(high, within[1])
            share = rng.random(len(held))
            if self.kind == "number":
                drawn = low[held] + share * (high[held] - low[held])
            else:
                first, last = np.ceil(low[held]), np.floor(high[held])
                drawn = np.minimum(first + np.floor(share * (last - first + 1)), last)
            values = pl.Series(self.name, drawn)
            if self.kind == "date":
                values = values.cast(pl.Int32).cast(pl.Date)
            values = values.cast(self.dtype)
        return values.to_frame().select(pl.when(pl.Series(~gone)).then(pl.col(self.name))).to_series()

    def admitted(self, given: object) -> tuple[Floats, tuple[float, float] | None]:
        """Read a condition: a value, a list of values, or for numbers a pair ``(low, high)``, both inside.

        Gives the share of each cell that meets it, and the range it narrows numbers to.
        """
        overlap = np.zeros(self.cells)
        if self.kind == "category":
            wanted = given if isinstance(given, list | tuple | set | frozenset) else [given]
            for value in wanted:
                if value is None and self.gaps:
                    overlap[-1] = 1.0
                elif str(value) in self.categories:
                    overlap[self.categories.index(str(value))] = 1.0
                else:
                    raise InvalidParameter(f"given={self.name!r}: a value is not declared for this column")
            return overlap, None
        if given is None and self.gaps:
            overlap[-1] = 1.0
            return overlap, None
        pair = given if isinstance(given, list | tuple) and len(given) == 2 else (given, given)
        low, high = (self._number(one) for one in pair)
        first, last = self.ranges()
        if not low <= high:
            raise InvalidParameter(f"given={self.name!r}: the first of a pair must not be above the second")
        below, above = np.maximum(first, low), np.minimum(last, high)
        if self.kind == "number":
            width = np.where(last > first, last - first, 1.0)
            part = np.where(last > first, np.maximum(above - below, 0.0) / width, above >= below)
            if low == high:
                part = ((first <= low) & (low <= last)).astype(np.float64)
        else:
            part = np.maximum(np.floor(above) - np.ceil(below) + 1, 0.0) / (last - first + 1)
        overlap[: self.values] = part
        return overlap, (low, high)

    def _number(self, given: object) -> float:
        if self.kind == "date":
            return day_number(self.name, str(given))
        return check.finite(given=given)

    def bound(self, end: Literal[0, -1]) -> Any:
        """Give the lower (0) or upper (-1) bound as a value of the column."""
        number = self.edges[end]
        if self.kind == "date":
            return _EPOCH + dt.timedelta(days=int(number))
        return int(number) if self.kind == "whole" else number

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain public data."""
        bounds = [] if self.kind == "category" else [str(self.bound(0)), str(self.bound(-1))]
        return {
            "kind": self.kind,
            "cells": self.cells,
            "missing": self.gaps,
            **({"bounds": bounds} if bounds else {"categories": list(self.categories)}),
        }


def _is_whole(text: str) -> bool:
    return len(text) < 18 and re.fullmatch("-?[0-9]+", text) is not None and str(int(text)) == text


@dataclass(frozen=True, kw_only=True)
class DeclaredDomain:
    """All columns of a synthetic table, in the order they are published in."""

    columns: tuple[DomainColumn, ...]
    facts: Facts = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> DomainColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidParameter(f"column={name!r} is not among the columns to be synthesised")

    def narrowed(self, within: Mapping[str, tuple[float, float]]) -> DeclaredDomain:
        """Give the domain of rows whose numbers lie in narrower ranges: for rules, not for cells."""
        return replace(self, columns=tuple(_narrowed(column, within) for column in self.columns))

    def numbers(self, table: object, reading: Reading | None = None) -> dict[str, Floats]:
        """Read columns as numbers: places of declared values, clipped numbers, days; NaN where none is."""
        return self._cells(open_privately(table, self.facts, reading), self.names)

    def _cells(self, source: Source, needed: tuple[str, ...]) -> dict[str, Floats]:
        source.take(needed)  # all in one go: a database asked twice may answer in another order
        plain = [column.name for column in self.columns if column.kind != "date"]
        cells = dict(cells_of(source, self.facts, plain, shares=False)) if plain else {}
        days = [column.name for column in self.columns if column.kind == "date"]
        held = source.take(days) if days else None
        for column in self.columns:
            if held is not None and column.kind == "date":
                cells[column.name] = _days(held, column.name).clip(column.edges[0], column.edges[-1])
            elif column.kind == "whole":
                cells[column.name] = np.rint(cells[column.name])
        return cells

    def codes(self, table: object, unit: Unit, reading: Reading | None = None) -> Integers:
        """Give the cells of :meth:`codes_and_units`."""
        return self.codes_and_units(table, unit, reading)[0]

    def codes_and_units(
        self, table: object, unit: Unit, reading: Reading | None = None
    ) -> tuple[Integers, Integers | None]:
        """Read a table as ``(n, d)`` cells, and whose each row is; no cell can make it fail.

        Guarantees:
            - A row depends on itself and on public facts alone. An undeclared value, or none, is the missing
              cell where that is declared; else what the facts say; else its row is left out.
            - At most ``unit.rows`` rows of a person are used.
        """
        source = open_privately(table, self.facts, reading)
        needed = tuple(dict.fromkeys([*self.names, *([] if unit.subject is None else [unit.subject])]))
        check.columns_exist(needed, source.columns)
        cells = self._cells(source, needed)
        codes = np.stack([column.places(cells[column.name]) for column in self.columns], axis=1)
        keep = (codes >= 0).all(axis=1)
        if unit.subject is None:
            return np.ascontiguousarray(codes[keep]), None
        people = unit_numbers(source.take([unit.subject]).filter(pl.Series(keep)), unit.subject)
        rows = pl.DataFrame({"whose": people})
        early = rows.select(pl.int_range(pl.len()).over("whose") < unit.rows).to_series().to_numpy()
        first = early & (people > 0)
        return np.ascontiguousarray(codes[keep][first]), people[first]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain public data."""
        return {column.name: column.as_dict() for column in self.columns}


def _narrowed(column: DomainColumn, within: Mapping[str, tuple[float, float]]) -> DomainColumn:
    if column.name not in within:
        return column
    low, high = within[column.name]
    low, high = max(low, column.edges[0]), min(high, column.edges[-1])
    ends = (low, high) if column.kind == "number" else (math.ceil(low), math.floor(high))
    return replace(column, edges=ends)


def _days(frame: pl.DataFrame, name: str) -> Floats:
    """Read cells as days since 1970; what is no date is NaN."""
    days = frame.select(day_alone(name, frame.schema[name]).cast(pl.Int32).cast(pl.Float64)).to_series()
    return days.fill_null(float("nan")).to_numpy().astype(np.float64)


def day_number(name: str, given: str) -> float:
    """Read a day as days since 1970."""
    try:
        return float((dt.date.fromisoformat(str(given)) - _EPOCH).days)
    except ValueError:
        raise InvalidParameter(f"dates={name!r}: {given!r} is no day like 2020-12-31") from None
