"""Figures that may be shown, each with the reason why; a report takes no others.

What lies beside a published table is a function of that table and of public settings, or it is about a crowd:
over at least k people, rounded so that nobody can be subtracted out, on ground that is public, published or
snapped to the grid. Whoever marks a figure says which of these it is; a report refuses what nobody marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self


class Why(StrEnum):
    """Why a figure may be shown."""

    PUBLISHED = "published"  # anybody can work it out from the published table and public settings
    CROWD = "crowd"  # it is about at least k people, rounded, and about shown rows alone
    PAID = "paid"  # a privacy ledger paid for it
    READ = "read"  # it stood in a file that was handed over already


class Figure(float):
    """A number that may be shown; what is computed from it is a plain number again, to be marked anew."""

    why: Why

    def __new__(cls, value: float, why: Why) -> Self:
        """Mark a number."""
        figure = super().__new__(cls, value)
        figure.why = why
        return figure

    def __getnewargs__(self) -> tuple[float, Why]:  # type: ignore[override] # typeshed: of a float alone
        """Say how to make it again: reports are copied and sent to other processes."""
        return float(self), self.why


class Count(int):
    """A count that may be shown."""

    why: Why

    def __new__(cls, value: int, why: Why) -> Self:
        """Mark a count."""
        count = super().__new__(cls, value)
        count.why = why
        return count

    def __getnewargs__(self) -> tuple[int, Why]:  # type: ignore[override] # typeshed: of an int alone
        """Say how to make it again."""
        return int(self), self.why


NONE = Count(0, Why.PUBLISHED)


def disclose(value: object, why: Why) -> Any:
    """Mark every number within: mappings and lists are walked through, words and truth values stay.

    Example:
        >>> disclose({"rows": 3}, Why.PUBLISHED)["rows"].why
        <Why.PUBLISHED: 'published'>
    """
    match value:
        case bool() | Figure() | Count():
            return value
        case int():
            return Count(value, why)
        case float():
            return Figure(value, why)
        case Mapping():
            return {key: disclose(entry, why) for key, entry in value.items()}
        case list() | tuple():
            return type(value)([disclose(entry, why) for entry in value])
        case _:  # numbers and arrays of NumPy give plain ones
            return disclose(value.tolist(), why) if hasattr(value, "tolist") else value


def published(value: object) -> Any:
    """Mark what anybody can work out from the published table and from public settings."""
    return disclose(value, Why.PUBLISHED)


def of_crowd(value: object) -> Any:
    """Mark what is about a crowd of shown people, and rounded."""
    return disclose(value, Why.CROWD)


def paid(value: object) -> Any:
    """Mark what a privacy ledger declares public or paid for."""
    return disclose(value, Why.PAID)


def unmarked(value: object, where: str = "") -> str | None:
    """Give the place of the first number that nobody marked; None if there is none."""
    match value:
        case bool() | Figure() | Count():
            return None
        case int() | float():
            return where
        case Mapping():
            inside: Any = value.items()
        case list() | tuple():
            inside = enumerate(value)
        case _:
            return where if hasattr(value, "tolist") else None
    places = (unmarked(entry, f"{where}.{key}" if where else str(key)) for key, entry in inside)
    return next((place for place in places if place is not None), None)
