"""What a promise is about: which tables are neighbours, and whose data one of them lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter

MOST_ROWS = 1_000_000_000  # of one person; above, sums of fine steps would leave 64 bits


class Relation(StrEnum):
    """Which two tables must be hard to tell apart; the two notions differ by up to a factor of two.

    ``add-remove``: one has a unit more than the other, so the number of rows is private.
    ``replace``: one unit is exchanged for another, so the number of units is public.
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @property
    def moves(self) -> int:
        """How many units neighbours differ in: one comes or goes, or one goes and another comes."""
        return 1 if self is Relation.ADD_REMOVE else 2


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Whose presence is hidden: a row, or a person who may have several rows.

    Args:
        subject: The column that says whose row it is; None protects single rows.
        rows: So many rows of one person are used at most; others are left out before anything is counted.

    Example:
        >>> Unit(subject="patient_id", rows=5).rows
        5
    """

    subject: str | None = None
    rows: int = 1

    def __post_init__(self) -> None:
        check.between(1, MOST_ROWS, rows_per_person=check.whole(rows_per_person=self.rows))
        if self.subject is None and self.rows != 1:
            raise InvalidParameter(
                f"rows_per_person={self.rows} needs subject: the column that says whose row it is"
            )

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        kind = "row" if self.subject is None else "person"
        return {"kind": kind, "subject": self.subject, "rows_per_person": self.rows}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Unit:
        """Read what :meth:`as_dict` gave."""
        return cls(subject=plain["subject"], rows=plain["rows_per_person"])
