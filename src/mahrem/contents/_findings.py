"""What is found in a table: figures, kinds and names of columns, never a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mahrem.words import Note


@dataclass(frozen=True)
class ContentFinding:
    """A kind of content that a column holds."""

    kind: str  # a name in CONTENTS
    share: float  # of the rows that have a value
    confidence: float  # 0 .. 1: how hard it is to explain otherwise
    reason: Note  # figures only

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "kind": self.kind,
            "share": self.share,
            "confidence": self.confidence,
            "reason": {"code": self.reason.code, **self.reason.values},
        }


@dataclass(frozen=True)
class ColumnRelation:
    """A column that tells what another one tells."""

    column: str  # the one that follows
    of: str  # from this one
    how: str  # copy, spelling, linear, one-to-one, determined, combined (from it and others) or together
    share: float  # of the rows where it holds

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class SeveralRows:
    """A column that names people, of whom some have several rows: a candidate for ``subject``."""

    column: str
    rows_each: float  # on average
    steady: int  # other columns that never change within a person

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Household:
    """Columns whose equal values put different people under one roof."""

    columns: tuple[str, ...]
    share: float  # of the rows that have company

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {"columns": list(self.columns), "share": self.share}


@dataclass(frozen=True)
class Contents:
    """What the columns of a table hold, and what they tell about each other."""

    columns: Mapping[str, tuple[ContentFinding, ...]]  # every column; the weightiest finding first
    relations: tuple[ColumnRelation, ...]
    several_rows: tuple[SeveralRows, ...]  # the best candidate first
    households: tuple[Household, ...]
    rows: int  # looked at
    region: str | None  # given or guessed

    def of(self, column: str) -> tuple[ContentFinding, ...]:
        """Give what one column holds, the weightiest first."""
        return self.columns[column]

    def as_dict(self) -> dict[str, Any]:
        """Give all of it as plain values."""
        return {
            "rows": self.rows,
            "region": self.region,
            "columns": {
                name: [finding.as_dict() for finding in kinds] for name, kinds in self.columns.items()
            },
            "relations": [relation.as_dict() for relation in self.relations],
            "several_rows": [people.as_dict() for people in self.several_rows],
            "households": [household.as_dict() for household in self.households],
        }
