"""Other shapes of federation on one machine: a table is shared out and compared with one place."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.federated.runs._arrange import ShapeFederation, ShapeRun, arrange, mean_model
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._learning import draw_history
from mahrem.federated.runs._settings import RunSettings
from mahrem.federated.runs._sharing import TableSharing
from mahrem.federated.runs._simulate import SimulatedFederation, SimulatedTable
from mahrem.federated.shapes import learning_rows, model_of
from mahrem.federated.weights import SharedModel, SharedSchema, figures_of, propose_schema
from mahrem.federated.wire import CountedGrid, Exchange, Traffic
from mahrem.words import Note

AfterShapeRound = Callable[[int, Traffic, Mapping[str, Any]], None]


@dataclass(frozen=True)
class ShapeFigures:
    """What a shape reached on untouched rows, beside the same network in one place."""

    figures: Mapping[str, float]  # mean over the models that parties end with
    lowest: float  # accuracy of the worst of them
    central: Mapping[str, float]  # the same network over the same columns and all rows
    all_columns: Mapping[str, float]  # over all columns, where parties lack some
    models: Mapping[str, SharedModel] = field(repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)
    traffic: Traffic = field(default_factory=Traffic, repr=False)


def compare_shape(
    run: ShapeRun,
    learning: pl.DataFrame,
    judged: pl.DataFrame,
    schema: SharedSchema,
    *,
    after: AfterShapeRound = lambda *_: None,
) -> ShapeFigures:
    """Learn in one of the other shapes, and in one place, and judge both by the same rows.

    Args:
        run: What is learnt, and how the table is shared out.
        learning: Rows to learn from.
        judged: Rows to judge by.
        schema: What was agreed on.
        after: Told the round, the traffic so far and the figures after each round.

    Guarantees:
        - Rows to judge by are not learnt from, and no choice depends on them.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> age, hours = rng.integers(18, 90, 1500), rng.integers(0, 60, 1500)
        >>> rows = pl.DataFrame({"age": age, "hours": hours, "rich": np.where(age + hours > 80, "y", "n")})
        >>> run = ShapeRun.usual("vertical", "logistic", clients=2, rate=0.5)
        >>> comparison = compare_shape(run, rows[:900], rows[900:], propose_schema(rows[:900], "rich"))
        >>> comparison.figures["accuracy"] > comparison.central["accuracy"] - 0.02
        True
    """
    return _learn_and_judge(run, arrange(run, learning, schema), (learning, judged, schema), after)


def _learn_and_judge(
    run: ShapeRun,
    federation: ShapeFederation,
    table: tuple[pl.DataFrame, pl.DataFrame, SharedSchema],
    after: AfterShapeRound,
) -> ShapeFigures:
    learning, judged, schema = table
    history: list[dict[str, Any]] = []
    read = {name: agreed.rows(judged) for name, agreed in {"": schema, **federation.alike}.items()}

    def judge(models: Mapping[str, SharedModel]) -> list[dict[str, float]]:
        return [
            figures_of(labels, model.scores_of_rows(rows))
            for name, model in models.items()
            for rows, labels in [read[name]]
        ]

    def judge_round(number: int) -> None:
        line = {"round": number, **_mean(judge(federation.models()))}
        history.append(_rounded(line))
        after(number, federation.grid.traffic, line)

    facts = federation.learn(federation.grid, judge_round)
    models = federation.models()
    reached, central = judge(models), judge(_central(run, learning, federation))
    everything = judge({"": _alone(run, learning, schema)}) if run.shape == "transfer" else central
    return ShapeFigures(
        _mean(reached),
        min(figures["accuracy"] for figures in reached),
        _mean(central),
        _mean(everything),
        models,
        facts,
        history,
        federation.grid.traffic,
    )


def _central(run: ShapeRun, learning: pl.DataFrame, federation: ShapeFederation) -> dict[str, SharedModel]:
    """Train in one place what each party reads; once where all read the same."""
    alike = federation.alike if run.shape == "transfer" else dict([next(iter(federation.alike.items()))])
    return {name: _alone(run, learning, schema) for name, schema in alike.items()}


def _alone(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> SharedModel:
    rows, labels = learning_rows(learning, schema)
    classes, network = len(schema.classes), run.central()
    long = replace(network, epochs=network.epochs * run.rounds)
    first = long.start(rows.shape[1], classes, run.seed)
    trained = long.train(first, rows, labels, classes, seed=run.seed, even=True)
    return model_of(schema, network, trained, run.rounds)


def _mean(figures: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([model[name] for model in figures])) for name in figures[0]}


@dataclass(frozen=True)
class ShapeSimulation:
    """One of the other shapes, learnt over a table that is shared out.

    Args:
        run: What is learnt, and how the table is shared out.
        test: Share of the rows that nobody learns from.
    """

    run: ShapeRun
    test: float = 0.2

    @property
    def sharing(self) -> TableSharing:
        """See :class:`Simulation`."""
        check.between(0.01, 0.9, test=self.test)
        run = self.run
        return TableSharing(
            clients=run.clients, split=run.split, alpha=run.alpha, test=self.test, seed=run.seed
        )

    def arrange(self, table: SimulatedTable) -> SimulatedFederation:
        """See :class:`Simulation`."""
        schema = replace(propose_schema(table.learning, table.target), classes=table.classes)
        task = SimulatedShape(self.run, schema, table, arrange(self.run, table.learning, schema))
        return SimulatedFederation(task, lambda _: (task.federation.grid, None), task.drawn_again)


@dataclass(frozen=True)
class SimulatedShape:
    """A shape with its parties in this process, and the rows they are judged by."""

    run: ShapeRun
    schema: SharedSchema = field(repr=False)
    table: SimulatedTable
    federation: ShapeFederation = field(repr=False)

    def begin(self, path: Path, settings: RunSettings) -> ShapeInFolder:
        """Begin a run."""
        folder = RunFolder.create(path, self.run, force=settings.force, tell=settings.tell)
        for old in path.glob("model-*.npz"):
            old.unlink()
        return ShapeInFolder(self, folder)

    def drawn_again(self, reached: ShapeFigures) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Give the figures of the one model, which can be attacked with the rows that were kept."""
        mean = mean_model(reached.models)
        if mean is None:
            return {}, None
        rows, labels = mean.schema.rows(self.table.judged)
        return {}, {"figures": _rounded(figures_of(labels, mean.scores_of_rows(rows)))}


@dataclass
class ShapeInFolder:
    """A run of a shape; see :class:`TaskRun`."""

    task: SimulatedShape
    folder: RunFolder

    def learn(self, grid: CountedGrid, public: bytes | None = None) -> ShapeFigures:  # noqa: ARG002
        """Learn, and judge after each round."""
        task = self.task
        table = task.table.learning, task.table.judged, task.schema
        return _learn_and_judge(task.run, task.federation, table, _ShapeLog(self.folder, task.run).after)

    def finish(self, result: ShapeFigures, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write models, history and summary; gives the summary."""
        summary = _summary(self.task.run, result, self.task.table.judged.height)
        return self.folder.complete({**summary, **(more or {})}, _files(result, mean_model(result.models)))


@dataclass
class _ShapeLog:
    """Writes one line for each round: a shape has many small exchanges."""

    folder: RunFolder
    run: ShapeRun
    sent: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    def after(self, number: int, traffic: Traffic, figures: Mapping[str, Any]) -> None:
        by_client = {
            node: (
                traffic.sent[node] - self.sent.get(node, 0),
                traffic.received[node] - self.received.get(node, 0),
            )
            for node in sorted(traffic.sent)
        }
        self.sent, self.received = dict(traffic.sent), dict(traffic.received)
        down, up = (sum(both) for both in zip(*by_client.values(), strict=True))
        now = time.perf_counter()
        taken, self.began = round(now - self.began, 6), now
        done = Exchange(number, self.run.shape, self.run.clients, len(by_client), down, up, taken, number)
        self.folder.log.note(done, by_client)
        reached = Note("federation.accuracy", {"accuracy": figures["accuracy"]})
        self.folder.tell_round(number, self.run.rounds, reached, {"up": up, "down": down})


def _summary(run: ShapeRun, reached: ShapeFigures, rows: int) -> dict[str, Any]:
    difference = reached.figures["accuracy"] - reached.central["accuracy"]
    rounded = {
        name: _rounded(held)
        for name, held in (
            ("figures", reached.figures),
            ("central", reached.central),
            ("central_all_columns", reached.all_columns),
        )
    }
    return {
        "state": "finished",
        "shape": run.shape,
        "model": "mlp" if run.network.hidden else "logistic",
        "rounds": run.rounds,
        **rounded,
        "lowest_accuracy": round(reached.lowest, 6),
        "difference": round(difference, 6),
        "test_rows": rows,
        "models": sorted(reached.models),
        "left_out": {},
        **reached.facts,
    }


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in figures.items()}


def _files(reached: ShapeFigures, mean: SharedModel | None) -> dict[str, str | bytes]:
    """Give the model, or the mean of peers' models, or one for each party that reads other columns."""
    models = (
        {"model": mean}
        if mean is not None
        else {f"model-{name}": model for name, model in reached.models.items()}
    )
    return {f"{name}.npz": model.to_bytes() for name, model in models.items()} | draw_history(reached.history)
