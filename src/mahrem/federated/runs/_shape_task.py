"""Another shape as a task between real processes: its clients, keys between them, and a run in its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated import shapes
from mahrem.federated.runs._agreed_shape import AgreedShape
from mahrem.federated.runs._check import TableCheck, check_table
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._model_keepers import LearnerOrTeller, ModelKeeper, PredictionKeeper, ShapeClient
from mahrem.federated.runs._predict import RunModel
from mahrem.federated.runs._settings import ClientSettings, RunSettings, refuse_other_task
from mahrem.federated.runs._task import TableOwner
from mahrem.federated.shapes import Columns
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import Answerer, CountedGrid, Message, MessageGrid, Seal, ask_all
from mahrem.table import open_source
from mahrem.words import Note


@dataclass(frozen=True)
class ShapeTask:
    """One of the other shapes; see :class:`FederatedTask`. The model lies with members, not the server."""

    schema: SharedSchema
    plan: AgreedShape
    goes_on: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.plan.refuse_schema(list(self.schema.columns), self.schema.target)
        if self.schema.hierarchies:
            raise InvalidParameter("hierarchies: shapes learn from cells as they are; leave the trees out")

    @property
    def tells_rows(self) -> bool:
        """See :class:`FederatedTask`; vertical parties tell how many ids they have anyway."""
        return self.plan.label_epsilon is None

    def own(self, name: str) -> SharedSchema:
        """Give the schema of one member's columns."""
        columns = self.plan.own(name, self.schema.columns)
        return replace(self.schema, columns={column: self.schema.columns[column] for column in columns})

    def labelled(self, name: str) -> bool:
        """Say whether a member has labels."""
        return self.plan.label(self.schema.target) in {None, name}

    def check(self, owner: TableOwner, settings: ClientSettings) -> TableCheck:
        """See :class:`FederatedTask`; of a table without a name the member whose columns it has most of."""
        opened = open_source(owner.source, owner.reading)
        name = owner.name or self._likely(opened.columns)
        own, learnt = self.own(name), settings.use_model is None
        labelled = self.labelled(name) and learnt
        wanted = [
            *own.columns,
            *([own.target] if labelled else []),
            *([self.plan.id] if self.plan.id else []),
        ]
        frame = opened.take([column for column in wanted if column in opened.columns])
        return check_table(frame, own, settings.despite, labelled=labelled, learnt=learnt)

    def _likely(self, columns: Sequence[str]) -> str:
        return max(self.plan.holds, key=lambda name: len({*self.plan.holds[name]} & {*columns}), default="")

    def join(self, owner: TableOwner, settings: ClientSettings) -> tuple[Answerer, str]:
        """See :class:`FederatedTask`; who gets a model says where it is kept."""
        refuse_other_task("rules", settings, "least_count", "epsilon")
        refuse_other_task("weights and trees", settings, "policy", "network", "disguise", "sum_secret")
        if settings.use_model is not None or settings.keep_predictions is not None:
            return self._join_to_ask(owner, settings)
        keeps = self.labelled(owner.name)
        if keeps == (settings.keep_model is None):
            who = self.plan.label(self.schema.target)
            raise InvalidParameter(
                "keep_model: name the file that the model is written to; the server does not get it"
                if keeps
                else f"keep_model: the model is with {who!r} in the end, who has the labels; leave it out"
            )
        if settings.ledger is not None and (self.plan.label_epsilon is None or not keeps):
            raise InvalidParameter("ledger: it pays for randomised labels, and this member has none")
        frame = self._randomised(self._read(owner), settings) if keeps else self._read(owner)
        if self.plan.shape == "vertical":
            shapes.hash_ids(frame[self.plan.id], bytes(32))  # refuses an id that is there twice
        else:
            shapes.learning_rows(frame, self.own(owner.name))  # refuses a table without rows

        def make(seal: Seal, parties: Sequence[str]) -> Answerer:
            learner = ModelKeeper(self._client(owner.name, frame, seal, parties), settings.keep_model)
            if not self.plan.predict or keeps:
                return learner
            teller = shapes.TellingParty(*self._of_new_people(owner.name, frame, seal), held=self._held())
            return LearnerOrTeller(learner, teller)

        keyed = shapes.KeyedParty(owner.name, owner.keys, self._admit, make)
        return keyed, Note("federation.rows", {"rows": frame.height})

    def _join_to_ask(self, owner: TableOwner, settings: ClientSettings) -> tuple[Answerer, str]:
        """Make the client of the member with the labels that asks the others about new people."""
        self.plan.prediction()  # refuses where none was agreed on
        if not self.labelled(owner.name):
            who = self.plan.label(self.schema.target)
            raise InvalidParameter(f"use_model: {who!r} has the model and asks; leave it out")
        if settings.use_model is None or settings.keep_predictions is None:
            raise InvalidParameter(
                "use_model, keep_predictions: name the model that is asked and the file for its predictions"
            )
        refuse_other_task("learning", settings, "keep_model", "ledger")
        model = RunModel.load(settings.use_model).classifier
        if not isinstance(model, SharedModel):
            raise InvalidInput("use_model: rules are no model of members with different columns")
        frame = self._read(owner, labels=False)
        shapes.hash_ids(frame[self.plan.id], bytes(32))  # refuses an id that is there twice
        path = settings.keep_predictions

        def make(seal: Seal, _: Sequence[str]) -> Answerer:
            about = self._of_new_people(owner.name, frame, seal)
            return PredictionKeeper(shapes.AskingParty(*about, held=self._held(), model=model), path)

        make(Seal.of(bytes(32)), ())  # refuses a model of another federation now
        keyed = shapes.KeyedParty(owner.name, owner.keys, self._admit, make)
        return keyed, Note("federation.rows", {"rows": frame.height})

    def _held(self) -> dict[str, Columns]:
        return {party: self.own(party).columns for party in self.plan.holds}

    def _of_new_people(
        self, name: str, frame: pl.DataFrame, seal: Seal
    ) -> tuple[str, pl.DataFrame, str, Columns, tuple[str, ...], Seal, shapes.PredictionPlan]:
        own = self.own(name)
        return name, frame, self.plan.id, own.columns, own.classes, seal, self.plan.prediction()

    def _admit(self, parties: Sequence[str]) -> None:
        """Refuse others than were agreed on; that each is a member its signature says."""
        holds = self.plan.holds
        if (holds and set(parties) != set(holds)) or len(parties) < self.plan.least:
            raise InvalidInput(f"parties={len(parties)}: other ones than were agreed on, or too few")

    def _read(self, owner: TableOwner, *, labels: bool = True) -> pl.DataFrame:
        opened, own = open_source(owner.source, owner.reading), self.own(owner.name)
        ids = [self.plan.id] if self.plan.id else []
        wanted = [*ids, *own.columns, *([own.target] if labels and self.labelled(owner.name) else [])]
        check.columns_exist(wanted, opened.columns)
        return opened.take(wanted)

    def _randomised(self, frame: pl.DataFrame, settings: ClientSettings) -> pl.DataFrame:
        """Randomise labels once, for all runs that this member takes part in: two drawings tell more."""
        noise, schema = self.plan.noise(), self.schema
        if noise is None:
            return frame
        from mahrem.dp import Ledger

        book = None if settings.ledger is None else Ledger.open(settings.ledger)
        drawn = noise(schema.labels(frame), len(schema.classes), book)
        return frame.with_columns(pl.Series(schema.target, np.array(schema.classes)[drawn]))

    def _client(self, name: str, frame: pl.DataFrame, seal: Seal, parties: Sequence[str]) -> ShapeClient:
        plan, own = self.plan.plan(), self.own(name)
        if isinstance(plan, shapes.VerticalPlan | shapes.VerticalTreesPlan):
            held = self._held()
            target = own.target if self.labelled(name) else None
            common = name, frame, self.plan.id, own.columns, own.classes, seal
            if isinstance(plan, shapes.VerticalPlan):
                return shapes.VerticalParty(*common, plan, target, held=held)
            return shapes.TreeParty(*common, plan, target, held=held)
        if isinstance(plan, shapes.GossipPlan):
            return shapes.GossipPeer(name, frame, own, plan, shapes.Neighbours.ring(parties), seal)
        if isinstance(plan, shapes.TransferPlan):
            return shapes.TransferClient(name, frame, own, plan)
        if plan.tail:
            return shapes.UShapedClient(name, frame, own, plan, seal)
        return shapes.SplitClient(name, frame, own, plan, seal)

    def begin(self, path: Path, settings: RunSettings) -> ShapeTaskRun:
        """See :class:`FederatedTask`."""
        refuse_other_task("weights and trees over the same columns", settings, "test", "vet_by", "network")
        if settings.resume is not None:
            raise InvalidParameter(
                f"resume: a run of shape={self.plan.shape!r} cannot go on: what members held of it went with "
                "their keys; begin it again, without resume"
            )
        if settings.predict:
            self.plan.prediction()
        folder = RunFolder.create(path, self.plan, force=settings.force, tell=settings.tell)
        folder.log.budget = settings.byte_budget
        return ShapeTaskRun(self, folder, predicts=settings.predict)

    def learn(self, grid: MessageGrid, after: Callable[[int], None]) -> ShapeOutcome:
        """Agree on keys, learn, and let members keep what they have."""
        names = shapes.agree_keys(grid)
        nodes = _Members(grid, names)
        facts, missed = self._learn(nodes, after)
        keepers = [name for name in names if self.labelled(name)]
        answers, failures = ask_all(nodes, keepers, Message("keep-model", "end", self.plan.rounds, {}))
        if not answers:
            raise OutputFailed(f"no member kept a model ({'; '.join(sorted(set(failures.values())))})")
        return ShapeOutcome(tuple(names), facts, {**missed, **failures}, tuple(sorted(answers)))

    def predict(self, grid: MessageGrid) -> ShapeOutcome:
        """Agree on keys, and let the member with the model ask the others about new people."""
        names = shapes.agree_keys(grid)
        nodes = _Members(grid, names)
        aligned = shapes.predict_vertical(nodes, self.plan.prediction(), self.schema.classes)
        answers, failures = ask_all(nodes, [aligned.label], Message("keep-predictions", "end", 0, {}))
        if not answers:
            raise OutputFailed(f"no predictions were kept ({'; '.join(sorted(set(failures.values())))})")
        facts = {"asked_by": aligned.label, "predicted_rows": aligned.rows, "ids_alone": dict(aligned.alone)}
        return ShapeOutcome(tuple(names), facts, failures, ())

    def _learn(
        self, grid: MessageGrid, after: Callable[[int], None]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        plan, classes = self.plan.plan(), self.schema.classes
        if isinstance(plan, shapes.VerticalPlan | shapes.VerticalTreesPlan):
            aligned = (
                shapes.learn_vertical(grid, plan, classes, after=after, join=True)
                if isinstance(plan, shapes.VerticalPlan)
                else shapes.learn_vertical_trees(grid, plan, classes, after=after)
            )
            alone = {"aligned_rows": aligned.rows, "ids_alone": dict(aligned.alone)}
            return {"label_party": aligned.label, **alone}, {}
        if isinstance(plan, shapes.GossipPlan):
            talked = shapes.learn_by_gossip(grid, plan, classes, after=after)
            return {"talks": talked.talks, "failed_talks": talked.failed}, {}
        if isinstance(plan, shapes.TransferPlan):
            shared = shapes.learn_transfer(grid, plan, classes, after=after)
            return {"refused": {name: len(rounds) for name, rounds in shared.refused.items()}}, {}
        learn = shapes.learn_u_shaped if plan.tail else shapes.learn_split
        turns = learn(grid, plan, classes, after=lambda number, _: after(number), hand_out=True)
        return {"missed_turns": sum(map(len, turns.missed.values()))}, turns.without


@dataclass(frozen=True)
class _Members:
    """A grid of those who agreed on keys: whoever comes later waits for the next run."""

    grid: MessageGrid
    names: Sequence[str]

    def nodes(self) -> list[str]:
        return list(self.names)

    def send(self, messages: Mapping[str, Message]) -> Any:
        return self.grid.send(messages)


@dataclass(frozen=True)
class ShapeOutcome:
    """Who learnt, what there is to say about it, and who has the model."""

    clients: tuple[str, ...]
    facts: Mapping[str, Any]
    left_out: Mapping[str, str]
    keepers: tuple[str, ...]


@dataclass
class ShapeTaskRun:
    """A run of a shape between real processes; see :class:`TaskRun`."""

    task: ShapeTask
    folder: RunFolder
    predicts: bool = False  # about new people, instead of learning

    def learn(self, grid: CountedGrid, public: bytes | None = None) -> ShapeOutcome:  # noqa: ARG002
        """Learn what was agreed, or ask about new people."""
        if self.predicts:
            return self.task.predict(self.folder.watch(grid))
        rounds, log = self.task.plan.rounds, self.folder.log
        log.at = 1

        def after(number: int) -> None:
            cost = log.bytes()["by_round"].get(str(number), {"up": 0, "down": 0})
            log.at = number + 1
            reached = Note("federation.clients", {"clients": len(grid.nodes())})
            self.folder.tell_round(number, rounds, reached, cost)

        return self.task.learn(self.folder.watch(grid), after)

    def finish(self, result: ShapeOutcome, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write the summary; the model is with the members."""
        plan = self.task.plan
        summary = {
            "state": "finished",
            "shape": plan.shape,
            "model": plan.model,
            "rounds": 0 if self.predicts else plan.rounds,
            "clients": list(result.clients),
            "left_out": dict(result.left_out),
            "models": list(result.keepers),
            **result.facts,
            "exchanges": len(self.folder.log.rounds),
        }
        facts = dict(more or {})
        facts["left_out"] = {**facts.get("left_out", {}), **result.left_out}
        return self.folder.complete({**summary, **facts}, {})
