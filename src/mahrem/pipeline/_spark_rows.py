"""Which rows of a distributed table take part, are dropped, or show nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from mahrem.engines._spark_frame import column
from mahrem.errors import Infeasible, InvalidInput
from mahrem.release import Policy
from mahrem.table import Missing

__all__ = ["SparkRows", "rows_of"]


@dataclass(frozen=True)
class SparkRows:
    """What the policy for missing values makes of a table."""

    part: Any = field(repr=False)  # rows that take part
    hidden: Any = field(repr=False, default=None)  # rows that stay and show nothing; None if there are none
    dropped: int = 0
    suppressed: int = 0


def rows_of(frame: Any, policy: Policy, published: Sequence[str]) -> SparkRows:
    """Apply the policy for missing values; empty text, NaN and the tokens of ``null`` are missing.

    Raises:
        InvalidInput: If there is no row, or values are missing and the policy is ``refuse``.
        Infeasible: If more rows would show nothing than the policy allows.
    """
    from pyspark.sql import functions

    asked = [*policy.quasi, *policy.sensitive]
    kinds = dict(frame.dtypes)
    clean = {name: column(name).cast("string") for name, kind in kinds.items() if kind == "void"}
    clean |= {name: _clean(name, kinds[name], policy) for name in asked if name not in clean}
    frame = frame.select(
        *((clean[name].alias(name) if name in clean else column(name)) for name in frame.columns)
    )
    looked_at = list(published) if policy.missing is Missing.DROP_ANY else asked
    incomplete = reduce(lambda one, other: one | other, [column(name).isNull() for name in looked_at])
    if policy.missing is Missing.CATEGORY:
        return SparkRows(frame)
    rows, holes = frame.agg(functions.count("*"), functions.count_if(incomplete)).first()
    if policy.missing is Missing.REFUSE and holes:
        raise InvalidInput(
            f"missing='refuse': {holes} of {rows} rows lack a value; fill them, or choose category, suppress "
            "or drop"
        )
    if rows == holes:
        raise InvalidInput("the source has no rows to publish")
    if not holes:
        return SparkRows(frame)
    part = frame.where(~incomplete)
    if policy.missing is not Missing.SUPPRESS:
        return SparkRows(part, dropped=holes)
    if policy.suppression_limit is not None and holes / rows > policy.suppression_limit:
        raise Infeasible(
            f"suppression_limit={policy.suppression_limit} is too small: missing values would suppress "
            f"{holes / rows:.4f} of the rows; raise it or choose another --missing",
            reached=holes / rows,
        )
    return SparkRows(part, frame.where(incomplete), suppressed=holes)


def _clean(name: str, kind: str, policy: Policy) -> Any:
    """Give a column with null where a value is missing."""
    from pyspark.sql import functions

    plain = column(name)
    if kind == "string":
        return functions.when(~plain.isin("", *policy.null), plain)
    return functions.when(~functions.isnan(plain), plain) if kind in {"float", "double"} else plain
