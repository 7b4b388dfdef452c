"""How a table is to be read, as a person says it to a verb or in a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from mahrem import check
from mahrem.table import Reading

if TYPE_CHECKING:
    from mahrem.release._policy import Policy

__all__ = ["ReadingSettings", "reading_beside", "reading_from", "reading_of"]


class ReadingSettings(TypedDict, total=False):
    """How to read a source: every key is a field of :class:`~mahrem.table.Reading`, or ``sql``."""

    delimiter: str | None
    encoding: str | None
    decimal: Literal[".", ","] | None
    null: str | Sequence[str]
    query: str | None
    sql: str | None  # another word for query
    table: str | None


def reading_from(settings: Mapping[str, Any]) -> Reading:
    """Read what was said by the keys of :class:`ReadingSettings`; others are refused."""
    check.unknown_keys(settings, tuple(ReadingSettings.__annotations__), where="setting")
    given = {name: value for name, value in settings.items() if value is not None}
    return Reading(**check.under_one_name(given, "sql", "query"))


def reading_of(policy: Policy) -> Reading:
    """Give how the policy says a source is to be read."""
    return Reading(
        delimiter=policy.delimiter,
        encoding=policy.encoding,
        decimal=policy.decimal,
        null=policy.null,
        query=policy.query,
        table=policy.table,
    )


def reading_beside(policy: Policy) -> Reading:
    """Give how a second table that the policy names is read: in the same form, but all of it."""
    return replace(reading_of(policy), query=None, table=None)
