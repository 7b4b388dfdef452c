"""Questions about ranks: medians, quantiles and the range between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from mahrem import check
from mahrem.dp._facts import Facts
from mahrem.dp._tally import Condition, EvenGrid, Term
from mahrem.dp.queries._query import ColumnQuery, Totals
from mahrem.errors import InvalidParameter
from mahrem.words import Note

GRID = 4096  # steps of the grid quantiles are selected from


@dataclass(frozen=True)
class _RankQuery(ColumnQuery):
    noise: ClassVar[Literal["addition", "selection", "smooth"]] = "selection"

    def totals(self, facts: Facts, *, counted: bool) -> Totals:  # noqa: ARG002 - nothing is divided
        """Add up rows by the points of an even grid over the public bounds."""
        lower, upper = facts.bounds(self.column)
        missing = facts.missing(self.column)
        return (Term("rows"),), (EvenGrid(self.column, lower, upper, GRID, missing, nearest=True),)


@dataclass(frozen=True)
class Median(_RankQuery):
    """The median, selected from an even grid over the public bounds."""

    name: ClassVar[str] = "median"

    def chosen(self, values: Sequence[float], errors: Sequence[float]) -> Iterator[dict[str, Any]]:
        """Give one row; everybody knows the level."""
        yield {"value": values[0], "error_rows": errors[0]}


@dataclass(frozen=True)
class SmoothMedian(_RankQuery):
    """The median with Laplace noise fitted to this table's smooth sensitivity.

    Good where values lie dense around the median. Holds under ``replace`` only, and needs a delta.
    """

    name: ClassVar[str] = "smooth_median"
    noise: ClassVar[Literal["addition", "selection", "smooth"]] = "smooth"

    by: tuple[str, ...] = field(default=(), init=False)
    where: tuple[Condition, ...] = field(default=(), init=False)


@dataclass(frozen=True)
class Quantiles(_RankQuery):
    """Quantiles, each selected from an even grid over the public bounds.

    Example:
        >>> str(Quantiles("cost", (0.25, 0.9)))
        'quantile(cost, 0.25, 0.9)'
    """

    name: ClassVar[str] = "quantile"

    levels: tuple[float, ...] = (0.25, 0.5, 0.75)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or list(self.levels) != sorted(set(self.levels)):
            raise InvalidParameter("levels: name at least one, in rising order")
        for level in self.levels:
            check.between(0, 1, level=level)

    @classmethod
    def read(cls, columns: Sequence[str], numbers: Sequence[float], **rest: Any) -> Self:
        """Take the numbers as levels."""
        (column,) = columns
        return cls(column, tuple(numbers), **rest)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return self.levels


@dataclass(frozen=True)
class QuantileRange(_RankQuery):
    """A quantile range: where the middle of the values lies, from ``low`` to ``high``.

    The true range, largest less smallest, is two people's values and has no useful private answer.
    """

    name: ClassVar[str] = "range"

    low: float = 0.01
    high: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= check.finite(low=self.low) < check.finite(high=self.high) <= 1:
            raise InvalidParameter(f"low={self.low!r} must lie below high={self.high!r}, both in [0, 1]")

    @property
    def levels(self) -> tuple[float, ...]:
        """Both ends."""
        return self.low, self.high

    @property
    def _numbers(self) -> tuple[float, ...]:
        return self.low, self.high

    def chosen(self, values: Sequence[float], errors: Sequence[float]) -> Iterator[dict[str, Any]]:
        """Give one row with both ends."""
        low, high = values
        yield {"value": high - low, "low": low, "high": high, "error_rows": max(errors)}

    def notes(self) -> Iterator[Note]:
        """Say that it is not the largest less the smallest."""
        yield Note("answer.range", {"low": self.low, "high": self.high})
