"""One ledger per data set: what is public, what was spent, what is left. All private work pays from it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.dp._accounting import Cost, Spend, composed_cost, epsilon_of, plain_sum
from mahrem.dp._events import Event, event_from_dict, event_to_dict, pure_epsilon
from mahrem.dp._facts import Facts, PublicColumn
from mahrem.dp._fingerprint import fingerprint, refuse_other
from mahrem.dp._memory import MemoryStore
from mahrem.dp._relation import Relation, Unit
from mahrem.dp._store import Record, Store, create_store, open_store
from mahrem.dp._tape import paid
from mahrem.errors import BudgetExceeded, InvalidParameter, PrivacyWarning, Tampered
from mahrem.table import Reading

__all__ = ["Ledger", "check_budget"]

ROUNDING = 1e-9  # a total of 1 covers ten times 0.1


def check_budget(epsilon: float, delta: float) -> tuple[float, float]:
    """Refuse an epsilon or delta that promises nothing."""
    if check.finite(epsilon=epsilon) <= 0:
        raise InvalidParameter(f"epsilon={epsilon!r} must be above 0")
    if check.finite(delta=delta) < 0 or delta >= 1:
        raise InvalidParameter(f"delta={delta!r} must be at least 0 and below 1")
    return float(epsilon), float(delta)


@dataclass(frozen=True)
class _State:
    """What the lines of a ledger say together."""

    header: Mapping[str, Any]
    facts: Facts
    spends: tuple[Spend, ...]


class Ledger:
    """The privacy budget of one data set.

    Make one with :meth:`create`, :meth:`open` it later, or try things with :meth:`temporary`.

    Guarantees:
        - The events of a ledger never cost more than its total, whoever spends at the same time.
        - A spend is on disk before anything it pays for is computed; a crash loses no accounting.
        - A line that was edited, removed or reordered, and an old copy put back, are refused.

    Example:
        >>> from mahrem.dp import Pure
        >>> ledger = Ledger.temporary(epsilon=1.0)
        >>> _ = ledger.spend(Pure(0.4), what="count()")
        >>> round(ledger.remaining().epsilon, 3)
        0.6
    """

    def __init__(self, store: Store | MemoryStore) -> None:
        self._store = store
        state = self._state(store.records())
        self._data = state.header["data"]
        self.relation = Relation(state.header["relation"])
        self.unit = Unit.from_dict(state.header["unit"])
        self.epsilon = float(state.header["epsilon"])
        self.delta = float(state.header["delta"])

    def __repr__(self) -> str:
        name = "in memory" if self.path is None else repr(self.path.name)
        return f"<ledger {name}, epsilon={self.epsilon:g}, delta={self.delta:g}, {self.relation}>"

    @classmethod
    def create(
        cls,
        path: str | Path,
        source: object,
        *,
        epsilon: float,
        delta: float = 0.0,
        relation: str = "add-remove",
        subject: str | None = None,
        rows_per_person: int = 1,
        columns: Mapping[str, PublicColumn | Mapping[str, Any]] | None = None,
        rows: int | None = None,
        reading: Reading | None = None,
    ) -> Ledger:
        """Make a ledger for a data set; its key lies beside it and must stay private.

        Args:
            path: A file that is not there yet.
            source: The table: file, frame or database.
            epsilon: The total.
            delta: The total; 0 admits only pure noise.
            relation: ``add-remove`` or ``replace``.
            subject: The column that says whose row it is; None protects single rows.
            rows_per_person: So many rows of a person are used at most.
            columns: Public facts: ``{"cost": {"lower": 0, "upper": 9000}, "sex": {"categories": ["f"]}}``.
            rows: How many rows there are, if that is public.
            reading: How to read the source.
        """
        from mahrem.dp._sources import column_names

        header = _header(epsilon, delta, relation, subject, rows_per_person, columns, rows)
        how = reading or Reading()
        names = column_names(source, how)
        public = header["facts"]["columns"]
        check.columns_exist([*public, *([] if subject is None else [subject])], names)
        store = create_store(
            Path(path), "ledger", lambda key: {**header, "data": fingerprint(source, how, names, key)}
        )
        return cls(store)

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """Open a ledger and check every line of it."""
        return cls(open_store(Path(path)))

    @classmethod
    def temporary(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        relation: str = "add-remove",
        subject: str | None = None,
        rows_per_person: int = 1,
        columns: Mapping[str, PublicColumn | Mapping[str, Any]] | None = None,
        rows: int | None = None,
    ) -> Ledger:
        """Make a ledger in memory, for tests and simulations: it forgets, and it takes any data."""
        header = _header(epsilon, delta, relation, subject, rows_per_person, columns, rows)
        return cls(MemoryStore({**header, "data": None}))

    @property
    def path(self) -> Path | None:
        """Where it lies; None in memory."""
        return self._store.path if isinstance(self._store, Store) else None

    @property
    def facts(self) -> Facts:
        """What is public now, found bounds included."""
        return self._state(self._store.records()).facts

    def refuse_other(self, source: object, reading: Reading, columns: Sequence[str]) -> None:
        """Refuse data this ledger was not made for."""
        if isinstance(self._store, Store):
            refuse_other(self._data, source, reading, columns, self._store.key)

    def spend(self, event: Event, *, what: str, delta: float = 0.0, epsilon: float | None = None) -> Record:
        """Pay for one event, before anything is computed.

        Args:
            event: What will happen.
            what: What it is for; shown in the history, so it must be public.
            delta: The delta at which the event's own epsilon is noted; 0 for pure events.
            epsilon: What the event is proven to cost alone, if that is known more exactly.

        Raises:
            BudgetExceeded: It does not fit; nothing was spent.
        """
        pure = pure_epsilon(event)
        own = 0.0 if pure is not None else delta
        alone = epsilon_of(event, own, self.relation)
        if epsilon is not None:
            slack = 1e-9 if pure is not None else 1e-2  # distributions are discretised, from above
            if alone > epsilon * (1 + slack):
                raise InvalidParameter(f"epsilon={epsilon:g} is less than the event costs ({alone:.4g})")
            alone = epsilon
        new = Spend(event, alone, own)

        def decide(records: list[Record]) -> Mapping[str, Any]:
            before = self._state(records).spends
            self._refuse_overspend(before, new)
            return {"what": what, "epsilon": alone, "delta": own, "event": event_to_dict(event)}

        record = self._store.append("spend", decide)
        paid(new)
        return record

    def _refuse_overspend(self, before: Sequence[Spend], new: Spend) -> None:
        if self.delta == 0 and new.delta > 0:
            raise BudgetExceeded("delta=0 is this ledger's total; only pure noise (laplace) can be used")
        if plain_sum([*before, new], self.delta) <= self.epsilon * (1 + ROUNDING):
            return  # the finer bound can only be smaller
        cost = composed_cost([*before, new], self.delta, self.relation)
        if cost.epsilon > self.epsilon * (1 + ROUNDING):
            spent = composed_cost(before, self.delta, self.relation).epsilon
            raise BudgetExceeded(
                f"epsilon={new.epsilon:g} does not fit: {spent:.4g} of {self.epsilon:g} is spent, and with "
                f"it {cost.epsilon:.4g} would be (delta={self.delta:g}); nothing was computed"
            )

    def fits(self, event: Event, *, epsilon: float, delta: float = 0.0) -> bool:
        """Say whether an event could be paid for now; nothing is spent."""
        own = 0.0 if pure_epsilon(event) is not None else delta
        try:
            self._refuse_overspend(self._state(self._store.records()).spends, Spend(event, epsilon, own))
        except BudgetExceeded:
            return False
        return True

    def declare(self, name: str, column: PublicColumn) -> Record:
        """Add a public fact; it must come from outside the data or have been paid for."""
        return self._store.append("fact", lambda _: {"column": name, "known": column.as_dict()})

    def spent(self, *, cross_check: bool = False) -> Cost:
        """Say what all events so far cost together, at the ledger's delta."""
        spends = self._state(self._store.records()).spends
        return composed_cost(spends, self.delta, self.relation, cross_check=cross_check)

    def remaining(self) -> Cost:
        """Say what is left; composition is better than addition, so often more fits than this."""
        left = max(0.0, self.epsilon - self.spent().epsilon)
        return Cost(epsilon=left, delta=self.delta, pld=None, basic=None)

    def history(self) -> list[dict[str, Any]]:
        """List every line after the first, as plain data."""
        return [
            {"sequence": record.sequence, "time": record.time, "kind": record.kind, **record.body}
            for record in self._store.records()[1:]
        ]

    def data_sheet(self, deltas: Iterable[float] = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)) -> dict[str, Any]:
        """Say everything that may be published about the promise: relation, unit, facts, cost, curve."""
        records = self._store.records()
        state = self._state(records)
        cost = composed_cost(state.spends, self.delta, self.relation, cross_check=self.delta > 0)
        curve = {
            f"{delta:g}": composed_cost(state.spends, delta, self.relation).epsilon
            for delta in sorted(deltas)
        }
        return {
            "relation": str(self.relation),
            "unit": self.unit.as_dict(),
            "public": state.facts.as_dict(),
            "total": {"epsilon": self.epsilon, "delta": self.delta},
            "spent": {"epsilon": cost.epsilon, "pld": cost.pld, "basic": cost.basic, "rdp": cost.rdp},
            "remaining": {"epsilon": max(0.0, self.epsilon - cost.epsilon), "delta": self.delta},
            "curve": curve,
            "events": len(state.spends),
            "mechanisms": sorted({name for spend in state.spends for name in _names(spend.event)}),
            "since": records[0].time,
            "seal": records[-1].seal,
        }

    @staticmethod
    def _state(records: Sequence[Record]) -> _State:
        header = records[0].body
        facts = Facts.from_dict(header["facts"])
        spends = []
        for record in records[1:]:
            if record.kind == "spend":
                body = record.body
                spends.append(Spend(event_from_dict(body["event"]), body["epsilon"], body["delta"]))
            elif record.kind == "fact":
                facts = facts.with_column(record.body["column"], PublicColumn(**record.body["known"]))
            else:
                raise Tampered(f"ledger: a line of kind {record.kind!r} is not known to this version")
        return _State(header, facts, tuple(spends))


def _names(event: Event) -> set[str]:
    inner = getattr(event, "events", None) or ((event.event,) if hasattr(event, "event") else ())
    return {name for one in inner for name in _names(one)} or {type(event).__name__}


def _header(
    epsilon: float,
    delta: float,
    relation: str,
    subject: str | None,
    rows_per_person: int,
    columns: Mapping[str, PublicColumn | Mapping[str, Any]] | None,
    rows: int | None,
) -> dict[str, Any]:
    epsilon, delta = check_budget(epsilon, delta)
    kind = check.one_of([str(one) for one in Relation], relation=relation)
    unit = Unit(subject=subject, rows=rows_per_person)
    facts = Facts(columns={name: _column(name, said) for name, said in (columns or {}).items()}, rows=rows)
    if rows is not None and delta >= 1 / rows:
        warnings.warn(
            f"delta={delta:g} is not below 1/rows={1 / rows:.2g}: publishing one person's row outright would "
            f"be allowed; choose a far smaller delta",
            PrivacyWarning,
            stacklevel=3,
        )
    if not math.isfinite(epsilon) or epsilon > 20:
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
