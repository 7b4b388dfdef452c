"""Other shapes of federation on Adult, beside the same network in one place; and what their wires give away.

No source prints these figures, so nothing stands beside ours. Adult is split anew for each seed: 30 % test
rows, the rest shared out: columns over three parties of which each knows 95 % of the people (vertical), rows
over five clients (split, U-shaped, gossip on a ring), or rows over three clients of which each lacks a third
of the columns (transfer).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem.experiments._row import Place, Row, TableRun
from mahrem.experiments._saleh_sets import read_table
from mahrem.experiments._seeds import interval_note, seeds_score
from mahrem.federated.runs import ShapeFigures, ShapeRun, TableSharing, arrange, compare_shape
from mahrem.federated.shapes import UShapedClient
from mahrem.federated.weights import SharedSchema, propose_schema
from mahrem.federated.wire import LocalGrid, Message
from mahrem.types import Floats, Integers

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
U_SHAPED = ShapeRun.usual("u-shaped", clients=2)
LEAKS: Mapping[str, ShapeRun] = {
    "u-shaped": U_SHAPED,
    "u-shaped, tail of two layers": replace(U_SHAPED, tail=2),
    "u-shaped, labels at epsilon 3": replace(U_SHAPED, label_epsilon=3.0),
    "u-shaped, labels at epsilon 1": replace(U_SHAPED, label_epsilon=1.0),
}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    if run.table == "leaks":
        yield from _leaks(run)
    else:
        for name, shape in SHAPES.items():
            yield from _compared(run, name, shape)


def _sets(seed: int, *, quick: bool) -> tuple[pl.DataFrame, pl.DataFrame, SharedSchema]:
    """Give rows to learn from, rows to judge by and the schema."""
    adult = read_table("adult")
    frame = adult.frame.sample(QUICK_ROWS, seed=seed) if quick else adult.frame
    learning, judged = TableSharing(test=TEST, seed=seed).part(frame)
    return learning, judged, propose_schema(learning, adult.target)


def _compared(run: TableRun, name: str, shape: ShapeRun) -> Iterator[Row]:
    results: list[ShapeFigures] = []
    for seed in range(QUICK_SEEDS if run.quick else SEEDS):
        run.step(f"{name}: seed {seed}")
        learning, judged, schema = _sets(seed, quick=run.quick)
        chosen = replace(shape, rounds=QUICK_ROUNDS if run.quick else ROUNDS, seed=seed)
        results.append(compare_shape(chosen, learning, judged, schema))
    place = run.place("adult", clients=shape.clients)
    for figure in ("accuracy", "f1"):
        ours = [result.figures[figure] for result in results]
        central = [result.central[figure] for result in results]
        apart = [here - there for here, there in zip(ours, central, strict=True)]
        yield _mean_row(place, name, figure, ours)
        yield _mean_row(place, name, f"{figure}_central", central)
        yield _mean_row(place, name, f"{figure}_difference", apart)
    yield _mean_row(place, name, "accuracy_lowest_party", [result.lowest for result in results])
    if shape.shape == "transfer":
        everything = [result.all_columns["accuracy"] for result in results]
        yield _mean_row(place, name, "accuracy_all_columns", everything)
    traffics = [result.traffic for result in results]
    moved = [sum((*traffic.sent.values(), *traffic.received.values())) / 1e6 for traffic in traffics]
    yield _mean_row(place, name, "megabytes", moved)


def _mean_row(place: Place, shape: str, metric: str, values: Sequence[float]) -> Row:
    score = seeds_score(metric, values, TEST)
    note = f"{len(values)} seeds{interval_note(score, metric, 4)}"
    return place.row(shape, metric, score.mean(metric), note=note)


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


def _leaks(run: TableRun) -> Iterator[Row]:
    learning, judged, schema = _sets(0, quick=run.quick)
    for name, shape in LEAKS.items():
        run.step(name)
        chosen = replace(shape, rounds=QUICK_ROUNDS if run.quick else ROUNDS)
        arranged = arrange(chosen, learning, schema)
        clients = arranged.grid.clients.items()
        heard = {node: _Listening(client) for node, client in clients}  # type: ignore[arg-type]
        arranged.learn(LocalGrid(heard), lambda _: None)
        rows, labels = schema.rows(judged)
        predicted = arranged.models()["all"].scores_of_rows(rows).argmax(axis=1)
        client = next(iter(heard.values()))
        truth, known = np.concatenate(client.labels), np.vstack(client.rows)
        place = run.place("adult", tail=shape.tail)
        note = "share of rows whose label the server knows from the slopes of one round"
        yield place.row(name, "labels_guessed", guess_labels(np.vstack(client.slopes), truth), note=note)
        note = "share it would get right without looking"
        yield place.row(name, "majority", float(np.bincount(truth).max() / len(truth)), note=note)
        note = f"of the columns' variance, by a line through the values of {KNOWN} rows known already"
        yield place.row(name, "columns_explained", _explained(np.vstack(client.values), known), note=note)
        yield place.row(name, "accuracy", float((predicted == labels).mean()), note="on test rows")


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
