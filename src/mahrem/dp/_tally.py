"""What is added up before any noise: integers per row, summed in groups that are public.

Every query comes down to a :class:`TallyPlan`. Whatever a cell holds, a row adds an integer between the
bounds of the term to at most one group. The proof of every sensitivity rests on this alone, so it does not
matter which engine sums, and sums of integers have no rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from mahrem import check
from mahrem.dp._relation import Unit
from mahrem.errors import InvalidParameter

RESOLUTION = 1 << 30  # steps between zero and the larger bound: 2**32 rows still sum within 62 bits


@dataclass(frozen=True)
class Condition:
    """A comparison that a row must pass: ``age >= 18``, ``sex = 'f'``, ``ward in ('a', 'b')``."""

    column: str
    operator: Literal["=", "!=", "<", "<=", ">", ">=", "in"]
    value: float | str | tuple[float, ...] | tuple[str, ...]

    def __post_init__(self) -> None:
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if not values or isinstance(self.value, tuple) != (self.operator == "in"):
            raise InvalidParameter(f"where {self.column}: in takes a list of values, a comparison one value")
        for value in values:  # a database could not be asked, and would say so after the ledger had paid
            if isinstance(value, str):
                if "\0" in value:
                    raise InvalidParameter(f"where {self.column}: a text must not hold NUL")
            else:
                check.finite(number=value)

    @property
    def numeric(self) -> bool:
        """Whether cells are compared as numbers."""
        first = self.value[0] if isinstance(self.value, tuple) else self.value
        return not isinstance(first, str)


@dataclass(frozen=True)
class Category:
    """Groups by declared values; rows with another value are in none."""

    column: str
    categories: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many groups."""
        return len(self.categories)


@dataclass(frozen=True)
class EvenGrid:
    """Groups by an even grid over public bounds.

    With ``nearest``, group i holds what rounds to point i of ``0 .. steps``; else interval i of ``steps``.
    """

    column: str
    lower: float
    upper: float
    steps: int
    missing: float | None
    nearest: bool

    @property
    def size(self) -> int:
        """How many groups."""
        return self.steps + self.nearest

    def point(self, place: int) -> float:
        """Give the value at a point of the grid."""
        return self.lower + (self.upper - self.lower) * (place / self.steps)


@dataclass(frozen=True)
class Edges:
    """Groups between given edges, below the first and from the last on; missing values are in none."""

    column: str
    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """How many groups."""
        return len(self.edges) + 1


TermKind: TypeAlias = Literal["rows", "present", "value", "centred", "square", "above", "below"]
Key: TypeAlias = Category | EvenGrid | Edges


@dataclass(frozen=True)
class Term:
    """The integer a row adds.

    ``rows`` adds 1; ``present`` 1 if the column has a value. Of the clipped value x, ``value`` adds x,
    ``centred`` its distance to the middle of the bounds, ``square`` twice the square of that (in halves
    of the range) less 1, ``above`` the share of the way from the lower bound to x and ``below`` the rest of
    the way, each in steps of :attr:`unit`. What ``above`` and ``below`` add is 1 together.
    """

    kind: TermKind
    column: str | None = None
    lower: float = 0.0
    upper: float = 0.0
    missing: float | None = None

    @property
    def middle(self) -> float:
        """Middle of the bounds."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def half(self) -> float:
        """Half the width of the bounds."""
        return (self.upper - self.lower) / 2

    @property
    def unit(self) -> float:
        """What one step is worth."""
        worth = {
            "value": max(abs(self.lower), abs(self.upper)),
            "centred": self.half,
            **dict.fromkeys(("square", "above", "below"), 1.0),
        }
        return worth.get(self.kind, RESOLUTION) / RESOLUTION

    @property
    def counts(self) -> bool:
        """Whether it only counts."""
        return self.kind in {"rows", "present"}

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The least and the most a row adds."""
        if self.kind == "rows":
            return 1, 1
        if self.kind == "present":
            return (0, 1) if self.missing is None else (1, 1)
        if self.kind == "value":
            largest = max(abs(self.lower), abs(self.upper))
            return round(self.lower / largest * RESOLUTION), round(self.upper / largest * RESOLUTION)
        return (0 if self.kind in {"above", "below"} else -RESOLUTION), RESOLUTION

    @property
    def optional(self) -> bool:
        """Whether a row without a value adds nothing."""
        return self.kind != "rows" and self.missing is None


@dataclass(frozen=True, kw_only=True)
class TallyPlan:
    """Sums of ``terms`` over the rows that pass ``where``, by groups of ``keys``."""

    terms: tuple[Term, ...]
    keys: tuple[Key, ...] = ()
    where: tuple[Condition, ...] = ()
    unit: Unit = field(default_factory=Unit)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many groups along each key."""
        return tuple(key.size for key in self.keys)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that are read as numbers."""
        keys = [key.column for key in self.keys if not isinstance(key, Category)]
        terms = [term.column for term in self.terms if term.column is not None]
        return _once([*keys, *terms, *(condition.column for condition in self.where if condition.numeric)])

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column it needs."""
        subject = [] if self.unit.subject is None else [self.unit.subject]
        keys = [key.column for key in self.keys]
        return _once([*self.numbers, *keys, *(condition.column for condition in self.where), *subject])


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
