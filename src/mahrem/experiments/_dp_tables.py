"""Private tables compared: seven methods, five sets, five budgets; the same rows and bins for all.

Workload error is the mean total variation distance of all tables of two and of three columns. Classifiers are
trained on synthetic rows and tested on real rows that no method saw. Every run is a process of its own, which
is stopped when it takes too long; finished runs are kept, so that a long comparison can be taken up again.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.attacks.on_models import SyntheticMembership, SyntheticTables
from mahrem.dp import Facts, Ledger
from mahrem.errors import InvalidInput, MahremError
from mahrem.experiments._row import Row, TableRun
from mahrem.experiments._table_sets import TableSet, table_set
from mahrem.files import write_whole
from mahrem.learning.synthesis import DeclaredDomain, declare_domain, make_synthesiser, synthetic_quality
from mahrem.types import Integers

DELTA = 1e-6
EPSILONS, QUICK_EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0), (1.0,)
CLASSIFIERS = ("hist_gradient_boosting", "logistic_regression", "random_forest")
QUICK_ROWS = 1_500
MOST_TRIPLES = 2_000  # of a set with many columns, evenly taken
# Name of the synthesiser and its own settings: bins stay as they are as far as noise lets them.
_METHODS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ours": ("marginals", {"groups": 32}),
    "tree": ("marginals", {"groups": 32, "rounds": 0}),
    "aim": ("aim", {"groups": 32}),
    "mst": ("mst", {"groups": 32}),
    "vae": ("vae", {"groups": 32}),
    "gan": ("gan", {"groups": 32}),
    "independent": ("marginals", {"groups": 32, "width": 0}),
}


@dataclass(frozen=True)
class TableTask:
    """One run: a method on a set with a budget."""

    set: str
    method: str
    epsilon: float
    quick: bool

    @property
    def file(self) -> str:
        """What its figures are kept as."""
        return f"{self.set}-{self.method}-{self.epsilon:g}{'-quick' if self.quick else ''}.json"


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table: one set, all methods and budgets."""
    place = run.place(run.table)
    for epsilon in QUICK_EPSILONS if run.quick else EPSILONS:
        for method in run.bounds.only:
            task = TableTask(run.table, method, epsilon, run.quick)
            run.step(f"{run.table}, {method}, epsilon={epsilon:g}")
            figures = _kept(task, run.bounds.folder) or _run(task, run.bounds.seconds, run.bounds.folder)
            note = str(figures.pop("note", ""))
            for metric, figure in figures.items():
                yield place.at(epsilon=epsilon).row(method, metric, figure)
            if note:
                yield place.at(epsilon=epsilon).row(method, "not run", None, note=note)


def _kept(task: TableTask, folder: Path | None) -> dict[str, Any] | None:
    if folder is None or not (folder / task.file).is_file():
        return None
    figures: dict[str, Any] = json.loads((folder / task.file).read_text(encoding="utf-8"))
    return figures


def _run(task: TableTask, seconds: float, folder: Path | None) -> dict[str, Any]:
    """Run a task in a process of its own; one that takes too long is stopped and says so."""
    if task.quick:
        figures = measured(task)
    else:
        context = mp.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(task, there))
        worker.start()
        there.close()
        figures = {"note": f"stopped after {seconds:g} seconds"}
        try:
            if here.poll(seconds):
                figures = here.recv()
        except EOFError:
            figures = {"note": "the process ended without a result"}
        worker.terminate()
        worker.join()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / task.file, json.dumps(figures, indent=1), private=False)
    return figures


def _work(task: TableTask, out: Connection) -> None:
    try:
        out.send(measured(task))
    except MahremError as error:
        out.send({"note": str(error)})


def measured(task: TableTask) -> dict[str, Any]:
    """Fit, draw as many rows as there were, and measure; the model that teaches is told the target."""
    held = table_set(task.set)
    if task.quick:
        held = held.head(QUICK_ROWS)
    began = time.perf_counter()
    drawn = _drawn(held, task, target=None)
    seconds = time.perf_counter() - began
    real, synthetic = held.codes(held.train), held.codes(drawn)
    sizes = list(held.sizes.values())
    target = None if task.method == "independent" else held.target
    taught = drawn if target is None else _drawn(held, task, target=target)
    names = CLASSIFIERS[:1] if task.quick else CLASSIFIERS
    domain = _domain(held)
    quality = synthetic_quality(
        held.train, taught, domain, holdout=held.test, target=held.target, classifiers=names
    )
    return {
        "pairs off by": workload_error(real, synthetic, sizes, 2),
        "triples off by": workload_error(real, synthetic, sizes, 3),
        **{f"accuracy, {name}": quality.learning[name].get("synthetic_accuracy") for name in names},
        **{f"accuracy of real rows, {name}": quality.learning[name].get("real_accuracy") for name in names},
        "nearer to training than to hold-out": quality.closest["nearer_to_real"],
        "members found at 1 % false alarms": _attacked(held, drawn),
        "seconds": seconds,
    }


def workload_error(real: Integers, synthetic: Integers, sizes: list[int], width: int) -> float:
    """Give the mean total variation distance over all tables of so many columns.

    Example:
        >>> real, synthetic = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]])
        >>> workload_error(real, synthetic, [2, 2], 1), workload_error(real, synthetic, [2, 2], 2)
        (0.0, 1.0)
    """
    every = list(combinations(range(len(sizes)), width))
    chosen = every[:: max(1, len(every) // MOST_TRIPLES)]
    return float(np.mean([_apart(real, synthetic, sizes, columns) for columns in chosen]))


def _apart(real: Integers, synthetic: Integers, sizes: list[int], columns: tuple[int, ...]) -> float:
    shape = tuple(sizes[column] for column in columns)
    shares = [
        np.bincount(
            np.ravel_multi_index(tuple(rows[:, column] for column in columns), shape),
            minlength=int(np.prod(shape)),
        )
        / len(rows)
        for rows in (real, synthetic)
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _drawn(held: TableSet, task: TableTask, *, target: str | None) -> pl.DataFrame:
    name, settings = _METHODS[task.method]
    ledger = Ledger.temporary(
        epsilon=task.epsilon, delta=DELTA, columns=held.declared, rows=held.train.height
    )
    synthesiser = make_synthesiser(name, epsilon=task.epsilon, delta=DELTA, target=target, **settings)
    return synthesiser.fit(held.train, ledger=ledger).sample(held.train.height)


def _domain(held: TableSet) -> DeclaredDomain:
    return declare_domain(Facts(columns=held.declared), list(held.sizes))


def _attacked(held: TableSet, drawn: pl.DataFrame) -> float | None:
    """Say how many training rows are found by how near a synthetic row lies; None if nobody can tell."""
    frames = {"release": drawn, "members": held.train, "holdout": held.test}
    frames = {name: frame.with_columns(pl.all().cast(pl.String)) for name, frame in frames.items()}
    target = SyntheticTables.comparable(frames).drawn(0).target(None)
    try:
        return SyntheticMembership()(target.release, target.members, target.holdout).rate
    except InvalidInput:  # training and hold-out share so many rows that neither is a member's alone
        return None
