"""One declared policy for missing values, the same for method, verifier and metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, shorten
from mahrem.table._schema import Missing
from mahrem.types import Mask


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
        >>> outcome = apply_missing(pl.DataFrame({"age": [34, None]}), Missing.DROP)
        >>> outcome.keep.tolist(), outcome.dropped
        ([True, False], 1)
    """
    everyone = np.ones(frame.height, np.bool_)
    nobody = np.zeros(frame.height, np.bool_)
    if policy is Missing.CATEGORY:
        return MissingOutcome(everyone, nobody, 0, 0)
    incomplete = _incomplete(frame)
    if policy is Missing.DROP_ANY and other is not None:
        incomplete |= _incomplete(other.collect() if isinstance(other, pl.LazyFrame) else other)
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
    rows = np.zeros(frame.height, np.bool_)
    for series in frame.iter_columns():
        if series.null_count():
            rows |= series.is_null().to_numpy()
    return rows
