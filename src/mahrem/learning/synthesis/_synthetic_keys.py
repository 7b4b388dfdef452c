"""Keys of a synthetic table: no two rows have the same, over all parts that are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import Infeasible, InvalidParameter
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn
from mahrem.types import Integers, Mask

REDRAWS = 50
_WHOLE = 1 << 53  # numbers with a fraction are told apart as finely as this


@dataclass(frozen=True)
class Unique:
    """``unique id``, or ``unique ward, bed``: no two rows agree on all of these columns.

    One column alone is a number of the row: it says nothing about anybody, so it is made up
    and costs nothing.
    """

    columns: tuple[str, ...]

    def __str__(self) -> str:
        return "unique " + ", ".join(self.columns)

    @property
    def alone(self) -> bool:
        """Whether it is made up."""
        return len(self.columns) == 1

    def ranges(self, domain: DeclaredDomain) -> Mapping[str, tuple[float, float]]:  # noqa: ARG002 - as the others
        """Say what it leaves of the ranges of its columns: all."""
        return {}

    def broken(self, domain: DeclaredDomain) -> pl.Expr:  # noqa: ARG002 - as the others
        """Say which rows break it by themselves: none can."""
        return pl.lit(value=False)

    def refuse(self, domain: DeclaredDomain, rows: int = 1) -> None:
        """Refuse more rows than there are keys."""
        most = math.prod(_capacity(domain[name]) for name in self.columns)
        if rows > most:
            raise InvalidParameter(
                f"constraint={str(self)!r}: {rows} rows need more keys than the {most} declared"
            )


def parse_unique(text: str) -> Unique | None:
    """Read ``unique a, b``; None where the text is another rule."""
    head, _, rest = text.strip().partition(" ")
    if head != "unique":
        return None
    columns = tuple(name.strip() for name in rest.split(","))
    if not all(columns):
        raise InvalidParameter(f"constraint={text!r} must read like 'unique id' or 'unique ward, bed'")
    return Unique(columns)


class KeptKeys:
    """Keys over all parts of one table that is drawn part by part.

    Guarantees:
        - No two rows agree on all columns of a key, whichever parts they are in.
    """

    def __init__(
        self, keys: Sequence[Unique], domain: DeclaredDomain, rows: int, rng: np.random.Generator
    ) -> None:
        for key in keys:
            key.refuse(domain, rows)
        self.pairs = [key for key in keys if not key.alone]
        self.key_numbers = {
            key.columns[0]: distinct_numbers(_capacity(domain[key.columns[0]]), rows, rng)
            for key in keys
            if key.alone
        }
        self.domain, self.place = domain, 0
        self.seen: dict[Unique, pl.DataFrame] = {}

    def keep(self, rows: pl.DataFrame, draw: Callable[[int], pl.DataFrame]) -> pl.DataFrame:
        """Give a part whose keys are new: made up, or drawn again until they are."""
        for _ in range(REDRAWS):
            bad = self._double(rows)
            if not bad.any():
                break
            fresh, order = draw(int(bad.sum())), np.arange(rows.height)
            order[bad] = rows.height + np.arange(fresh.height)
            rows = pl.concat([rows, fresh])[order]
        else:
            keys = ", ".join(repr(str(key)) for key in self.pairs)
            raise Infeasible(
                f"constraint={keys}: so many rows with keys of their own are too unlikely; draw fewer"
            )
        for key in self.pairs:
            held = rows.select(key.columns)
            self.seen[key] = pl.concat([self.seen[key], held]) if key in self.seen else held
        last = self.place + rows.height
        columns = [
            _key(self.domain[name], numbers[self.place : last]) for name, numbers in self.key_numbers.items()
        ]
        self.place = last
        return rows.with_columns(columns)

    def _double(self, rows: pl.DataFrame) -> Mask:
        bad = np.zeros(rows.height, dtype=np.bool_)
        for key in self.pairs:
            held = rows.select(key.columns)
            if key in self.seen:
                before = self.seen[key].height
                bad |= ~pl.concat([self.seen[key], held]).select(_first()).to_series().to_numpy()[before:]
            else:
                bad |= ~held.select(_first()).to_series().to_numpy()
        return bad


def distinct_numbers(capacity: int, count: int, rng: np.random.Generator) -> Integers:
    """Draw different whole numbers from 0 up to ``capacity``, in random order.

    Example:
        >>> sorted(distinct_numbers(3, 3, np.random.default_rng(0)).tolist())
        [0, 1, 2]
    """
    if capacity <= 4 * count:
        return rng.permutation(capacity)[:count]
    numbers = np.zeros(0, dtype=np.int64)
    while len(numbers) < count:
        numbers = np.unique(np.append(numbers, rng.integers(0, capacity, 2 * count)))
    return rng.permutation(numbers)[:count]


def _first() -> pl.Expr:
    return pl.struct(pl.all()).is_first_distinct()


def _capacity(column: DomainColumn) -> int:
    if column.kind == "category":
        return len(column.categories)
    if column.kind == "number":
        return _WHOLE
    return int(column.edges[-1] - column.edges[0]) + 1


def _key(column: DomainColumn, places: Integers) -> pl.Series:
    """Write places as values of a column."""
    if column.kind == "category":
        return (
            pl.Series(column.name, list(column.categories), dtype=pl.String).gather(places).cast(column.dtype)
        )
    if column.kind == "number":
        low, high = column.edges[0], column.edges[-1]
        return pl.Series(column.name, low + places / (_WHOLE - 1) * (high - low))
    numbers = pl.Series(column.name, places + int(column.edges[0]))
    return (numbers.cast(pl.Int32).cast(pl.Date) if column.kind == "date" else numbers).cast(column.dtype)
