"""Buyuktanir (2022): the five sets, and what one split of them over clients gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.federated.rules import ExactSettings, MergedRules, RulesSilo, learn_exact, learn_one_shot
from mahrem.federated.runs import split_rows
from mahrem.federated.wire import LocalGrid
from mahrem.learning.rules import CbaSettings, RuleList, SupervisedBins, as_cells, cba
from mahrem.types import Integers

SETS = {
    "car": ("car_evaluation", "class"),
    "bank": ("bank_marketing", "y"),
    "mushroom": ("mushroom", "class"),
    "nursery": ("nursery", "class"),
    "adult": ("adult_train", "income"),
}
CENTRAL, ALL, SENDERS = "cba", "du-cba", "du-cba, senders"
SHORTEST, EXACT = "du-cba, shortest lists (ours)", "exact du-cba (ours)"
METHODS = (CENTRAL, ALL, SENDERS, SHORTEST, EXACT)
METRICS = ("accuracy", "precision", "recall", "f1")
TENTHS = 10
TESTED = 1_700  # rows that a repeat tests at least, tenth by tenth: small sets would be told by chance
TIMED = 3  # the shortest counts

Scores = Mapping[str, float]


@dataclass(frozen=True)
class RulesEffort:
    """How much is run: all of it, or just enough to see that it runs."""

    sets: tuple[str, ...] = tuple(SETS)
    clients: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 128)
    repeats: int = 5
    tested: int = TESTED
    timed: int = TIMED


@dataclass(frozen=True)
class SplitCells:
    """Training and test rows of a set, numbers in bins."""

    train: pl.DataFrame = field(repr=False)  # cells
    classes: pl.Series = field(repr=False)
    test: pl.DataFrame = field(repr=False)
    truth: pl.Series = field(repr=False)
    raw: pl.DataFrame = field(repr=False)  # training rows as they are in the file
    seed: int = 0  # of the split over clients


@dataclass(frozen=True)
class ClientCells:
    """What one client holds."""

    cells: pl.DataFrame = field(repr=False)
    classes: pl.Series = field(repr=False)


@cache
def table(name: str) -> tuple[pl.DataFrame, pl.Series]:
    """Read a set: columns as they are, and the class; a question mark is a value."""
    file, target = SETS[name]
    frame = pl.read_csv(find(file), infer_schema_length=None)
    return frame.drop(target), frame[target].cast(pl.String)


def splits(name: str, repeat: int, tested: int) -> Iterator[SplitCells]:
    """Give the splits of one repeat: each tests another tenth, until enough rows are tested.

    Numbers are cut where the training rows' classes change (MDLP); the source does not say how.
    """
    columns, labels = table(name)
    seen = 0
    for number, rows in enumerate(split_rows(len(labels), TENTHS, seed=repeat)):
        if seen >= tested:
            return
        seen += len(rows)
        rest = np.setdiff1d(np.arange(len(labels)), rows)
        bins = SupervisedBins().fit(columns[rest], labels[rest].to_numpy())
        yield SplitCells(
            as_cells(bins.transform(columns[rest])),
            labels[rest],
            as_cells(bins.transform(columns[rows])),
            labels[rows],
            columns[rest].with_columns(labels[rest]),
            TENTHS * repeat + number,
        )


def parts_of(split: SplitCells, clients: int) -> list[ClientCells]:
    """Share the training rows among clients, at random and near equally."""
    shares = split_rows(len(split.classes), clients, seed=split.seed)
    return [ClientCells(split.train[rows], split.classes[rows]) for rows in shares]


def compare(
    split: SplitCells, clients: int, settings: CbaSettings, central: RuleList
) -> tuple[dict[str, Scores], bool]:
    """Judge every method on the test rows; also says whether the exact model is the central one."""
    parts = parts_of(split, clients)
    over_all, senders, shortest = MergedRules(), MergedRules(sum_over="senders"), MergedRules()
    for part in parts:
        model = cba(part.cells, part.classes, settings)
        over_all.add(model)
        senders.add(model)
        shortest.add(cba(part.cells, part.classes, replace(settings, cut="shortest")))
    exact = learn_exact(_grid(parts), split.train.columns, ExactSettings(cba=settings)).model
    models = {
        ALL: over_all.rules(),
        SENDERS: senders.rules(),
        SHORTEST: shortest.rules(),
        EXACT: exact,
    }
    return {name: judge(model, split) for name, model in models.items()}, exact == central


def judge(model: RuleList, split: SplitCells) -> Scores:
    """Compare what a model says of the test rows with the truth; classes weigh as many rows as they have."""
    names = sorted({*model.classes, *split.truth.unique().to_list()})
    number = {label: place for place, label in enumerate(names)}
    codes = np.array([number[label] for label in model.classes], np.int64)
    truth = split.truth.replace_strict(number, return_dtype=pl.Int64).to_numpy()
    return weighted(truth, codes[model.decide(model.first(split.test))], len(names))


def weighted(truth: Integers, predicted: Integers, classes: int) -> Scores:
    """Give accuracy, and precision, recall and F1 as means over the classes by their true rows.

    Example:
        >>> scores = weighted(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), 2)
        >>> scores["accuracy"], scores["precision"], scores["recall"], round(scores["f1"], 4)
        (0.75, 0.875, 0.75, 0.7667)
    """
    confused = np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes)
    hit, real, claimed = np.diag(confused).astype(np.float64), confused.sum(axis=1), confused.sum(axis=0)
    precision = np.divide(hit, claimed, out=np.zeros(classes), where=claimed > 0)
    f1 = np.divide(2 * hit, claimed + real, out=np.zeros(classes), where=claimed + real > 0)
    share = real / len(truth)
    accuracy = float(hit.sum() / len(truth))
    return {
        "accuracy": accuracy,
        "precision": float(precision @ share),
        "recall": accuracy,  # weighted by the true rows it is the same
        "f1": float(f1 @ share),
    }


def arrivals(split: SplitCells, clients: int, settings: CbaSettings, timed: int) -> tuple[float, float]:
    """Time a model after each arriving client: trained again on all rows so far, or trained there and merged.

    Processor seconds, so that other work on the machine does not count.
    """
    parts = parts_of(split, clients)
    rows = split_rows(len(split.classes), clients, seed=split.seed)
    so_far = [np.concatenate(rows[: place + 1]) for place in range(clients)]

    def again() -> None:
        for held in so_far:
            cba(split.train[held], split.classes[held], settings)

    def merged() -> None:
        state = MergedRules()
        for part in parts:
            state.add(cba(part.cells, part.classes, settings)).rules()

    return _least(again, timed), _least(merged, timed)


def traffic(split: SplitCells, clients: int, settings: CbaSettings) -> dict[str, tuple[int, int]]:
    """Count bytes from and to all clients: one-shot and its model back, exact, and the rows as CSV."""
    parts = parts_of(split, clients)
    once, rounds = _grid(parts), _grid(parts)
    model = learn_one_shot(once, split.train.columns, settings).model
    learn_exact(rounds, split.train.columns, ExactSettings(cba=settings))
    back = clients * len(model.to_json().encode())
    shares = split_rows(len(split.classes), clients, seed=split.seed)
    raw = sum(len(split.raw[rows].write_csv().encode()) for rows in shares)
    return {
        ALL: (sum(once.traffic.received.values()), sum(once.traffic.sent.values()) + back),
        EXACT: (sum(rounds.traffic.received.values()), sum(rounds.traffic.sent.values())),
        "raw rows": (raw, 0),
    }


def _grid(parts: list[ClientCells]) -> LocalGrid:
    name = parts[0].classes.name
    return LocalGrid(
        {
            f"client{place:03d}": RulesSilo(part.cells.with_columns(part.classes), name)
            for place, part in enumerate(parts)
        }
    )


def _least(work: Callable[[], None], times: int) -> float:
    best = np.inf
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return float(best)
