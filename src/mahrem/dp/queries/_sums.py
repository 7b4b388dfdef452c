"""Questions that noisy totals answer: counts, sums, means, variances, histograms, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from mahrem import check
from mahrem.dp._facts import Facts
from mahrem.dp._tally import Category, Condition, Edges, EvenGrid, Term
from mahrem.dp.queries._estimates import Estimate, mean_between, mean_of, variance_of
from mahrem.dp.queries._query import ColumnQuery, Query, Totals
from mahrem.errors import InvalidParameter

BINS = 10
POWERS = range(-10, 41)
EDGES = (*(-(2.0**power) for power in reversed(POWERS)), 0.0, *(2.0**power for power in POWERS))


@dataclass(frozen=True)
class Count(Query):
    """How many rows there are.

    Example:
        >>> str(Count(by=("sex",)))
        'count() by sex'
    """

    name: ClassVar[str] = "count"

    def totals(self, facts: Facts, *, counted: bool) -> Totals:  # noqa: ARG002 - rows need no facts
        """Add up rows."""
        return (Term("rows"),), ()


@dataclass(frozen=True)
class Sum(ColumnQuery):
    """The sum of a column, clipped to its public bounds."""

    name: ClassVar[str] = "sum"

    def totals(self, facts: Facts, *, counted: bool) -> Totals:  # noqa: ARG002 - nothing is divided
        """Add up clipped values."""
        return (self._term("value", facts),), ()


@dataclass(frozen=True)
class Mean(ColumnQuery):
    """The mean of a clipped column: a noisy sum over a noisy count, or over a public number of rows.

    Where the number is private, every row splits what it adds between two totals: the share of the way from
    the lower bound to its value, and the rest. Noise for one row covers both, and their sum is the number.
    """

    name: ClassVar[str] = "mean"
    divides: ClassVar[bool] = True

    def totals(self, facts: Facts, *, counted: bool) -> Totals:
        """Add up distances to the middle of the bounds, or shares of the way between them."""
        if counted:
            return (self._term("above", facts), self._term("below", facts)), ()
        return (self._term("centred", facts),), ()

    def finish(self, term: Term, sums: Sequence[Estimate], rows: Estimate) -> Estimate:
        """Divide."""
        if term.kind == "above":
            return mean_between(*sums, lower=term.lower, upper=term.upper)
        return mean_of(sums[0], rows, term.middle, term.half)


@dataclass(frozen=True)
class Variance(ColumnQuery):
    """The variance of a clipped column, from noisy sums of it and of its squares."""

    name: ClassVar[str] = "variance"
    divides: ClassVar[bool] = True

    def totals(self, facts: Facts, *, counted: bool) -> Totals:
        """Add up distances to the middle of the bounds, and their squares."""
        sums = (self._term("centred", facts), self._term("square", facts))
        return (*sums, *([self._term("present", facts)] if counted else [])), ()

    def finish(self, term: Term, sums: Sequence[Estimate], rows: Estimate) -> Estimate:
        """Divide."""
        return variance_of(sums[0], sums[1], rows, term.half)


@dataclass(frozen=True)
class Histogram(ColumnQuery):
    """Counts of declared values, or of ``bins`` even intervals over the public bounds."""

    name: ClassVar[str] = "histogram"

    bins: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins is not None:
            check.between(1, 10_000, bins=check.whole(bins=self.bins))

    @classmethod
    def read(cls, columns: Sequence[str], numbers: Sequence[float], **rest: Any) -> Self:
        """Take the number of bins, which must be whole."""
        for number in numbers:
            if not number.is_integer():
                raise InvalidParameter(f"bins={number:g} must be a whole number")
        (column,) = columns
        return cls(column, *map(int, numbers), **rest)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return () if self.bins is None else (self.bins,)

    def totals(self, facts: Facts, *, counted: bool) -> Totals:  # noqa: ARG002 - nothing is divided
        """Add up rows by declared values, or by intervals."""
        known = facts.columns.get(self.column)
        if self.bins is None and known is not None and known.categories is not None:
            return (Term("rows"),), (Category(self.column, known.categories),)
        lower, upper = facts.bounds(self.column)
        missing = facts.missing(self.column)
        return (Term("rows"),), (
            EvenGrid(self.column, lower, upper, self.bins or BINS, missing, nearest=False),
        )


@dataclass(frozen=True)
class Bounds(ColumnQuery):
    """Find bounds of a column privately, on a scale of powers of two; the ledger then knows them."""

    name: ClassVar[str] = "bounds"

    by: tuple[str, ...] = field(default=(), init=False)
    where: tuple[Condition, ...] = field(default=(), init=False)

    def totals(self, facts: Facts, *, counted: bool) -> Totals:  # noqa: ARG002 - it finds the facts
        """Add up rows between powers of two."""
        return (Term("rows"),), (Edges(self.column, EDGES),)
