"""A silo's own policy, checked against what was agreed before anybody looks at a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mahrem.errors import InvalidParameter
from mahrem.federated.weights._schema import SharedSchema
from mahrem.release.decisions import Policy


def silo_policy(given: Mapping[str, object], schema: SharedSchema) -> dict[str, Any]:
    """Give the policy that a silo anonymises under: as it was said, quasi-identifiers by default all columns.

    Columns that are not learnt from never come near it, so what it says of identifiers and insensitive
    columns among them is left out.

    Raises:
        InvalidParameter: If it promises nothing, or speaks of a column that is not learnt from.

    Example:
        >>> from mahrem.learning.classifiers import DeclaredNumbers
        >>> columns = {"age": DeclaredNumbers(lower=0, upper=99)}
        >>> silo_policy({"k": 3}, SharedSchema(columns=columns, target="ill", classes=("n", "y")))
        {'quasi': ('age',), 'sensitive': 'ill', 'k': 3}
    """
    whole = {"quasi": tuple(schema.columns), "sensitive": schema.target, **given}
    policy = Policy.of(whole)
    if not policy.promises():
        raise InvalidParameter("anonymize: no promise was asked for; say at least k")
    for name in policy.quasi:
        if name not in schema.columns:
            raise InvalidParameter(f"quasi={name!r} is not among the columns to learn from")
    for role in ("identifier", "insensitive"):
        if role in whole:
            whole[role] = tuple(name for name in getattr(policy, role) if name in schema.columns)
    return whole
