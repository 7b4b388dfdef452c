"""What each column is: its role in the promise, the kind of its values, what a missing one means."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mahrem.errors import InvalidInput, shorten

if TYPE_CHECKING:
    import polars as pl

    from mahrem.table.hierarchies import Hierarchy
    from mahrem.types import Mask


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


@dataclass(frozen=True)
class MissingOutcome:
    """What a policy does to the rows of a table."""

    keep: Mask = field(repr=False)  # (n,) rows that stay
    suppress: Mask = field(repr=False)  # (n,) rows that stay and show nothing
    dropped: int
    suppressed: int


def apply_missing(
    frame: pl.DataFrame, policy: Missing, *, other: pl.DataFrame | pl.LazyFrame | None = None
) -> MissingOutcome:
    """Decide which rows stay and which show nothing.

    Args:
        frame: Quasi-identifiers and sensitive columns; null is missing.
        policy: What a missing value means.
        other: The remaining columns, row by row beside ``frame``; only ``drop-any`` looks at them.

    Guarantees:
        - ``keep`` and ``suppress`` have one entry per row; only rows that stay are suppressed.
        - ``category`` keeps every row and suppresses none.

    Example:
        >>> import polars as pl
        >>> outcome = apply_missing(pl.DataFrame({"age": [34, None]}), Missing.DROP)
        >>> outcome.keep.tolist(), outcome.dropped
        ([True, False], 1)
    """
    import numpy as np  # whoever asks what columns may be needs no arrays

    everyone = np.ones(frame.height, np.bool_)
    nobody = np.zeros(frame.height, np.bool_)
    if policy is Missing.CATEGORY:
        return MissingOutcome(everyone, nobody, 0, 0)
    incomplete = _incomplete(frame)
    if policy is Missing.DROP_ANY and other is not None:
        incomplete |= _incomplete(other.lazy().collect())
    count = int(incomplete.sum())
    if policy is Missing.REFUSE and count:
        holes = [series.name for series in frame.iter_columns() if series.null_count()]
        raise InvalidInput(
            f"missing='refuse': {count} of {frame.height} rows lack a value in {shorten(holes)}; "
            "fill them, or choose category, suppress or drop"
        )
    if policy is Missing.SUPPRESS:
        return MissingOutcome(everyone, incomplete, 0, count)
    return MissingOutcome(~incomplete, nobody, count, 0)


def _incomplete(frame: pl.DataFrame) -> Mask:
    import numpy as np

    rows = np.zeros(frame.height, np.bool_)
    for series in frame.iter_columns():
        if series.null_count():
            rows |= series.is_null().to_numpy()
    return rows
