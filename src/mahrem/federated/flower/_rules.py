"""Rules over real processes: a client's answers with its protections, and models read without dummies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.rules import (
    Disguise,
    ItemTable,
    RulesProtection,
    RulesSilo,
    agreed_client,
    perturb_rules,
)
from mahrem.federated.wire import Answerer, read_secret
from mahrem.learning.rules import RuleList
from mahrem.table import Reading, open_source

if TYPE_CHECKING:
    from mahrem.dp import Ledger

__all__ = ["RuleClient", "disguised_rules", "noisy_rules", "reveal_model"]


@dataclass(frozen=True, kw_only=True)
class RuleClient:
    """What one client does about its rules and counts before they leave; see :func:`join_federation`."""

    sum_secret: Path | None = None
    least_count: int | None = None
    epsilon: float | None = None
    ledger: Path | None = None
    disguise: Path | None = None
    dummies: float = 1.0

    def answerer(self, member: FederationMember) -> tuple[Answerer, str]:
        """Make the client of a table, and say what it has; what is wrong with the table is said now."""
        federation, source, reading = member.federation, member.source, member.reading
        schema, plan = federation.rules()
        cells, columns = _cells(federation, source, reading)
        noisy = noisy_rules(
            federation,
            self.epsilon,
            self.ledger,
            lambda book: book.refuse_other(source, reading, columns),
        )
        silo = RulesSilo(
            cells,
            target=schema.target,
            protect=disguised_rules(federation, self.disguise, self.dummies, noisy),
            least_count=max(plan.least_count, self.least_count or 1),
        )
        secret = None if self.sum_secret is None else read_secret(self.sum_secret)
        made = agreed_client(
            plan, schema, member.name, silo, secret=secret, sign=member.sign, verify=member.verify
        )
        return made, f"{silo.table.bits.rows:,} rows"


def _cells(
    federation: Federation, source: object, reading: Reading | None
) -> tuple[pl.DataFrame, Sequence[str]]:
    """Give the agreed columns of a table, in bins, and the names of all it has."""
    schema, _ = federation.rules()
    opened = open_source(source, reading)
    there = [column for column in (*schema.columns, schema.target) if column in opened.columns]
    return schema.cells(opened.take(there)), opened.columns


def disguised_rules(
    federation: Federation, key: Path | None, dummies: float, before: RulesProtection | None
) -> RulesProtection | None:
    """Put dummies among rules that other protections have changed already."""
    if key is None:
        return before
    if federation.rules()[1].how != "one-shot":
        raise InvalidParameter("disguise: dummies are for one-shot rules; this federation learns exactly")
    disguise = Disguise(read_secret(key), dummies)
    return lambda rules: disguise.hide(rules if before is None else before(rules))


def noisy_rules(
    federation: Federation,
    epsilon: float | None,
    ledger: Path | None,
    refuse: Callable[[Ledger], None] = lambda _: None,
) -> RulesProtection | None:
    """Put noise on the counts behind one-shot rules, paid from a ledger unless ``refuse`` raises."""
    if epsilon is None:
        if ledger is not None:
            raise InvalidParameter("ledger: it pays for noise; say how much with epsilon")
        return None
    if federation.rules()[1].how != "one-shot":
        raise InvalidParameter(
            f"epsilon={epsilon}: noise is for one-shot rules; this federation learns exactly"
        )
    from mahrem.dp import Ledger

    paying = None if ledger is None else Ledger.open(ledger)
    if paying is not None:
        refuse(paying)  # a ledger of other data would pay for nothing
    what = f"du-CBA, federation {federation.fingerprint()}"
    return lambda rules: perturb_rules(rules, epsilon, ledger=paying, what=what).rules


def reveal_model(
    file: Path, model: Path, source: object, key: Path, *, reading: Reading | None = None
) -> RuleList:
    """Take the dummies out of a model that was learnt with them, and give its cells again.

    Args:
        file: The federation file.
        model: ``model.json`` of the run.
        source: A client's table; rules about cells that are not in it go with the dummies.
        key: The clients' key of dummy rules.
        reading: How to read the table.

    Raises:
        InvalidInput: If one of them cannot be read.
    """
    federation = Federation.read(file)
    try:
        merged = RuleList.from_json(model.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"file={model.name!r} cannot be read: {error.strerror}") from None
    except UnicodeError:
        raise InvalidInput(f"model={model.name!r} is no model") from None
    cells, _ = _cells(federation, source, reading)
    items = ItemTable.read(cells, federation.rules()[0].target).items
    return Disguise(read_secret(key)).reveal(
        merged, [(items.columns[place], cell) for place, cell in items.pairs()]
    )
