"""Which rows of a distributed table take part, are dropped, or show nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidInput
from mahrem.release.decisions import Policy, refuse_beyond_limit
from mahrem.spark._frame import NUMBERS, column
from mahrem.table import Missing
from mahrem.table.reading import number_tokens

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class ClusterRows:
    """What the policy for missing values makes of a table."""

    part: DataFrame = field(repr=False)  # rows that take part
    hidden: DataFrame | None = field(
        repr=False, default=None
    )  # rows that stay and show nothing; None if there are none
    published: Mapping[str, str] = field(default_factory=dict)  # where sensitive columns stand as they came
    dropped: int = 0
    suppressed: int = 0


def rows_taking_part(frame: DataFrame, policy: Policy, published: Sequence[str]) -> ClusterRows:
    """Apply the policy for missing values; empty text, NaN and the tokens of ``null`` are missing.

    Quasi-identifiers and sensitive columns hold null there. What sensitive columns publish is left as it came
    in columns of its own.

    Raises:
        InvalidInput: If there is no row, or values are missing and the policy is ``refuse``.
        Infeasible: If more rows would show nothing than the policy allows.
    """
    from pyspark.sql import functions

    asked = [*policy.quasi, *policy.sensitive]
    kinds = dict(frame.dtypes)
    texts = {name: column(name).cast("string") for name, kind in kinds.items() if kind == "void"}
    frame = frame.select(*(texts.get(name, column(name)).alias(name) for name in frame.columns))
    kinds |= dict.fromkeys(texts, "string")
    as_came = {name: f"__o{place}" for place, name in enumerate(policy.sensitive)}
    frame = frame.select(
        *(
            clean_on_spark(name, kinds[name], policy.null).alias(name) if name in asked else column(name)
            for name in frame.columns
        ),
        *(column(name).alias(where) for name, where in as_came.items()),
    )
    looked_at = list(published) if policy.missing is Missing.DROP_ANY else asked
    incomplete = reduce(
        lambda one, other: one | other,
        [clean_on_spark(name, kinds[name], policy.null).isNull() for name in looked_at],
    )
    if policy.missing is Missing.CATEGORY:
        return ClusterRows(frame, published=as_came)
    counted: Any = frame.agg(functions.count("*"), functions.count_if(incomplete)).first()
    rows, holes = counted
    if policy.missing is Missing.REFUSE and holes:
        raise InvalidInput(
            f"missing='refuse': {holes} of {rows} rows lack a value; fill them, or choose category, suppress "
            "or drop"
        )
    if rows == holes:
        raise InvalidInput("the source has no rows to publish")
    if not holes:
        return ClusterRows(frame, published=as_came)
    part = frame.where(~incomplete)
    if policy.missing is not Missing.SUPPRESS:
        return ClusterRows(part, published=as_came, dropped=holes)
    refuse_beyond_limit(holes / rows, policy)
    return ClusterRows(part, frame.where(incomplete), as_came, suppressed=holes)


def clean_on_spark(name: str, kind: str, null: Sequence[str]) -> SparkColumn:
    """Give a column with null where a value is missing, as :func:`mahrem.table.cleaned` does."""
    from pyspark.sql import functions

    plain = column(name)
    if kind.startswith(("string", "varchar", "char")):
        return functions.when(~plain.isin("", *null), plain)
    if not kind.startswith(NUMBERS):
        return plain
    present = ~functions.isnan(plain) if kind in {"float", "double"} else plain.isNotNull()
    tokens = number_tokens(null)
    return functions.when(present & ~plain.isin(*tokens) if tokens else present, plain)
