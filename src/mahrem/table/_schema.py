"""What each column is: its role in the promise and the kind of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mahrem.table.hierarchies import Hierarchy


EVERY = "*"  # stands for all columns where a setting is by column: none is called that


class Role(StrEnum):
    """What a column is to the person it speaks of."""

    IDENTIFIER = "identifier"  # names the person: dropped or pseudonymised
    QUASI = "quasi"  # known to others, singles people out together: generalised
    SENSITIVE = "sensitive"  # what must not be learnt about a person: published as it is
    INSENSITIVE = "insensitive"  # published as it is


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    DATE = "date"  # days or moments
    CODE = "code"  # ZIP, ICD: the beginning of the string is its generalisation


class Missing(StrEnum):
    """What happens to rows with a missing value; the first four look at quasi and sensitive columns only."""

    CATEGORY = "category"  # missing is a value like any other
    SUPPRESS = "suppress"  # the row stays, but shows nothing
    DROP = "drop"  # the row is left out and counted
    DROP_ANY = "drop-any"  # the same, but a missing value in any column counts
    REFUSE = "refuse"  # an error


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the table: name, role, kind, and what its values mean."""

    name: str
    role: Role
    kind: Kind
    order: tuple[str, ...] | None = None  # ordinal: the values, lowest first
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    words: bool = False  # somebody said so: 1 and 1.0 are two of them
