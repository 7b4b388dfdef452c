"""What every question has: groups, conditions, what is added up for it, and how it is written down."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

from mahrem.dp._facts import Facts
from mahrem.dp._tally import Condition, Key, Term
from mahrem.dp.queries._estimates import Estimate
from mahrem.errors import InvalidParameter
from mahrem.words import Note

Totals: TypeAlias = tuple[tuple[Term, ...], tuple[Key, ...]]  # what is added up, by which keys beside ``by``


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """A question as data; the same in text: :func:`mahrem.dp.queries.parse_query`.

    A kind of question is a subclass: it says what is added up (:meth:`totals`) and what is made of noisy
    totals (:meth:`finish`) or of selected points (:meth:`chosen`). Privacy does not rest on it: noise is
    fitted to the terms alone.

    Args:
        by: Columns with declared values: one figure for each group.
        where: Conditions that a row must pass.
    """

    name: ClassVar[str]  # as it is written
    noise: ClassVar[Literal["addition", "selection", "smooth"]] = "addition"
    divides: ClassVar[bool] = False  # by the number of rows, public or noisy

    by: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        by: object = self.by  # one name is as good as a list of one
        object.__setattr__(self, "by", (by,) if isinstance(by, str) else tuple(self.by))
        object.__setattr__(self, "where", tuple(self.where))
        if len(set(self.by)) != len(self.by):
            raise InvalidParameter("by: a column is named twice")

    @classmethod
    def read(cls, columns: Sequence[str], numbers: Sequence[float], **rest: Any) -> Self:
        """Make it of what stands between its brackets."""
        return cls(*columns, *numbers, **rest)

    @abstractmethod
    def totals(self, facts: Facts, *, counted: bool) -> Totals:
        """Say what is added up; ``counted``: the number of rows too, where the question divides by it."""

    def finish(self, term: Term, sums: Sequence[Estimate], rows: Estimate) -> Estimate:  # noqa: ARG002 - others divide
        """Turn noisy totals into the figure that was asked for; nothing private is touched any more."""
        return Estimate(round(sums[0].value), sums[0].error) if term.counts else sums[0]

    @property
    def levels(self) -> tuple[float, ...]:
        """The quantiles that are selected."""
        return (0.5,)

    def chosen(self, values: Sequence[float], errors: Sequence[float]) -> Iterator[dict[str, Any]]:
        """Give the rows of selected points; errors are in rows of rank."""
        for level, value, error in zip(self.levels, values, errors, strict=True):
            yield {"level": level, "value": value, "error_rows": error}

    def notes(self) -> Iterator[Note]:
        """Say what a reader of the answer should know."""
        yield from ()

    @property
    def _arguments(self) -> tuple[str, ...]:
        return ()

    def __str__(self) -> str:
        by = f" by {', '.join(map(_name, self.by))}" if self.by else ""
        where = " and ".join(_condition(condition) for condition in self.where)
        return f"{self.name}({', '.join(self._arguments)}){by}" + (f" where {where}" if where else "")


@dataclass(frozen=True)
class ColumnQuery(Query):
    """A question about one column."""

    column: str

    @property
    def _numbers(self) -> tuple[float, ...]:
        """What is written behind the column."""
        return ()

    @property
    def _arguments(self) -> tuple[str, ...]:
        return (_name(self.column), *map(_figure, self._numbers))

    def _term(
        self, kind: Literal["present", "value", "centred", "square", "above", "below"], facts: Facts
    ) -> Term:
        return Term(kind, self.column, *facts.bounds(self.column), facts.missing(self.column))


def _name(column: str) -> str:
    """Write a name so that it can be read back."""
    plain = re.fullmatch(r"[^\W\d]\w*", column) and column.lower() not in {"by", "where", "and", "in"}
    return column if plain else '"' + column.replace('"', '""') + '"'


def _condition(condition: Condition) -> str:
    value = condition.value
    written = "(" + ", ".join(map(_value, value)) + ")" if isinstance(value, tuple) else _value(value)
    return f"{_name(condition.column)} {condition.operator} {written}"


def _value(value: float | str) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else _figure(value)


def _figure(number: float) -> str:
    """Write a number so that it is read back exactly."""
    whole = float(number).is_integer() and abs(number) < 1e15
    return f"{number:.0f}" if whole else repr(float(number))
