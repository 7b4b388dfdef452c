"""Rules as a task: a client's answers with its protections, and a run in its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.federated.rules import (
    AgreedClient,
    AnsweredQuestions,
    Disguise,
    RulesPlan,
    RulesProtection,
    RulesResult,
    RulesSchema,
    RulesSilo,
    learn_exact,
    learn_one_shot,
    perturb_rules,
)
from mahrem.federated.runs._check import TableCheck, check_table
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._settings import ClientSettings, RunSettings, refuse_other_task
from mahrem.federated.runs._task import TableOwner, read_agreed
from mahrem.federated.sums import ClientKeys, hide_client, least_of, make_adder
from mahrem.federated.weights import SharedSchema
from mahrem.federated.wire import Answerer, CountedGrid, MessageGrid
from mahrem.federated.wire.certificates import read_secret
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords
from mahrem.table import Reading, open_source
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.dp import Ledger


@dataclass(frozen=True)
class RulesTask:
    """Class association rules, exactly or in one shot; see :class:`FederatedTask`."""

    schema: RulesSchema
    plan: RulesPlan = field(default_factory=RulesPlan)
    goes_on: ClassVar[bool] = False

    @classmethod
    def of_schema(cls, agreed: SharedSchema, plan: RulesPlan) -> RulesTask:
        """Make one by a shared schema: numbers are cut where it says, words are the values it names."""
        words = {
            name: known.values for name, known in agreed.columns.items() if isinstance(known, DeclaredWords)
        }
        cuts = {
            name: column.cuts or ()
            for name, column in agreed.columns.items()
            if isinstance(column, DeclaredNumbers)
        }
        values = {**words, agreed.target: agreed.classes}
        columns = tuple(agreed.columns)
        return cls(RulesSchema(columns=columns, target=agreed.target, bins=cuts, values=values), plan)

    @property
    def tells_rows(self) -> bool:
        """See :class:`FederatedTask`."""
        return not self.plan.hides

    def check(self, owner: TableOwner, settings: ClientSettings) -> TableCheck:
        """See :class:`FederatedTask`."""
        return check_table(read_agreed(owner, self.schema), self.schema, settings.despite)

    def client(
        self,
        name: str,
        silo: RulesSilo,
        keys: ClientKeys | None = None,
        members: int | None = None,
        answered: AnsweredQuestions | None = None,
    ) -> Answerer:
        """Give a table that answers what was agreed and nothing else, as one of so many members."""
        members = members or (keys or ClientKeys()).members
        least = least_of(self.plan, members) if self.plan.hides else self.plan.least
        agreed = AgreedClient(self.plan, self.schema, silo, max(0, (members or least) - least), answered)
        return hide_client(name, agreed, self.plan, keys)

    def join(self, owner: TableOwner, settings: ClientSettings) -> tuple[Answerer, str]:
        """See :class:`FederatedTask`."""
        refuse_other_task("weights and trees", settings, "policy", "network", "keep_model")
        refuse_other_task("members with different columns", settings, "use_model", "keep_predictions")
        reading = replace(owner.reading, by_cell=settings.epsilon is not None)

        def refuse(book: Ledger) -> None:
            nonlocal reading
            reading = book.facts.read_as(owner.reading)
            book.refuse_other(owner.source, reading, open_source(owner.source, reading).columns)

        noisy = perturb_for(self.plan, settings, f"du-CBA, federation {owner.federation}", refuse)
        cells = self.read_cells(owner.source, reading)
        silo = RulesSilo(
            cells,
            target=self.schema.target,
            protect=disguise_rules(self.plan, settings, noisy),
            least_count=self.plan.counted_by(settings.least_count),
        )
        rows = Note("federation.rows", {"rows": silo.table.bits.rows})
        return self.client(owner.name, silo, owner.keys, answered=owner.answered), rows

    def read_cells(self, source: object, reading: Reading | None) -> pl.DataFrame:
        """Give the agreed columns of a table, in bins; see :meth:`RulesSchema.cells`."""
        opened = open_source(source, reading)
        wanted = (*self.schema.columns, self.schema.target)
        there = [column for column in wanted if column in opened.columns]
        return self.schema.cells(opened.take(there), opened.reading)

    def begin(self, path: Path, settings: RunSettings) -> RulesRun:
        """See :class:`FederatedTask`."""
        refuse_other_task("weights and trees", settings, "resume", "test", "vet_by", "byte_budget", "network")
        refuse_other_task("members with different columns", settings, "predict")
        return RulesRun(self, RunFolder.create(path, self.plan, force=settings.force, tell=settings.tell))

    def learn(self, grid: MessageGrid, public: bytes | None = None) -> RulesResult:
        """Learn what was agreed over a grid, in one process or over many.

        Args:
            grid: The clients.
            public: The server's key of homomorphic sums.
        """
        plan, columns = self.plan, self.schema.columns
        if plan.how == "one-shot":
            return learn_one_shot(grid, columns, plan.cba, sum_over=plan.sum_over, least_clients=plan.least)
        classes = self.schema.values.get(self.schema.target, ())
        return learn_exact(grid, columns, plan, adder=make_adder(plan, public), classes=classes)


@dataclass
class RulesRun:
    """A run that learns rules; see :class:`TaskRun`."""

    task: RulesTask
    folder: RunFolder

    def learn(self, grid: CountedGrid, public: bytes | None = None) -> RulesResult:
        """Learn what was agreed."""
        return self.task.learn(self.folder.watch(grid), public)

    def finish(self, result: RulesResult, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write model, pictures and summary; gives the summary."""
        summary = {
            "state": "finished",
            "exact": result.exact,
            "why_not_exact": list(result.why),
            "rules": len(result.model),
            "rows": result.model.rows,
            "clients": list(result.nodes),
            "left_out": dict(result.left_out),
            "questions": dict(result.rounds),
            "exchanges": len(self.folder.log.rounds),
            "sets_counted": result.candidates,
            **(more or {}),
        }
        files = {"model.json": result.model.to_json(), "model.txt": f"{result.model}\n"}
        return self.folder.complete(summary, files)


def disguise_rules(
    plan: RulesPlan, settings: ClientSettings, before: RulesProtection | None
) -> RulesProtection | None:
    """Put dummies among rules that other protections have changed already."""
    if settings.disguise is None:
        return before
    if plan.how != "one-shot":
        raise InvalidParameter("disguise: dummies are for one-shot rules; this federation learns exactly")
    disguise = Disguise(read_secret(settings.disguise), settings.dummies)
    return lambda rules: disguise.hide(rules if before is None else before(rules))


def perturb_for(
    plan: RulesPlan, settings: ClientSettings, what: str, refuse: Callable[[Ledger], None] = lambda _: None
) -> RulesProtection | None:
    """Put noise on the counts behind one-shot rules, paid from a ledger unless ``refuse`` raises."""
    epsilon = settings.epsilon
    if epsilon is None:
        if settings.ledger is not None:
            raise InvalidParameter("ledger: it pays for noise; say how much with epsilon")
        return None
    if plan.how != "one-shot":
        raise InvalidParameter(
            f"epsilon={epsilon}: noise is for one-shot rules; this federation learns exactly"
        )
    from mahrem.dp import Ledger

    paying = None if settings.ledger is None else Ledger.open(settings.ledger)
    if paying is not None:
        refuse(paying)  # a ledger of other data would pay for nothing
    return lambda rules: perturb_rules(rules, epsilon, ledger=paying, what=what).rules
