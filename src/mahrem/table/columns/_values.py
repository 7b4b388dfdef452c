"""A sensitive column as codes: what the privacy models count."""

from __future__ import annotations

from dataclasses import dataclass, field

from mahrem.types import Codes, Integers

__all__ = ["Values"]


@dataclass(frozen=True)
class Values:
    """A sensitive column as codes; codes follow the column's own order, and -1 is not counted."""

    name: str
    codes: Codes = field(repr=False)  # (n,) 0 .. size-1; -1 = not counted
    size: int  # distinct values
    ancestors: Integers | None = field(
        default=None, repr=False
    )  # (levels, size) nodes of a hierarchy, bottom-up
