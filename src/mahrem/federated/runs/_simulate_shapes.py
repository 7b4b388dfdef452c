"""Other shapes of federation on one machine: a table is shared out and compared with one place."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.federated.runs._arrange import ShapeFederation, ShapeRun, arrange, mean_model
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._learning import _drawn_history
from mahrem.federated.runs._simulate import _read
from mahrem.federated.runs._simulate_learning import TableSharing
from mahrem.federated.shapes import learning_rows, model_of
from mahrem.federated.weights import SharedModel, SharedSchema, figures_of, propose_schema
from mahrem.federated.wire import Exchange, Traffic
from mahrem.table import Reading

__all__ = ["ShapeFigures", "compare_shape", "simulate_shape"]

Tell = Callable[[str], None]


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
    after: Callable[[int, Traffic, Mapping[str, Any]], None] = lambda *_: None,
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
        >>> found = compare_shape(run, rows[:900], rows[900:], propose_schema(rows[:900], "rich"))
        >>> found.figures["accuracy"] > found.central["accuracy"] - 0.02
        True
    """
    made = arrange(run, learning, schema)
    history: list[dict[str, Any]] = []
    read = {name: one.rows(judged) for name, one in {"": schema, **made.alike}.items()}

    def judge(models: Mapping[str, SharedModel]) -> list[dict[str, float]]:
        return [
            figures_of(labels, model.scores_of_rows(rows))
            for name, model in models.items()
            for rows, labels in [read[name]]
        ]

    def told(number: int) -> None:
        line = {"round": number, **_mean(judge(made.models()))}
        history.append(_rounded(line))
        after(number, made.grid.traffic, line)

    facts = made.learn(made.grid, told)
    models = made.models()
    reached, central = judge(models), judge(_central(run, learning, made))
    everything = judge({"": _alone(run, learning, schema)}) if run.shape == "transfer" else central
    return ShapeFigures(
        _mean(reached),
        min(one["accuracy"] for one in reached),
        _mean(central),
        _mean(everything),
        models,
        facts,
        history,
        made.grid.traffic,
    )


def _central(run: ShapeRun, learning: pl.DataFrame, made: ShapeFederation) -> dict[str, SharedModel]:
    """Train in one place what each party reads; once where all read the same."""
    alike = made.alike if run.shape == "transfer" else dict([next(iter(made.alike.items()))])
    return {name: _alone(run, learning, schema) for name, schema in alike.items()}


def _alone(run: ShapeRun, learning: pl.DataFrame, schema: SharedSchema) -> SharedModel:
    rows, labels = learning_rows(learning, schema)
    classes, network = len(schema.classes), run.central()
    long = replace(network, epochs=network.epochs * run.rounds)
    first = long.start(rows.shape[1], classes, run.seed)
    trained = long.train(first, rows, labels, classes, seed=run.seed, even=True)
    return model_of(schema, network, trained, run.rounds)


def _mean(figures: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in figures])) for name in figures[0]}


def simulate_shape(
    source: object,
    target: str,
    folder: Path,
    run: ShapeRun,
    *,
    test: float = 0.2,
    columns: tuple[str, ...] | None = None,
    force: bool = False,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Share a table out in another shape, learn, compare with one place, and write a run folder.

    Args:
        source: The table.
        target: The column to predict.
        folder: Where the run is written.
        run: What is learnt, and how the table is shared out.
        test: Share of the rows that nobody learns from.
        columns: The columns to learn from; all others by default.
        force: Replace a finished run.
        reading: How to read the source.
        tell: Told about progress.

    Returns:
        The summary that also lies in the folder.
    """
    whole = _read(source, target, None, columns, reading)
    learning, judged = TableSharing(test=test, seed=run.seed).parts(whole)
    classes = whole[target].cast(pl.String).unique().sort().to_list()  # their names are public
    schema = replace(propose_schema(learning, target), classes=tuple(classes))
    arrange(run, learning, schema)  # what cannot be is refused before there is a folder
    written = RunFolder.create(folder, run, force=force, tell=tell)
    with written.recording():
        for old in folder.glob("model-*.npz"):
            old.unlink()
        found = compare_shape(run, learning, judged, schema, after=_ShapeLog(written, run).after)
        mean = mean_model(found.models)
        summary = _summary(run, found, judged.height)
        if mean is not None:  # one model, which can be attacked with the rows that were kept
            figures = figures_of(*_answers(mean, judged))
            drawn = {"seed": run.seed, "target": target, "rows": whole.height, "test_rows": judged.height}
            summary["simulated"] = {**drawn, "figures": _rounded(figures)}
        return written.complete(summary, _files(found, mean))


def _answers(model: SharedModel, judged: pl.DataFrame) -> tuple[Any, Any]:
    rows, labels = model.schema.rows(judged)
    return labels, model.scores_of_rows(rows)


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
        self.folder.tell(
            f"round {number} of {self.run.rounds}: accuracy {figures['accuracy']:.4f}, {up:,} bytes up, "
            f"{down:,} down"
        )


def _summary(run: ShapeRun, found: ShapeFigures, rows: int) -> dict[str, Any]:
    difference = found.figures["accuracy"] - found.central["accuracy"]
    rounded = {
        name: _rounded(held)
        for name, held in (
            ("figures", found.figures),
            ("central", found.central),
            ("central_all_columns", found.all_columns),
        )
    }
    return {
        "state": "finished",
        "shape": run.shape,
        "model": "mlp" if run.network.hidden else "logistic",
        "rounds": run.rounds,
        **rounded,
        "lowest_accuracy": round(found.lowest, 6),
        "difference": round(difference, 6),
        "test_rows": rows,
        "models": sorted(found.models),
        "left_out": {},
        **found.facts,
    }


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in figures.items()}


def _files(found: ShapeFigures, mean: SharedModel | None) -> dict[str, str | bytes]:
    """Give the model, or the mean of peers' models, or one for each party that reads other columns."""
    models = (
        {"model": mean} if mean is not None else {f"model-{name}": one for name, one in found.models.items()}
    )
    return {f"{name}.npz": one.to_bytes() for name, one in models.items()} | _drawn_history(found.history)
