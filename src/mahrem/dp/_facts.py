"""Public facts: what may be known about a table without looking at it. Everything else costs budget."""

from __future__ import annotations

import codecs
import difflib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter, either
from mahrem.table import ColumnDeclaration

if TYPE_CHECKING:
    from mahrem.table import Reading

# How a file is written, and what stands for "found out" there.
_WRITTEN: Mapping[str, Any] = {
    "delimiter": None,
    "encoding": None,
    "decimal": None,
    "null": (),
    "header": None,
    "names": (),
    "skip_rows": None,
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All public facts about a table.

    Args:
        columns: What is known of single columns.
        rows: How many rows it has, if that is public (for people: how many people).
        reading: How its file is written: delimiter, encoding, decimal sign, tokens for missing values; None
            leaves that to whoever asks.
    """

    columns: Mapping[str, ColumnDeclaration] = field(default_factory=dict)
    rows: int | None = None
    reading: Reading | None = None

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

    def read_as(self, reading: Reading | None = None) -> Reading:
        """Say how the table is read, each cell by itself; what contradicts the facts is refused."""
        from mahrem.table import Reading

        asked = reading or Reading()
        if asked.encoding is not None:
            asked = replace(asked, encoding=codecs.lookup(asked.encoding).name)
        if self.reading is None:
            return replace(asked, by_cell=True)
        for name, unsaid in _WRITTEN.items():
            value, known = getattr(asked, name), getattr(self.reading, name)
            if value not in (unsaid, known):
                raise InvalidParameter(
                    f"{name}={value!r} contradicts the ledger, which was made for a table read with "
                    f"{name}={known!r}"
                )
        return replace(self.reading, query=asked.query, table=asked.table, by_cell=True)

    def with_column(self, name: str, column: ColumnDeclaration) -> Facts:
        """Add or replace what is known of one column."""
        return replace(self, columns={**self.columns, name: column})

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        plain: dict[str, Any] = {
            "rows": self.rows,
            "columns": {name: column.as_dict() for name, column in self.columns.items()},
        }
        if self.reading is not None:
            settings = {name: getattr(self.reading, name) for name in _WRITTEN}
            plain["reading"] = {name: value for name, value in settings.items() if value != _WRITTEN[name]}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Facts:
        """Read what :meth:`as_dict` gave."""
        columns = {name: ColumnDeclaration.from_dict(column) for name, column in plain["columns"].items()}
        from mahrem.table import Reading

        reading = plain.get("reading")
        return cls(
            columns=columns, rows=plain["rows"], reading=None if reading is None else Reading(**reading)
        )
