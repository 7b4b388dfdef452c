"""One ledger per data set: what is public, what was spent, what is left. All private work pays from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mahrem import check
from mahrem.dp._facts import Facts
from mahrem.dp._fingerprint import fingerprint, place_of, refuse_other
from mahrem.dp._keywords import LedgerKeywords
from mahrem.dp._ledger_settings import LedgerSettings
from mahrem.dp._mark import note_place, note_rows
from mahrem.dp._memory import MemoryStore
from mahrem.dp._relation import Relation, Unit
from mahrem.dp._state import State, fold
from mahrem.dp._store import Record, Store, create_store, open_store
from mahrem.dp._tape import paid
from mahrem.dp.accounting import (
    AttackerGain,
    Cost,
    Event,
    Spend,
    composed_cost,
    composed_gain,
    epsilon_of,
    event_to_dict,
    plain_sum,
    proves,
    pure_epsilon,
    total_cost,
)
from mahrem.errors import PAID, BudgetExceeded, InvalidParameter, in_our_words
from mahrem.notebooks import notebook_table
from mahrem.table import ColumnDeclaration, Reading, hold
from mahrem.table.reading import is_postgresql
from mahrem.words import Note, warn_of

if TYPE_CHECKING:
    from altair.typing import ChartType

ROUNDING = 1e-9  # a total of 1 covers ten times 0.1
_MOMENTS = 40  # drawn over time, at most


class Ledger:
    """The privacy budget of one data set.

    Make one with :meth:`create`, :meth:`open` it later, or try things with :meth:`temporary`.

    Guarantees:
        - The events of a ledger never cost more than its total by the rule it was made with, whoever spends
          at the same time.
        - A spend is on disk before anything it pays for is computed; a crash loses no accounting.
        - A line that was edited, removed or reordered, and an old copy put back, are refused.

    Example:
        >>> from mahrem.dp.accounting import Pure
        >>> ledger = Ledger.temporary(epsilon=1.0)
        >>> _ = ledger.spend(Pure(0.4), what="count()")
        >>> round(ledger.remaining().epsilon, 3)
        0.6
    """

    def __init__(self, store: Store | MemoryStore) -> None:
        self._store = store
        self._known: State | None = None
        state = self._state(store.records())
        self._data = state.header["data"]
        self.relation = Relation(state.header["relation"])
        self.unit = Unit.from_dict(state.header["unit"])
        self.epsilon = float(state.header["epsilon"])
        self.delta = float(state.header["delta"])
        self.composition = str(state.header.get("composition", "pld"))
        self._fixed = bool(state.header.get("fixed", False))

    def __repr__(self) -> str:
        name = "in memory" if self.path is None else repr(self.path.name)
        return f"<ledger {name}, epsilon={self.epsilon:g}, delta={self.delta:g}, {self.relation}>"

    def __deepcopy__(self, memo: object) -> Ledger:
        """Give itself: a copied model, or a search's clone, pays from the same budget."""
        return self

    def __copy__(self) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by place alone; a ledger in memory has none, and a second one would spend twice."""
        if self.path is None:
            raise TypeError("a ledger in memory cannot be stored or sent elsewhere; make one in a file")
        return Ledger.open, (self.path.resolve(),)

    @classmethod
    @in_our_words
    def create(
        cls,
        path: str | Path,
        source: object,
        *,
        epsilon: float,
        reading: Reading | None = None,
        **settings: Unpack[LedgerKeywords],
    ) -> Ledger:
        """Make a ledger for a data set; its key lies beside it and must stay private.

        Args:
            path: A file that is not there yet.
            source: The table: file, frame or database.
            epsilon: The total.
            reading: How to read the source.
            **settings: The promise and what is public: every name of :class:`LedgerKeywords`.
        """
        from mahrem.dp._sources import names_and_reading

        header = LedgerSettings.of(epsilon, settings).header()
        source = hold(source)
        names, how = names_and_reading(source, reading or Reading())
        if isinstance(source, str | PathLike):  # of a file; others come as they are
            header["facts"] = replace(Facts.from_dict(header["facts"]), reading=how).as_dict()
        public, person = header["facts"]["columns"], header["unit"]["subject"]
        check.columns_exist([*public, *([] if person is None else [person])], names)
        store = create_store(
            Path(path), "ledger", lambda key: {**header, "data": fingerprint(source, how, names, key)}
        )
        place = place_of(source, how)
        paid_there = place is not None and note_place(store.key, place)
        if _paid_elsewhere(store.key, source, how) or paid_there:
            warn_of(Note("warning.second_ledger"), stacklevel=3)
        return cls(store)

    @classmethod
    @in_our_words
    def open(cls, path: str | Path) -> Ledger:
        """Open a ledger and check every line of it."""
        return cls(open_store(Path(path)))

    @classmethod
    def of(cls, ledger: str | Path | Ledger) -> Ledger:
        """Give a ledger as it is, or open the one that lies there."""
        return ledger if isinstance(ledger, Ledger) else cls.open(ledger)

    @classmethod
    def paying(cls, *given: str | Path | Ledger | None) -> Ledger:
        """Give the one ledger that pays: a model may be told it when it is made, or when it is fitted.

        Raises:
            InvalidParameter: If nobody named one, or two different ones were named.
        """
        named = [one for one in given if one is not None]
        if not named:
            raise InvalidParameter("ledger: nobody pays; name one when the model is made, or in fit")
        books = [cls.of(one) for one in named]
        if any(book is not books[0] and (book.path is None or book.path != books[0].path) for book in books):
            raise InvalidParameter("ledger: the model was made with another one; name it once")
        return books[0]

    @classmethod
    def temporary(cls, *, epsilon: float, **settings: Unpack[LedgerKeywords]) -> Ledger:
        """Make a ledger in memory, for tests and simulations: it forgets, and it takes any data."""
        header = LedgerSettings.of(epsilon, settings).header()
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
        own = 0.0 if pure is not None else check.finite(delta=delta)
        if epsilon is None:
            alone = epsilon_of(event, own, self.relation)
        else:
            alone = check.at_least(0, epsilon=check.finite(epsilon=epsilon))
            if not proves(event, alone, own) and epsilon_of(event, own, self.relation) > alone:
                raise InvalidParameter(f"epsilon={epsilon:g} is less than the event costs at delta={own:g}")
        new = Spend(event, alone, own)

        def decide(records: list[Record]) -> Mapping[str, object]:
            state = self._state(records)
            before = state.spends
            if self._fixed:
                state.refuse_unplanned(event)
            else:
                self._refuse_overspend(before, new)
            return {"what": what, "epsilon": alone, "delta": own, "event": event_to_dict(event)}

        record = self._store.append("spend", decide)
        paid(new)
        return record

    def fix(self, events: Sequence[Event]) -> Record:
        """Fix all that will ever be paid for, in this order, before any of it; some of it may be left out.

        Only a ledger with ``composition="pld"`` takes a plan, and nothing else: the tightest bound holds for
        costs that no answer had a say in.

        Raises:
            BudgetExceeded: If the whole plan does not fit.
            InvalidParameter: If the ledger adds up in another way, or has a plan already.
        """
        if not self._fixed:
            raise InvalidParameter(f"composition={self.composition!r}: this ledger takes costs as they come")
        if not events:
            raise InvalidParameter("events=[]: a plan has at least one")
        planned = [Spend(event, epsilon_of(event, self.delta, self.relation), self.delta) for event in events]

        def decide(records: list[Record]) -> Mapping[str, object]:
            if self._state(records).plan is not None:
                raise InvalidParameter("this ledger has a plan already; it cannot be changed")
            self._refuse_overspend(planned[:-1], planned[-1])
            return {"events": [event_to_dict(event) for event in events]}

        return self._store.append("plan", decide)

    @contextmanager
    def cost_told(self) -> Iterator[None]:
        """Let whatever goes wrong in the block, or stops it, say what was paid by then."""
        before = len(self._store.records())
        try:
            yield
        except BaseException as error:
            lines = self._store.records()[before:]
            costs = [f"epsilon={line.body['epsilon']:.4g}" for line in lines if line.kind == "spend"]
            if costs:
                error.add_note(f"{PAID}: {', '.join(costs)}")
            raise

    def _refuse_overspend(self, before: Sequence[Spend], new: Spend) -> None:
        if self.delta == 0 and new.delta > 0:
            raise BudgetExceeded("delta=0 is this ledger's total; only pure noise (laplace) can be used")
        added = plain_sum([*before, new], self.delta)
        if self.composition in {"sum", "pld"} and added <= self.epsilon * (1 + ROUNDING):
            return  # distributions can only say less
        cost = self._cost([*before, new])
        if cost.epsilon > self.epsilon * (1 + ROUNDING):
            spent = self._cost(before).epsilon
            if math.isinf(cost.epsilon):
                raise BudgetExceeded(
                    f"delta={new.delta:g} does not fit beside what was spent; a filter keeps a tenth of the "
                    f"ledger's delta={self.delta:g} to itself: name a smaller one, or make the ledger with "
                    f"composition='sum'; nothing was computed"
                )
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

    def declare(self, name: str, column: ColumnDeclaration) -> Record:
        """Add a public fact; it must come from outside the data or have been paid for."""
        return self._store.append("fact", lambda _: {"column": name, "known": column.as_dict()})

    def note_audit(self, what: str, *, claimed: float, at_least: float, **figures: float) -> Record:
        """Note what an attack on something that was paid for showed; told are paid answers, so it is free.

        Args:
            what: What was attacked; it must be public.
            claimed: The epsilon that was promised for it.
            at_least: What the attack proves epsilon to be at least.
            **figures: How sure that is and what else belongs to it, as ``confidence`` and ``ceiling``.
        """
        body = {"what": what, "claimed": claimed, "at_least": at_least, **figures}
        return self._store.append("audit", lambda _: body)

    def audits(self) -> list[dict[str, Any]]:
        """List what attacks showed so far; empty where nobody tried."""
        return [dict(record.body) for record in self._store.records() if record.kind == "audit"]

    def spent(self, *, cross_check: bool = False) -> Cost:
        """Say what all events so far cost together, at the ledger's delta."""
        return self._shown_cost(self._state(self._store.records()).spends, cross_check=cross_check)

    def _shown_cost(self, spends: Sequence[Spend], *, cross_check: bool = False) -> Cost:
        """Say what spends cost: a single one what it was proven to, more by the ledger's rule."""
        cost = self._cost(spends, cross_check=cross_check)
        if len(spends) != 1 or self.delta == 0:
            return cost
        alone = composed_cost(spends, self.delta, self.relation).epsilon
        return replace(cost, epsilon=min(cost.epsilon, alone))

    def _cost(self, spends: Sequence[Spend], *, cross_check: bool = False) -> Cost:
        return total_cost(
            self.composition,
            spends,
            self.delta,
            self.relation,
            total=self.epsilon,
            cross_check=cross_check,
        )

    def _repr_html_(self) -> str:
        spent, left = self.spent(), self.remaining()
        rows = (
            ("total", self.epsilon, self.delta),
            ("spent", spent.epsilon, spent.delta),
            ("left", left.epsilon, left.delta),
        )
        return notebook_table("privacy ledger", ("", "epsilon", "delta"), rows)

    def plot(self, *, language: str = "en") -> ChartType:
        """Draw the budget over time, and what all answers let somebody find, as a chart of Altair."""
        from mahrem.charts import as_chart, draw_budget

        return as_chart(draw_budget(self._spent_by(), self.epsilon, self.gain().curve, language))

    def _spent_by(self) -> list[tuple[str, float]]:
        """Say when something was paid and what all of it cost by then, from the first line on."""
        records = self._store.records()
        spends = self._state(records).spends
        times = [record.time for record in records if record.kind == "spend"]
        # Composing takes time; many answers are drawn at evenly spread moments, the last among them.
        drawn = {len(spends) - step * len(spends) // _MOMENTS for step in range(_MOMENTS)} - {0}
        costs = ((times[paid - 1], self._shown_cost(spends[:paid]).epsilon) for paid in sorted(drawn))
        return [(records[0].time, 0.0), *costs]

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

    def gain(self) -> AttackerGain:
        """Say what all answers so far let the best attack on one person gain."""
        spends = self._state(self._store.records()).spends
        return composed_gain(spends, self._shown_cost(spends).epsilon, self.delta, self.relation)

    def data_sheet(self, deltas: Iterable[float] = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)) -> dict[str, Any]:
        """Say everything that may be published about the promise: relation, unit, facts, cost, curve."""
        records = self._store.records()
        state = self._state(records)
        cost = self._shown_cost(state.spends, cross_check=self.delta > 0)
        curve = {
            f"{delta:g}": cost_then
            if math.isfinite(cost_then)
            else None  # deltas of events do not fit in there
            for delta in sorted(deltas)
            for cost_then in [composed_cost(state.spends, delta, self.relation).epsilon]
        }
        return {
            "relation": str(self.relation),
            "unit": self.unit.as_dict(),
            "public": state.facts.as_dict(),
            "total": {"epsilon": self.epsilon, "delta": self.delta},
            "composition": self.composition,
            "spent": {"epsilon": cost.epsilon, "pld": cost.pld, "basic": cost.basic, "rdp": cost.rdp},
            "remaining": {"epsilon": max(0.0, self.epsilon - cost.epsilon), "delta": self.delta},
            "curve": curve,
            "events": len(state.spends),
            "mechanisms": sorted({name for spend in state.spends for name in _names(spend.event)}),
            "since": records[0].time,
            "seal": records[-1].seal,
        }

    def _state(self, records: Sequence[Record]) -> State:
        self._known = fold(records, self._known)
        return self._known


def _paid_elsewhere(key: bytes, source: object, how: Reading) -> bool:
    """Say whether rows like these have paid from another ledger, wherever they lie; a server is not asked."""
    from mahrem.dp._sources import every_row

    return not is_postgresql(source) and note_rows(key, every_row(source, how))


def _names(event: Event) -> set[str]:
    inner = getattr(event, "events", None) or ((event.event,) if hasattr(event, "event") else ())
    return {name for part in inner for name in _names(part)} or {type(event).__name__}
