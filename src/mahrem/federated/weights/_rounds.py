"""The server's side of learning together, whatever is learnt: whom it asks, who is left, what it keeps."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from mahrem.errors import Infeasible
from mahrem.federated.sums import Adder
from mahrem.federated.weights._average import enough
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._schema import SharedSchema
from mahrem.federated.weights._silo import PROTOCOL
from mahrem.federated.weights._vetting import UpdateVerdict, Vetting
from mahrem.federated.wire import Message, MessageGrid, ask_all


@dataclass
class WeightsResult:
    """A common model, who is in it, what each silo promises, and why others are not in it."""

    model: SharedModel
    nodes: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, dict[int, str]] = field(default_factory=dict)  # answers, by client and round
    verdicts: list[UpdateVerdict] = field(
        default_factory=list, repr=False
    )  # on single updates, round by round
    ended: str | None = None  # why it ended before its last round
    validated: float | None = None  # right answers on rows that clients keep back, after the last round


# told the result so far after each round, and how many clients took part in it
AfterRound: TypeAlias = Callable[[WeightsResult, int], None]


@dataclass
class LearningRounds:
    """A run on the server: the clients that are in it, and the result so far."""

    grid: MessageGrid
    schema: SharedSchema
    plan: LearningPlan
    result: WeightsResult
    adder: Adder
    vetting: Vetting
    after: AfterRound
    run: str = field(default_factory=lambda: secrets.token_hex(8))
    nodes: tuple[str, ...] = ()
    asked: set[str] = field(default_factory=set)

    @property
    def left(self) -> range:
        """The numbers of the rounds that are left."""
        return range(self.result.model.rounds + 1, self.plan.rounds + 1)

    def begin(self) -> None:
        """Ask everybody to anonymise and report; where few take part in a round, each when it is drawn."""
        self.nodes = tuple(self.grid.nodes())
        self.bar()
        self.require(self._share(len(self.nodes)))
        if self.plan.fraction == 1:
            self.nodes = self._prepared(self.nodes)
            self.require(len(self.nodes))

    def _prepared(self, nodes: Sequence[str]) -> tuple[str, ...]:
        new = [node for node in nodes if node not in self.asked]
        self.asked.update(new)
        agreed = self.plan.fingerprint(self.schema.fingerprint())
        left = self.plan.rounds - self.result.model.rounds
        body = {"protocol": PROTOCOL, "agreed": agreed, "rounds": left}
        question = Message("prepare", self.run, 0, body)
        answers, failures = ask_all(self.grid, new, question)
        for node, reply in answers.items():
            report = reply.body.get("report")
            self.result.reports[node] = dict(report) if isinstance(report, Mapping) else {}
        self.result.left_out.update(failures)
        return tuple(node for node in nodes if node in self.result.reports)

    def require(self, clients: int, failures: Mapping[str, str] | None = None) -> None:
        """Refuse to go on with too few clients.

        Raises:
            Infeasible: With the reasons of those who are missing.
        """
        nodes: dict[str, list[str]] = {}  # by reason, which is often the same
        for node, why in sorted({**self.result.left_out, **(failures or {})}.items())[:3]:
            nodes.setdefault(why, []).append(node)
        reasons = "; ".join(f"{', '.join(named)}: {why}" for why, named in nodes.items())
        try:
            enough(clients, self.plan.least, "this run")
            parts = min(clients, self.plan.groups) if self.plan.groups > 1 else clients
            self.plan.aggregation().require(parts)
            self.vetting.require(parts)
        except Infeasible as error:
            raise Infeasible(f"{error}{f' ({reasons})' if reasons else ''}", reached=clients) from None

    def require_parts(self, parts: int, failures: Mapping[str, str]) -> None:
        """Refuse to go on with too few groups to compare.

        Raises:
            Infeasible: With the reasons of those that are missing.
        """
        try:
            self.plan.aggregation().require(parts)
            self.vetting.require(parts)
        except Infeasible as error:
            reasons = "; ".join(f"{name}: {why}" for name, why in sorted(failures.items())[:3])
            raise Infeasible(f"{error} ({reasons})", reached=parts) from None

    def _share(self, clients: int) -> int:
        return max(1, round(self.plan.fraction * clients))

    def draw(self, number: int) -> tuple[str, ...]:
        """Draw who takes part in a round; the same in a run that goes on."""
        if self.plan.fraction == 1:
            return self.nodes
        rng = np.random.default_rng([self.plan.seed, number])
        places = rng.permutation(len(self.nodes))[: self._share(len(self.nodes))]
        return self._prepared(sorted(self.nodes[place] for place in places))

    def bar(self) -> None:
        """Leave out those who were refused too often."""
        barred = self.vetting.barred()
        self.result.left_out.update(barred)
        self.nodes = tuple(node for node in self.nodes if node not in barred)

    def keep(self, number: int, arrays: Mapping[str, object], nodes: Sequence[str]) -> None:
        """Keep the model of a round, and tell."""
        self.result.model = self.result.model.next(number, arrays)
        self.result.nodes = tuple(sorted({*self.result.nodes, *nodes}))
        self.after(self.result, len(nodes))

    def note_refusals(self, number: int, failures: Mapping[str, str]) -> None:
        """Keep why answers of a round do not count."""
        for node, why in failures.items():
            self.result.refused.setdefault(node, {})[number] = why
