"""How values of settings are read, wherever they come from: a call, a file, a request, a typed text.

A reader takes the name of a setting and what somebody gave, and gives what is kept or refuses by the name.
It also knows what it takes, so that type checkers, options, forms and descriptions can be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mahrem import check, typed
from mahrem.errors import InvalidParameter

Read = Callable[[str, Any], Any]  # the name and what was given: gives what is kept, or refuses by the name


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How values of one kind are read.

    Attributes:
        read: Takes the name and what a call, a file or a request gives; refuses what does not fit.
        takes: What may be given, as a type checker reads it.
        typed: Turns what is typed after an option or into a field into what ``read`` takes.
        repeats: An option may be given several times.
        inner: Reads the values where it takes a table from names to values.
        of_columns: The names it takes are those of columns.
        least: The smallest number that is taken.
        most: The largest.
        by_line: Single values hold commas, so a form takes one a line.
    """

    read: Read
    takes: str
    typed: Read | None = None
    repeats: bool = False
    inner: Reader | None = None
    of_columns: bool = False
    least: float | None = None
    most: float | None = None
    by_line: bool = False

    def __call__(self, name: str, value: object) -> Any:
        """Read a value and hold it to its ends."""
        kept = self.read(name, value)
        if self.least is not None and self.most is not None:
            check.between(self.least, self.most, **{name: kept})
        elif self.least is not None:
            check.at_least(self.least, **{name: kept})
        return kept

    def within(self, least: float, most: float | None = None) -> Reader:
        """Give the same reader for numbers from ``least`` to ``most``."""
        return replace(self, least=least, most=most)


def wrong_type(name: str, value: object, wanted: str) -> InvalidParameter:
    """Make the error for a value of another type; it never shows the value."""
    return InvalidParameter(f"{name} must be {wanted}, not {type(value).__name__}")


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(name, value, "a number")
    check.finite(**{name: value})
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(name, value, "text")
    return str(value)  # a member of an enumeration of words counts as its word


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(name, value, "true or false")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(part, str) for part in value):
        raise wrong_type(name, value, "a text or a list of texts")
    return tuple(dict.fromkeys(value))


whole = Reader(read=lambda name, value: check.whole(**{name: value}), takes="int")
number = Reader(read=_number, takes="float")
text = Reader(read=_text, takes="str")
switch = Reader(read=_switch, takes="bool")
texts = Reader(read=_texts, takes="str | Sequence[str]", repeats=True)
anything = Reader(read=lambda _, value: value, takes="Any")
column = Reader(
    read=lambda name, value: check.column_name(**{name: value}), takes="Hashable", of_columns=True
)
columns = Reader(
    read=lambda name, value: check.column_names(**{name: value}),
    takes="Hashable | Sequence[Hashable]",
    typed=typed.names,
    repeats=True,
    of_columns=True,
)


def by_name(inner: Reader, *, types: Read = typed.pairs) -> Reader:
    """Give a reader of tables from names to values of one kind; ``types`` reads ``NAME=VALUE`` options."""

    def read(name: str, value: object) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise wrong_type(name, value, f"a table of names and values, as in {{name = …}}, under [{name}]")
        named = check.by_column(value, where=name)
        return {label: inner(f"{name}.{label}", given) for label, given in named.items()}

    return Reader(read=read, takes=f"Mapping[Any, {inner.takes}]", typed=types, repeats=True, inner=inner)


def by_column(inner: Reader, *, types: Read = typed.pairs) -> Reader:
    """Give a reader of tables from columns to values of one kind."""
    return replace(by_name(inner, types=types), of_columns=True)
