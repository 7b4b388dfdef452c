"""The server's side of learning together: rounds of averaging, or trees from sums of histograms."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.networks import LARGEST, wrong_weights
from mahrem.federated.sums import LARGEST_ROWS, Adder, from_fixed
from mahrem.federated.weights._average import enough
from mahrem.federated.weights._boosting import BoostedTrees, SharedBins, grown
from mahrem.federated.weights._model import DISGUISED, SharedModel
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._schema import SharedSchema
from mahrem.federated.weights._silo import PROTOCOL
from mahrem.federated.weights._vetting import UpdateVerdict, Vetting
from mahrem.federated.wire import ByteBudgetSpent, Message, MessageGrid, ask_all
from mahrem.types import Floats, Integers

__all__ = ["WeightsResult", "learn_together"]


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


After: TypeAlias = Callable[
    [WeightsResult, int], None
]  # told what was found so far, and by how many in the round


def learn_together(
    grid: MessageGrid,
    schema: SharedSchema,
    plan: LearningPlan | None = None,
    *,
    start: SharedModel | None = None,
    after: After | None = None,
    vetted: Callable[[UpdateVerdict], None] | None = None,
    verdicts: Sequence[UpdateVerdict] = (),
    held_out: pl.DataFrame | None = None,
    public: bytes | None = None,
) -> WeightsResult:
    """Learn one model from silos that keep their tables.

    Args:
        grid: How to reach the silos (:class:`TrainingSilo` of the same schema and plan).
        schema: What was agreed on.
        plan: What is learnt and how it is protected.
        start: Go on from this model instead of a new one.
        after: Told after each round.
        vetted: Told each verdict on a client's update.
        verdicts: Those of the rounds before ``start``; they count for :attr:`Protections.strikes`.
        held_out: Rows that no client has, by which the server judges updates; with
            :attr:`Protections.held_out`.
        public: The server's key of homomorphic sums (:func:`make_weight_keys`).

    Guarantees:
        - A silo whose policy fails, or whose table is smaller than k, is left out and named with the reason.
        - Weights that are not numbers, huge, or of another shape are refused client by client, and so are
          updates that a defence refuses; every verdict is kept with its reason.
        - A round with fewer than ``least_clients`` answers, or fewer than the aggregation needs, is an error;
          there is no empty model.

    Raises:
        Infeasible: If too few clients are left, also if every update was refused.

    References:
        McMahan et al.: Communication-efficient learning of deep networks from decentralized data, 2017.

    Example:
        >>> import polars as pl
        >>> from mahrem.federated import LocalGrid, TrainingSilo, propose_schema
        >>> rows = pl.DataFrame({"age": list(range(40)) * 2, "old": (["n"] * 20 + ["y"] * 20) * 2})
        >>> schema, plan = propose_schema(rows, "old"), LearningPlan(model="boosting", rounds=5, depth=1)
        >>> silos = {name: TrainingSilo(name, rows, schema, plan) for name in ("a", "b")}
        >>> learnt = learn_together(LocalGrid(silos), schema, plan)
        >>> learnt.nodes, learnt.model.predict(pl.DataFrame({"age": [3, 33]})).tolist()
        (('a', 'b'), ['n', 'y'])
    """
    chosen = plan or LearningPlan()
    model = start or SharedModel.fresh(schema, chosen)
    model.refuse_other(schema, chosen)
    vetting = Vetting.of(schema, chosen, held_out, vetted)
    vetting.verdicts.extend(verdicts)
    found = WeightsResult(model, verdicts=vetting.verdicts)
    told = after or (lambda *_: None)
    adder = chosen.adder(public)
    work = _WeightsRounds(grid, schema, chosen, found, secrets.token_hex(8), told, vetting, adder)
    try:
        work.begin()
        for _ in work.trees() if chosen.model == "boosting" else work.averages():
            pass
    except ByteBudgetSpent as spent:
        if work.found.model.rounds == 0:
            raise
        work.found.ended = str(spent)
    return work.found


@dataclass
class _WeightsRounds:
    grid: MessageGrid
    schema: SharedSchema
    plan: LearningPlan
    found: WeightsResult
    run: str
    after: After
    vetting: Vetting
    adder: Adder
    nodes: tuple[str, ...] = ()
    asked: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Ask everybody to anonymise and report; where few take part in a round, each when it is drawn."""
        self.nodes = tuple(self.grid.nodes())
        self._bar()
        self._require(self._share(len(self.nodes)))
        if self.plan.fraction == 1:
            self.nodes = self._prepared(self.nodes)
            self._require(len(self.nodes))

    def _prepared(self, nodes: Sequence[str]) -> tuple[str, ...]:
        new = [node for node in nodes if node not in self.asked]
        self.asked.update(new)
        agreed = self.plan.fingerprint(self.schema.fingerprint())
        left = self.plan.rounds - self.found.model.rounds
        said = {"protocol": PROTOCOL, "agreed": agreed, "rounds": left}
        question = Message("prepare", self.run, 0, said)
        answers, failures = ask_all(self.grid, new, question)
        for node, reply in answers.items():
            report = reply.body.get("report")
            self.found.reports[node] = dict(report) if isinstance(report, Mapping) else {}
        self.found.left_out.update(failures)
        return tuple(node for node in nodes if node in self.found.reports)

    def _require(self, clients: int, failures: Mapping[str, str] | None = None) -> None:
        nodes: dict[str, list[str]] = {}  # by reason, which is often the same
        for node, why in sorted({**self.found.left_out, **(failures or {})}.items())[:3]:
            nodes.setdefault(why, []).append(node)
        reasons = "; ".join(f"{', '.join(named)}: {why}" for why, named in nodes.items())
        try:
            enough(clients, self.plan.least_clients, "this run")
            self.plan.aggregation().require(clients)
            self.vetting.require(clients)
        except Infeasible as error:
            raise Infeasible(f"{error}{f' ({reasons})' if reasons else ''}", reached=clients) from None

    def _share(self, clients: int) -> int:
        return max(1, round(self.plan.fraction * clients))

    def _drawn(self, number: int) -> tuple[str, ...]:
        """Draw who takes part in a round; the same in a run that goes on."""
        if self.plan.fraction == 1:
            return self.nodes
        rng = np.random.default_rng([self.plan.seed, number])
        places = rng.permutation(len(self.nodes))[: self._share(len(self.nodes))]
        return self._prepared(sorted(self.nodes[place] for place in places))

    def averages(self) -> Iterator[None]:
        """Run rounds of averaging."""
        held = DISGUISED if self.plan.protections.dummies else "weights"
        for number in range(self.found.model.rounds + 1, self.plan.rounds + 1):
            drawn = self._drawn(number)
            body = {"weights": self.found.model.arrays[held], "round": number, "begin": number == 1}
            question = Message("train", self.run, number, body)
            together = self._compared if self.plan.sum == "plain" else self._summed
            weights, nodes = together(drawn, question)
            self._keep(number, {held: weights.astype(np.float32)}, nodes)
            yield

    def _compared(self, drawn: Sequence[str], question: Message) -> tuple[Floats, tuple[str, ...]]:
        """Look at every client's weights, refuse what cannot be or harms, put the rest together."""
        answers, failures = ask_all(self.grid, drawn, question)
        number, given = question.round, question.body["weights"]
        received: dict[str, Floats] = {}
        rows_of: dict[str, int] = {}
        wrong: dict[str, str] = {}
        for node, reply in answers.items():
            try:
                received[node], rows_of[node] = _read(self.plan, reply.body, given)
            except InvalidInput as error:
                wrong[node] = str(error)
        self.vetting.note(number, wrong)
        failures |= wrong
        self._refused(number, failures)
        self._require(len(received), failures)
        kept = self.vetting.judge(number, given, received)
        failures |= self.vetting.refused(number)
        self._refused(number, failures)
        self._bar()
        self._require(len(kept), failures)
        rows = np.array([rows_of[node] for node in kept], np.float64)
        return self.plan.aggregation()(np.stack(list(kept.values())), rows), tuple(kept)

    def _bar(self) -> None:
        """Leave out those who were refused too often."""
        barred = self.vetting.barred()
        self.found.left_out.update(barred)
        self.nodes = tuple(node for node in self.nodes if node not in barred)

    def _summed(self, drawn: Sequence[str], question: Message) -> tuple[Floats, tuple[str, ...]]:
        """Add updates times rows, whose parts nobody sees, and divide by the rows of all."""
        given = question.body["weights"]

        def fault(total: Integers) -> str | None:
            rows = float(from_fixed(total[-1:]).sum())
            if len(total) != len(given) + 1 or not 0.5 < rows < LARGEST_ROWS + 0.5:
                return "another length, or a number of rows that cannot be"
            most = np.abs(from_fixed(total[:-1])).max(initial=0.0)
            return None if most <= 1.01 * LARGEST * rows else "a sum that no such updates can have"

        summed = self.adder(self.grid, drawn, question, fault)
        self._refused(question.round, summed.failures)
        self._require(len(summed.nodes), summed.failures)
        weights = given + from_fixed(summed.total[:-1]) / np.rint(from_fixed(summed.total[-1:]))
        wrong = wrong_weights(weights, len(given))
        if wrong is not None:
            raise InvalidInput(f"the clients' sum gives {wrong}; nobody can say who sent it")
        return weights, summed.nodes

    def trees(self) -> Iterator[None]:
        """Grow trees, level by level, from sums over all clients."""
        bins = SharedBins.of(self.schema)
        outputs = self.found.model.outputs
        forest = BoostedTrees.of_body(self.found.model.arrays, "forest")
        sent = 0  # a run that goes on tells clients of all trees once
        for number in range(self.found.model.rounds + 1, self.plan.rounds + 1):
            growing = BoostedTrees.empty(outputs, self.plan.depth)
            for level in range(self.plan.depth):
                body = {"start": sent, **forest.last(sent).as_body("new"), "level": level}
                body |= growing.as_body("growing")
                exchange = number * self.plan.depth + level
                shape = (outputs, 2**level, int(bins.starts[-1]), 2)
                sums = self._histogram(Message("histogram", self.run, exchange, body), shape)
                growing = grown(growing, level, sums, bins.starts, self.plan.rate or 0.2)
            sent, forest = len(forest), forest.joined(growing)
            self._keep(number, forest.as_body("forest"), self.nodes)
            yield

    def _histogram(self, question: Message, shape: tuple[int, ...]) -> Floats:
        def fault(total: Integers) -> str | None:
            if total.shape != (int(np.prod(shape)),):
                return "a histogram of another shape"
            sums = from_fixed(total).reshape(shape)
            good = bool((sums[..., 1] >= -1e-6).all()) and float(np.abs(sums).max(initial=0)) <= LARGEST_ROWS
            return None if good else "sums that no rows can have"

        summed = self.adder(self.grid, self.nodes, question, fault)
        if summed.failures:
            self._refused(question.round, summed.failures)
            self.found.left_out.update(summed.failures)  # it missed a level and cannot go on
            self.nodes = tuple(node for node in self.nodes if node in summed.nodes)
        self._require(len(self.nodes))
        return from_fixed(summed.total).reshape(shape)

    def _keep(self, number: int, arrays: Mapping[str, Any], nodes: Sequence[str]) -> None:
        self.found.model = self.found.model.next(number, arrays)
        self.found.nodes = tuple(sorted({*self.found.nodes, *nodes}))
        self.after(self.found, len(nodes))

    def _refused(self, number: int, failures: Mapping[str, str]) -> None:
        for node, why in failures.items():
            self.found.refused.setdefault(node, {})[number] = why


def _read(plan: LearningPlan, body: Mapping[str, Any], given: Floats) -> tuple[Floats, int]:
    """Read one client's answer: its weights, and how much they count.

    Raises:
        InvalidInput: If they cannot be.
    """
    small, rows, weights = plan.compression(), body.get("rows"), body.get("weights")
    if small is not None:
        weights = given + small.restore(body, len(given))
    wrong = wrong_weights(weights, len(given))
    if wrong is None and not (isinstance(rows, int) and 0 < rows <= LARGEST_ROWS):
        wrong = "a number of rows that cannot be"
    if wrong is not None:
        raise InvalidInput(wrong)
    # where clients may lie, a number of rows is one more lie: it would outweigh what was judged
    alike = plan.protections.private or plan.protections.vetting
    return np.asarray(weights), 1 if alike else int(rows or 0)
