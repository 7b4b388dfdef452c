"""Rows that may not be: values of several columns that never go together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain, DomainColumn
from mahrem.typed import value


@dataclass(frozen=True)
class Never:
    """``never sex=m and pregnant=yes``: no row meets all conditions.

    A condition is a value, values ``a,b``, or for numbers and dates a range ``low:high``, both inside.
    """

    conditions: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "never " + " and ".join(f"{name}={text}" for name, text in self.conditions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns it speaks of."""
        return tuple(name for name, _ in self.conditions)

    def ranges(self, domain: DeclaredDomain) -> Mapping[str, tuple[float, float]]:  # noqa: ARG002 - as the others
        """Say what it leaves of the ranges of its columns: all, for each alone may be anything."""
        return {}

    def broken(self, domain: DeclaredDomain) -> pl.Expr:
        """Say which rows break it."""
        met = [_meets(domain[name], text) for name, text in self.conditions]
        return reduce(and_, met).fill_null(value=False)

    def refuse(self, domain: DeclaredDomain) -> None:
        """Refuse conditions that nothing declared meets, and those that everything does."""
        for name, text in self.conditions:
            try:
                share, _ = domain[name].admitted(_condition(domain[name], text))
            except InvalidParameter:
                share = np.zeros(1)
            if not share.any():
                raise InvalidParameter(
                    f"constraint={str(self)!r}: nothing that is declared for {name!r} meets its condition"
                )


def parse_never(text: str) -> Never | None:
    """Read ``never a=x and b=y``; None where the text is another rule.

    Example:
        >>> parse_never("never sex=m and pregnant=yes").columns
        ('sex', 'pregnant')
    """
    head, _, rest = text.strip().partition(" ")
    if head != "never":
        return None
    parts = [part.partition("=") for part in re.split(r"\s+and\s+", rest.strip())]
    conditions = tuple((name.strip(), value.strip()) for name, _, value in parts)
    if len(conditions) < 2 or not all(name and value for name, value in conditions):
        raise InvalidParameter(f"constraint={text!r} must read like 'never sex=m and pregnant=yes'")
    return Never(conditions)


def _condition(column: DomainColumn, text: str) -> Any:
    if column.kind == "category":
        return text.split(",")
    low, mark, high = text.partition(":")
    pair = (low, high if mark else low)
    return pair if column.kind == "date" else tuple(value(one) for one in pair)


def _meets(column: DomainColumn, text: str) -> pl.Expr:
    condition = _condition(column, text)
    here = pl.col(column.name)
    if column.kind == "category":
        return here.cast(pl.String).is_in(condition)
    _, within = column.admitted(condition)
    low, high = within or (0.0, 0.0)
    number = here.cast(pl.Int32) if column.kind == "date" else here
    return number.is_between(low, high)
