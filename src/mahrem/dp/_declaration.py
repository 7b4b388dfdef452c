"""What a ledger declares when it is made: the budget, who is protected, and what is public."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any

from mahrem import check
from mahrem.dp._composition import COMPOSITIONS
from mahrem.dp._facts import Facts, PublicColumn
from mahrem.dp._relation import Relation, Unit
from mahrem.errors import InvalidParameter, PrivacyWarning

__all__ = ["check_budget", "header_of", "warn_of_large_delta"]

LEAST_DELTA = 1e-50  # far above where tails of Gaussian noise are cut off


def check_budget(epsilon: float, delta: float) -> tuple[float, float]:
    """Refuse an epsilon or delta that promises nothing."""
    check.above_zero(epsilon=epsilon)
    if check.finite(delta=delta) < 0 or delta >= 1:
        raise InvalidParameter(f"delta={delta!r} must be at least 0 and below 1")
    if 0 < delta < LEAST_DELTA:
        raise InvalidParameter(f"delta={delta!r} is as good as 0: take 0, or {LEAST_DELTA:g} and more")
    return float(epsilon), float(delta)


def warn_of_large_delta(delta: float, rows: int, *, stacklevel: int = 2) -> None:
    """Warn of a delta that a mechanism keeps which publishes a row now and then."""
    if delta >= 1 / rows:
        warnings.warn(
            f"delta={delta:g} is not below 1/rows={1 / rows:.2g}: publishing one person's row outright would "
            f"be allowed; choose a far smaller delta",
            PrivacyWarning,
            stacklevel=stacklevel,
        )


def header_of(
    epsilon: float,
    delta: float,
    relation: str,
    subject: Hashable | None,
    rows_per_person: int,
    columns: Mapping[Any, PublicColumn | Mapping[str, Any]] | None,
    rows: int | None,
    composition: str,
) -> dict[str, Any]:
    """Check what is declared, warn of what promises too little, and give the first line of a ledger."""
    epsilon, delta = check_budget(epsilon, delta)
    kind = check.one_of([str(one) for one in Relation], relation=relation)
    person = None if subject is None else check.column_name(subject=subject)
    unit = Unit(subject=person, rows=rows_per_person)
    public = check.by_column(columns or {}, where="columns")
    facts = Facts(columns={name: _column(name, said) for name, said in public.items()}, rows=rows)
    if rows is not None:
        warn_of_large_delta(delta, rows, stacklevel=4)
    if epsilon > 20:
        warnings.warn(
            f"epsilon={epsilon:g} promises next to nothing; 1 is common, 10 is weak",
            PrivacyWarning,
            stacklevel=3,
        )
    return {
        "relation": kind,
        "unit": unit.as_dict(),
        "epsilon": epsilon,
        "delta": delta,
        "composition": check.one_of(COMPOSITIONS, composition=composition),
        "facts": facts.as_dict(),
    }


def _column(name: str, said: PublicColumn | Mapping[str, Any]) -> PublicColumn:
    if isinstance(said, PublicColumn):
        return said
    check.unknown_keys(said, ("lower", "upper", "missing", "categories"), where=f"columns.{name}")
    try:
        return PublicColumn(**said)
    except InvalidParameter as error:
        raise InvalidParameter(f"column={name!r}: {error}") from None
