"""Public facts: what may be known about a table without looking at it. Everything else costs budget."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter, either

__all__ = ["Facts", "PublicColumn"]

MOST_CATEGORIES = 10_000
LARGEST = 1e50  # far from where products of floats overflow


@dataclass(frozen=True, kw_only=True)
class PublicColumn:
    """What is publicly known of one column.

    Args:
        lower: Values below count as this; infinities too. With ``upper``, or neither.
        upper: Values above count as this.
        missing: What an empty cell, a NaN or a text that is no number counts as. None leaves such rows out of
            every figure about this column.
        categories: The values there may be; rows with another value are in no group.
        origin: ``declared`` by somebody, or ``found`` privately and paid for.

    Example:
        >>> PublicColumn(lower=0, upper=120, missing=40).bounded
        True
    """

    lower: float | None = None
    upper: float | None = None
    missing: float | None = None
    categories: tuple[str, ...] | None = None
    origin: str = "declared"

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            raise InvalidParameter("bounds need both ends: lower and upper")
        if self.lower is not None and self.upper is not None:
            low, high = check.finite(lower=self.lower), check.finite(upper=self.upper)
            if not low < high:
                raise InvalidParameter(f"lower={low:g} must be below upper={high:g}")
            if max(abs(low), abs(high)) > LARGEST or high - low < 1 / LARGEST:
                raise InvalidParameter(f"bounds {low:g}:{high:g} must lie within {LARGEST:g} and apart")
            object.__setattr__(self, "lower", low)
            object.__setattr__(self, "upper", high)
        if self.missing is not None:
            if self.lower is None or self.upper is None:
                raise InvalidParameter(f"missing={self.missing!r} needs bounds")
            check.between(self.lower, self.upper, missing=self.missing)
            object.__setattr__(self, "missing", float(self.missing))
        if self.categories is not None:
            object.__setattr__(self, "categories", _categories(self.categories))

    @property
    def bounded(self) -> bool:
        """Whether numbers of this column have public bounds."""
        return self.lower is not None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        listed = None if self.categories is None else list(self.categories)
        return {
            "lower": self.lower,
            "upper": self.upper,
            "missing": self.missing,
            "categories": listed,
            "origin": self.origin,
        }


def _categories(said: Sequence[object]) -> tuple[str, ...]:
    if isinstance(said, str):
        raise InvalidParameter(f"categories={said!r} must be a list of values")
    names = tuple(str(one) for one in said)
    if not names or len(set(names)) != len(names) or "" in names or any("\0" in name for name in names):
        raise InvalidParameter("categories must be different, not empty, without NUL, and at least one")
    if len(names) > MOST_CATEGORIES:
        raise InvalidParameter(f"categories: {len(names)} were given; {MOST_CATEGORIES} is the most")
    return names


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All public facts about a table.

    Args:
        columns: What is known of single columns.
        rows: How many rows it has, if that is public (for people: how many people).
    """

    columns: Mapping[str, PublicColumn] = field(default_factory=dict)
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            check.at_least(1, rows=check.whole(rows=self.rows))

    def bounds(self, column: str) -> tuple[float, float]:
        """Give the bounds of a column, or say how to get some."""
        known = self.columns.get(column)
        if known is None or known.lower is None or known.upper is None:
            bounds = f"columns={{{column!r}: {{'lower': …, 'upper': …}}}}"
            how = either(bounds, f"--bounds {shlex.quote(f'{column}=LOW:HIGH')}")
            raise InvalidParameter(
                f"column={column!r} has no public bounds{self._near(column)}; declare them with the ledger "
                f"({how}), or find them privately: query bounds(...)"
            )
        return known.lower, known.upper

    def _near(self, column: str) -> str:
        near = difflib.get_close_matches(column, [name for name in self.columns if name != column], n=1)
        return f" (did you mean {near[0]!r}?)" if near else ""

    def categories(self, column: str) -> tuple[str, ...]:
        """Give the declared values of a column."""
        known = self.columns.get(column)
        if known is None or known.categories is None:
            values = f"columns={{{column!r}: {{'categories': […]}}}}"
            how = either(values, f"--categories {shlex.quote(f'{column}=A,B,C')}")
            raise InvalidParameter(
                f"column={column!r} has no declared values{self._near(column)}; groups are never taken from "
                f"the data: declare them with the ledger ({how})"
            )
        return known.categories

    def missing(self, column: str) -> float | None:
        """Give what a missing value counts as; None if such rows are left out."""
        known = self.columns.get(column)
        return None if known is None else known.missing

    def with_column(self, name: str, column: PublicColumn) -> Facts:
        """Add or replace what is known of one column."""
        return Facts(columns={**self.columns, name: column}, rows=self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "rows": self.rows,
            "columns": {name: column.as_dict() for name, column in self.columns.items()},
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Facts:
        """Read what :meth:`as_dict` gave."""
        columns = {name: PublicColumn(**column) for name, column in said["columns"].items()}
        return cls(columns=columns, rows=said["rows"])
