"""What a ledger declares when it is made, each setting said once: the total, the promise, what is public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mahrem import check
from mahrem.dp._facts import Facts
from mahrem.dp._relation import Relation, Unit
from mahrem.errors import InvalidParameter
from mahrem.readers import column
from mahrem.settings import number, read_settings, setting, settings_of, text, whole
from mahrem.table import ColumnDeclaration, read_declarations
from mahrem.words import Note, warn_of

COMPOSITIONS = ("filter", "zcdp", "sum", "pld")  # how costs add up
LEAST_DELTA = 1e-50  # far above where tails of Gaussian noise are cut off


def check_budget(epsilon: float, delta: float) -> tuple[float, float]:
    """Refuse an epsilon or delta that promises nothing."""
    check.promised(epsilon=epsilon)
    if check.finite(delta=delta) < 0 or delta >= 1:
        raise InvalidParameter(f"delta={delta!r} must be at least 0 and below 1")
    if 0 < delta < LEAST_DELTA:
        raise InvalidParameter(f"delta={delta!r} is as good as 0: take 0, or {LEAST_DELTA:g} and more")
    return float(epsilon), float(delta)


def warn_of_large_delta(delta: float, rows: int, *, stacklevel: int = 2) -> None:
    """Warn of a delta that a mechanism keeps which publishes a row now and then."""
    if delta >= 1 / rows:
        values = {"delta": f"{delta:g}", "most": f"{1 / rows:.2g}"}
        warn_of(Note("warning.large_delta", values), stacklevel=stacklevel)


def _columns(_: str, given: Mapping[Any, Any]) -> dict[str, ColumnDeclaration]:
    columns = read_declarations(given)
    for name, declared in columns.items():
        if declared.categories:
            from mahrem.dp._public_cells import refuse_one_value_twice

            refuse_one_value_twice(name, declared.categories)
    return columns


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    """The total of a ledger, the promise it counts by, and what is public.

    ``epsilon`` is the total, and no setting: who makes a ledger must name it.
    """

    epsilon: float
    delta: float = setting(0.0, read=number.within(0, 1), group="budget", metavar="X")
    composition: str = setting(
        "filter", read=text, group="budget", metavar="NAME", choices=lambda: COMPOSITIONS
    )
    relation: str = setting(
        "add-remove", read=text, group="promise", metavar="NAME", choices=lambda: tuple(map(str, Relation))
    )
    subject: str | None = setting(read=column, group="promise", metavar="COL")
    rows_per_person: int = setting(1, read=whole.within(1), group="promise", metavar="N")
    columns: Mapping[str, ColumnDeclaration] = setting(
        dict,
        read=_columns,
        takes="Mapping[Any, ColumnDeclaration | Mapping[str, Any]] | None",
        group="public",
        metavar="COL=…",
        repeats=True,
    )
    rows: int | None = setting(read=whole.within(1), group="public", metavar="N")

    @classmethod
    def of(cls, epsilon: float, given: Mapping[str, object]) -> LedgerSettings:
        """Read what was said by name."""
        return cls(epsilon=epsilon, **read_settings(settings_of(LedgerSettings), given))

    def header(self) -> dict[str, Any]:
        """Refuse what promises nothing, warn of what promises too little, and give the first line."""
        epsilon, delta = check_budget(self.epsilon, self.delta)
        unit = Unit(subject=self.subject, rows=self.rows_per_person)
        facts = Facts(columns=self.columns, rows=self.rows)
        if self.rows is not None:
            warn_of_large_delta(delta, self.rows, stacklevel=4)
        if epsilon > 20:
            warn_of(Note("warning.large_epsilon", {"epsilon": f"{epsilon:g}"}), stacklevel=3)
        return {
            "relation": self.relation,
            "unit": unit.as_dict(),
            "epsilon": epsilon,
            "delta": delta,
            "composition": self.composition,
            "fixed": self.composition == "pld",
            "facts": facts.as_dict(),
        }
