"""What the lines of a ledger say together. A ledger grows at its end, so only new lines are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.dp._facts import Facts
from mahrem.dp._store import Record
from mahrem.dp.accounting import Event, Spend, event_from_dict
from mahrem.errors import BudgetExceeded, InvalidParameter, Tampered
from mahrem.table import ColumnDeclaration


@dataclass(frozen=True)
class State:
    """The first line, the public facts and the spends, as far as ``lines`` lines of a ledger."""

    header: Mapping[str, Any]
    facts: Facts
    spends: tuple[Spend, ...]
    lines: int
    seal: str
    plan: tuple[Event, ...] | None = None

    def refuse_unplanned(self, event: Event) -> None:
        """Refuse what is not next in the plan, or later."""
        if self.plan is None:
            raise InvalidParameter(
                "composition='pld' is proven for costs fixed in advance: fix the plan first (Ledger.fix), or "
                "make the ledger with composition='filter'"
            )
        rest = iter(self.plan)
        known = all(any(spend.event == planned for planned in rest) for spend in self.spends)
        if not known or event not in rest:
            raise BudgetExceeded("this is not what the fixed plan of the ledger has next; nothing was spent")


def fold(records: Sequence[Record], before: State | None = None) -> State:
    """Read lines; ``before`` is what an earlier call gave for the first of them.

    Guarantees:
        - The same as without ``before``, whatever that was made from.
    """
    if before is None or len(records) < before.lines or records[before.lines - 1].seal != before.seal:
        first = records[0]
        before = State(first.body, Facts.from_dict(first.body["facts"]), (), 1, first.seal)
    facts, spends, plan = before.facts, list(before.spends), before.plan
    for record in records[before.lines :]:
        body = record.body
        if record.kind == "spend":
            spends.append(Spend(event_from_dict(body["event"]), body["epsilon"], body["delta"]))
        elif record.kind == "plan":
            plan = tuple(event_from_dict(event) for event in body["events"])
        elif record.kind == "fact":
            facts = facts.with_column(body["column"], ColumnDeclaration.from_dict(body["known"]))
        elif record.kind != "audit":  # what an attack showed changes nothing
            raise Tampered(f"ledger: a line of kind {record.kind!r} is not known to this version")
    return State(before.header, facts, tuple(spends), len(records), records[-1].seal, plan)
