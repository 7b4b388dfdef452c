"""Other shapes of federation on Adult, beside the same network in one place; and what their wires give away.

No source prints these figures, so nothing stands beside ours. Adult is split anew for each seed: 30 % test
rows, the rest shared out: columns over three parties of which each knows 95 % of the people (vertical), rows
over five clients (split, U-shaped, gossip on a ring), or rows over three clients of which each lacks a third
of the columns (transfer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mahrem.experiments._row import Row
from mahrem.experiments._saleh_sets import table
from mahrem.federated import (
    LocalGrid,
    Message,
    ShapeFigures,
    ShapeRun,
    Shared,
    SharedSchema,
    UShapedClient,
    compare_shape,
    propose_schema,
)
from mahrem.federated._arrange import arrange
from mahrem.learning.classifiers import Score
from mahrem.types import Floats, Integers

__all__ = ["TABLES", "guess_labels", "rows_of"]

PAPER = "federated-shapes"
TABLES = ("shapes", "leaks")
SEEDS, QUICK_SEEDS = 5, 1
ROUNDS, QUICK_ROUNDS, QUICK_ROWS = 10, 2, 3_000
TEST, KNOWN = 0.3, 1_000  # share of test rows; rows that somebody who looks into values knows already
SHAPES: Mapping[str, ShapeRun] = {
    "vertical, logistic": ShapeRun.usual("vertical", "logistic"),
    "vertical, network": ShapeRun.usual("vertical"),
    "split": ShapeRun.usual("split", clients=5),
    "u-shaped": ShapeRun.usual("u-shaped", clients=5),
    "gossip on a ring": ShapeRun.usual("gossip", clients=5),
    "transfer": ShapeRun.usual("transfer"),
}
BENT = ShapeRun.usual("u-shaped", clients=2)
LEAKS: Mapping[str, ShapeRun] = {
    "u-shaped": BENT,
    "u-shaped, tail of two layers": replace(BENT, tail=2),
    "u-shaped, labels at epsilon 3": replace(BENT, label_epsilon=3.0),
    "u-shaped, labels at epsilon 1": replace(BENT, label_epsilon=1.0),
}


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables."""
    for name in tables:
        if name == "leaks":
            yield from _leaks(quick=quick, step=step)
        else:
            for shape, run in SHAPES.items():
                yield from _compared(shape, run, quick=quick, step=step)


def _sets(seed: int, *, quick: bool) -> tuple[Any, Any, SharedSchema]:
    """Give rows to learn from, rows to judge by and the schema."""
    what = table("adult")
    frame = what.frame.sample(QUICK_ROWS, seed=seed) if quick else what.frame
    learning, judged = Shared(test=TEST, seed=seed).parts(frame)
    return learning, judged, propose_schema(learning, what.target)


def _compared(shape: str, run: ShapeRun, *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    found: list[ShapeFigures] = []
    for seed in range(QUICK_SEEDS if quick else SEEDS):
        step(f"{shape}: seed {seed}")
        learning, judged, schema = _sets(seed, quick=quick)
        chosen = replace(run, rounds=QUICK_ROUNDS if quick else ROUNDS, seed=seed)
        found.append(compare_shape(chosen, learning, judged, schema))
    for figure in ("accuracy", "f1"):
        ours = [one.figures[figure] for one in found]
        central = [one.central[figure] for one in found]
        apart = [one - other for one, other in zip(ours, central, strict=True)]
        yield _row(shape, run, figure, ours)
        yield _row(shape, run, f"{figure}_central", central)
        yield _row(shape, run, f"{figure}_difference", apart)
    yield _row(shape, run, "accuracy_lowest_party", [one.lowest for one in found])
    if run.shape == "transfer":
        yield _row(shape, run, "accuracy_all_columns", [one.all_columns["accuracy"] for one in found])
    moved = [sum((*one.traffic.sent.values(), *one.traffic.received.values())) / 1e6 for one in found]
    yield _row(shape, run, "megabytes", moved)


def _row(shape: str, run: ShapeRun, metric: str, values: Sequence[float]) -> Row:
    score = Score(
        classifier=shape,
        figures={metric: np.array(values)},
        settings=(),
        ratio=TEST / (1 - TEST),
        seconds=0.0,
    )
    reach = score.interval(metric)
    note = f"{len(values)} seeds" + (
        "" if reach is None else f"; 95 % interval {reach[0]:.4f} to {reach[1]:.4f}"
    )
    return Row.rounded(
        PAPER, "shapes", "adult", {"clients": run.clients}, shape, metric, score.mean(metric), note=note
    )


@dataclass
class _Listening:
    """A client whose messages are kept, with the truth beside them to judge guesses by."""

    client: UShapedClient
    slopes: list[Floats] = field(default_factory=list)
    labels: list[Integers] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    rows: list[Floats] = field(default_factory=list)

    def answer(self, message: Message) -> Message:
        """Answer as the client does."""
        reply, turns = self.client.answer(message), self.client.turns
        if message.kind == "turn":  # the last turn is kept
            self.slopes, self.labels, self.values, self.rows = [], [], [], []
        elif message.kind == "tail":
            self.slopes.append(reply.body["slope"])
            self.labels.append(turns.labels[turns.batch])
        elif message.kind == "forward" and len(reply.body["values"]):
            self.values.append(reply.body["values"])
            self.rows.append(turns.rows[turns.batch])
        return reply


def _leaks(*, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    learning, judged, schema = _sets(0, quick=quick)
    for name, run in LEAKS.items():
        step(name)
        chosen = replace(run, rounds=QUICK_ROUNDS if quick else ROUNDS)
        made = arrange(chosen, learning, schema)
        heard = {node: _Listening(client) for node, client in made.grid.clients.items()}  # type: ignore[arg-type]
        made.learn(LocalGrid(heard), lambda _: None)
        rows, labels = schema.rows(judged)
        model = made.models()["all"]
        reached = float((model.scores_of_rows(rows).argmax(axis=1) == labels).mean())
        one = next(iter(heard.values()))
        said: Mapping[str, tuple[float, str]] = {
            "labels_guessed": (
                guess_labels(np.vstack(one.slopes), np.concatenate(one.labels)),
                "share of rows whose label the server knows from the slopes of one round",
            ),
            "majority": (
                float(np.bincount(np.concatenate(one.labels)).max() / sum(map(len, one.labels))),
                "share it would get right without looking",
            ),
            "columns_explained": (
                _explained(np.vstack(one.values), np.vstack(one.rows)),
                f"of the columns' variance, by a line through the values of {KNOWN} rows known already",
            ),
            "accuracy": (reached, "on test rows"),
        }
        for metric, (value, note) in said.items():
            yield Row.rounded(PAPER, "leaks", "adult", {"tail": run.tail}, name, metric, value, note=note)


def guess_labels(slopes: Floats, labels: Integers) -> float:
    """Guess labels from slopes by the side of their main direction; gives the share that is right.

    The larger side is taken for the commoner class, which the server may know.

    Args:
        slopes: ``(n, units)``.
        labels: ``(n,)`` of two classes; to judge the guess.

    Example:
        >>> guess_labels(np.array([[1.0, 2.0], [2.0, 4.1], [-1.0, -2.0]]), np.array([0, 0, 1]))
        1.0
    """
    norms = np.linalg.norm(slopes, axis=1, keepdims=True)
    pointing = slopes / np.maximum(norms, 1e-30)
    main = np.linalg.eigh(pointing.T.astype(np.float64) @ pointing)[1][:, -1]
    side = pointing @ main > 0
    commoner = np.bincount(labels, minlength=2).argmax()
    guess = np.where(side == (side.mean() > 0.5), commoner, 1 - commoner)
    return float((guess == labels).mean())


def _explained(values: Floats, rows: Floats) -> float:
    """Give the share of the columns' variance that a line through known rows explains in the others."""
    ones = np.hstack([values, np.ones((len(values), 1))]).astype(np.float64)
    known = min(KNOWN, len(rows) // 2)
    line = np.linalg.lstsq(ones[:known], rows[:known].astype(np.float64), rcond=None)[0]
    rest, wanted = ones[known:] @ line, rows[known:].astype(np.float64)
    left = ((wanted - rest) ** 2).sum()
    return float(1 - left / ((wanted - wanted.mean(axis=0)) ** 2).sum())
