"""What can be asked, as data. The same questions in text: :func:`mahrem.dp.parse_query`.

``by`` names columns with declared values, ``where`` conditions that a row must pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from mahrem import check
from mahrem.dp._tally import Condition
from mahrem.errors import InvalidParameter

__all__ = [
    "Bounds",
    "Count",
    "Histogram",
    "Mean",
    "Median",
    "Quantiles",
    "Query",
    "Range",
    "SmoothMedian",
    "Sum",
    "Variance",
]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    by: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        by: object = self.by  # one name is as good as a list of one
        object.__setattr__(self, "by", (by,) if isinstance(by, str) else tuple(self.by))
        object.__setattr__(self, "where", tuple(self.where))
        if len(set(self.by)) != len(self.by):
            raise InvalidParameter("by: a column is named twice")

    @property
    def _rest(self) -> str:
        by = f" by {', '.join(map(_name, self.by))}" if self.by else ""
        where = " and ".join(_condition(one) for one in self.where)
        return by + (f" where {where}" if where else "")


@dataclass(frozen=True)
class Count(_Asked):
    """How many rows there are.

    Example:
        >>> str(Count(by=("sex",)))
        'count() by sex'
    """

    def __str__(self) -> str:
        return f"count(){self._rest}"


@dataclass(frozen=True)
class Sum(_Asked):
    """The sum of a column, clipped to its public bounds."""

    column: str

    def __str__(self) -> str:
        return f"sum({_name(self.column)}){self._rest}"


@dataclass(frozen=True)
class Mean(_Asked):
    """The mean of a clipped column: a noisy sum over a noisy count, or over a public number of rows."""

    column: str

    def __str__(self) -> str:
        return f"mean({_name(self.column)}){self._rest}"


@dataclass(frozen=True)
class Variance(_Asked):
    """The variance of a clipped column, from noisy sums of it and of its squares."""

    column: str

    def __str__(self) -> str:
        return f"variance({_name(self.column)}){self._rest}"


@dataclass(frozen=True)
class Median(_Asked):
    """The median, selected from an even grid over the public bounds."""

    column: str

    def __str__(self) -> str:
        return f"median({_name(self.column)}){self._rest}"


@dataclass(frozen=True)
class SmoothMedian(_Asked):
    """The median with Laplace noise fitted to this table's smooth sensitivity.

    Good where values lie dense around the median. Holds under ``replace`` only, and needs a delta.
    """

    column: str
    by: tuple[str, ...] = field(default=(), init=False)
    where: tuple[Condition, ...] = field(default=(), init=False)

    def __str__(self) -> str:
        return f"smooth_median({_name(self.column)})"


@dataclass(frozen=True)
class Quantiles(_Asked):
    """Quantiles, each selected from an even grid over the public bounds.

    Example:
        >>> str(Quantiles("cost", (0.25, 0.9)))
        'quantile(cost, 0.25, 0.9)'
    """

    column: str
    levels: tuple[float, ...] = (0.25, 0.5, 0.75)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or list(self.levels) != sorted(set(self.levels)):
            raise InvalidParameter("levels: name at least one, in rising order")
        for level in self.levels:
            check.between(0, 1, level=level)

    def __str__(self) -> str:
        levels = "".join(f", {_figure(level)}" for level in self.levels)
        return f"quantile({_name(self.column)}{levels}){self._rest}"


@dataclass(frozen=True)
class Range(_Asked):
    """A quantile range: where the middle of the values lies, from ``low`` to ``high``.

    The true range, largest less smallest, is two people's values and has no useful private answer.
    """

    column: str
    low: float = 0.01
    high: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= check.finite(low=self.low) < check.finite(high=self.high) <= 1:
            raise InvalidParameter(f"low={self.low!r} must lie below high={self.high!r}, both in [0, 1]")

    def __str__(self) -> str:
        return f"range({_name(self.column)}, {_figure(self.low)}, {_figure(self.high)}){self._rest}"


@dataclass(frozen=True)
class Histogram(_Asked):
    """Counts of declared values, or of ``bins`` even intervals over the public bounds."""

    column: str
    bins: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins is not None:
            check.between(1, 10_000, bins=check.whole(bins=self.bins))

    def __str__(self) -> str:
        bins = "" if self.bins is None else f", {self.bins}"
        return f"histogram({_name(self.column)}{bins}){self._rest}"


@dataclass(frozen=True)
class Bounds(_Asked):
    """Find bounds of a column privately, on a scale of powers of two; the ledger then knows them."""

    column: str
    by: tuple[str, ...] = field(default=(), init=False)
    where: tuple[Condition, ...] = field(default=(), init=False)

    def __str__(self) -> str:
        return f"bounds({_name(self.column)})"


Query: TypeAlias = (
    Count | Sum | Mean | Variance | Median | SmoothMedian | Quantiles | Range | Histogram | Bounds
)


def _name(column: str) -> str:
    """Write a name so that it can be read back."""
    plain = re.fullmatch(r"[^\W\d]\w*", column) and column.lower() not in {"by", "where", "and", "in"}
    return column if plain else '"' + column.replace('"', '""') + '"'


def _condition(condition: Condition) -> str:
    value = condition.value
    if isinstance(value, tuple):
        written = "(" + ", ".join(_value(one) for one in value) + ")"
    else:
        written = _value(value)
    return f"{_name(condition.column)} {condition.operator} {written}"


def _value(value: float | str) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else _figure(value)


def _figure(number: float) -> str:
    """Write a number so that it is read back exactly."""
    whole = float(number).is_integer() and abs(number) < 1e15
    return f"{number:.0f}" if whole else repr(float(number))
