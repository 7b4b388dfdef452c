"""Saleh, chapter 7: a network learnt over three silos, on original and on anonymised tables.

Adult is split anew for each seed: 30 % test rows that nobody anonymises, the rest over three silos. Each silo
k-anonymises its own part (strict Mondrian, intervals and sets; the print states neither k nor the
quasi-identifiers: k=3 and those of chapter 5 here) and trains the five-layer network of the print, SGD 0.01
and batches of 32, one pass in each of 60 rounds. The table ``silos`` is the one the source wishes for: the
same network on all rows together, original and anonymised.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from mahrem.experiments._row import Place, Row, TableRun, published_rows
from mahrem.experiments._saleh_learning import ROOMS, code_of, read_kept, write_kept
from mahrem.experiments._saleh_sets import LearningTable, anonymise, entropy_of, read_table
from mahrem.experiments._seeds import interval_note, seeds_score
from mahrem.federated.runs import split_table, train_alone
from mahrem.federated.weights import LearningPlan, TrainingSilo, figures_of, learn_together, propose_schema
from mahrem.federated.wire import LocalGrid
from mahrem.learning.classifiers import Score

FEDERATED = ("7.1", "7.2", "silos")
K, SILOS, TEST = 3, 3, 0.3
SEEDS, QUICK_SEEDS = 5, 2
ROUNDS, QUICK_ROUNDS, QUICK_ROWS = 60, 3, 3_000
FIGURES = ("accuracy", "precision", "recall", "f1")
_WAYS = {
    "central, original": (False, False),
    "central, anonymised": (False, True),
    "federated, original": (True, False),
    "federated, anonymised": (True, True),
}
_RULERS = {
    "loss_cells_percent": ("loss_cells", "the printed ruler: every cell a category"),
    "loss_percent": ("loss", "our ruler: cells spread over the values they cover"),
}


@dataclass(frozen=True)
class _Trained:
    """What one way of learning came to, with one seed."""

    scores: Mapping[str, float]
    seconds: float  # of the processor
    highest_risk: float
    megabytes: float
    losses: Mapping[str, Sequence[Mapping[str, float]]]  # of each silo, by recoding


def federated_rows(run: TableRun) -> Iterator[Row]:
    """Give the rows of one table of chapter 7."""
    if run.table == "silos":
        for way in _WAYS:
            yield from _compared(run, way)
        return
    runs = _runs(run, "federated, original" if run.table == "7.1" else "federated, anonymised")
    (printed,) = (row for row in published_rows("saleh_federated") if row["table"] == run.table)
    place = run.place("adult", silos=SILOS)
    place = place if run.table == "7.1" else place.at(k=K)
    for figure in FIGURES:
        score, note = _score(runs, figure)
        if figure == "f1":
            note += "; of the positive class"
        yield place.row("fedavg", figure, score.mean(figure), float(printed[figure]), note)
        yield place.row("fedavg", f"{figure}_std", score.std(figure), note="over the seeds")
    if run.table == "7.2":
        yield from _losses(place, printed, runs)


def _losses(place: Place, printed: Mapping[str, str], runs: Sequence[_Trained]) -> Iterator[Row]:
    """Give each silo's loss by both rulers, of what it learnt from and of the groups the print uses."""
    for recoding, method in (("intervals", "intervals and sets (ours)"), ("groups", "learnt groups")):
        for metric, (key, about) in _RULERS.items():
            note = f"{about}; mean of {len(runs)} seeds"
            for silo in range(SILOS):
                lost = 100 * float(np.mean([run.losses[recoding][silo][key] for run in runs]))
                shown = float(printed[f"loss_group{silo + 1}_percent"])
                published = shown if metric == "loss_cells_percent" else None
                yield place.at(silo=silo + 1).row(method, metric, lost, published, note)


def _compared(run: TableRun, way: str) -> Iterator[Row]:
    """Say how good, how slow and how private one way of learning is."""
    runs = _runs(run, way)
    place = run.place("adult", **({"k": K} if _WAYS[way][1] else {}))
    for figure in ("accuracy", "f1"):
        score, note = _score(runs, figure)
        yield place.row(way, figure, score.mean(figure), note=note)
    seconds = float(np.mean([done.seconds for done in runs]))
    note = "of the processor, anonymising and training; mean of the seeds"
    yield place.row(way, "seconds", seconds, note=note)
    risk = max(done.highest_risk for done in runs)
    note = "of being found again in what the network was trained on, at worst"
    yield place.row(way, "highest_risk", risk, note=note)
    leaves = "weights" if _WAYS[way][0] else "all rows"
    moved = float(np.mean([done.megabytes for done in runs]))
    yield place.row(way, "megabytes", moved, note=f"{leaves} leave the silos")


def _score(runs: Sequence[_Trained], figure: str) -> tuple[Score, str]:
    score = seeds_score(figure, [run.scores[figure] for run in runs], TEST)
    return score, f"{len(runs)} seeds{interval_note(score, figure)}"


def _runs(run: TableRun, way: str) -> list[_Trained]:
    """Give one run for each seed; a run that was made by the same code is read again."""
    runs = []
    for seed in range(QUICK_SEEDS if run.quick else SEEDS):
        key = {"paper": "saleh", "way": way, "seed": seed, "quick": run.quick, "rounds": ROUNDS}
        key |= {"code": code_of((*ROOMS, "federated"))}
        kept = read_kept(key)
        if kept is None:
            run.step(f"{way}: seed {seed}")
            kept = asdict(_train(way, seed, quick=run.quick))
            write_kept(key, kept)
        runs.append(_Trained(**kept))
    return runs


def _train(way: str, seed: int, *, quick: bool) -> _Trained:
    together, hidden = _WAYS[way]
    adult = read_table("adult")
    shuffled = np.random.default_rng(seed).permutation(adult.frame.height)
    if quick:
        shuffled = shuffled[:QUICK_ROWS]
    kept = int(TEST * len(shuffled))
    judged, learning = adult.frame[np.sort(shuffled[:kept])], adult.frame[np.sort(shuffled[kept:])]
    schema = propose_schema(learning, adult.target)
    plan = LearningPlan(rounds=QUICK_ROUNDS if quick else ROUNDS, seed=seed)
    policy = {"quasi": adult.quasi, "sensitive": adult.target, "k": K, "bounds": "exact"} if hidden else None
    parts = split_table(learning, adult.target, clients=SILOS, seed=seed)
    began, moved = time.process_time(), 0
    if together:
        silos = {name: TrainingSilo(name, part, schema, plan, policy) for name, part in parts.items()}
        grid = LocalGrid(silos)
        trained = learn_together(grid, schema, plan)
        moved = sum(grid.traffic.received.values())
    else:
        trained = train_alone(learning, schema, plan, policy)
        moved = len(learning.write_csv().encode())
    seconds = time.process_time() - began
    rows, labels = schema.rows(judged)
    risks = [report.get("risk", {}).get("highest", 1.0) for report in trained.reports.values()]
    return _Trained(
        scores=figures_of(labels, trained.model.scores_of_rows(rows)),
        seconds=seconds,
        highest_risk=max(risks),
        megabytes=moved / 1e6,
        losses=_measured(adult, parts.values()) if together and hidden else {},
    )


def _measured(adult: LearningTable, parts: Iterable[pl.DataFrame]) -> dict[str, list[dict[str, float]]]:
    """Measure each silo's release by both rulers, with intervals and with learnt groups."""
    losses: dict[str, list[dict[str, float]]] = {"intervals": [], "groups": []}
    for part in parts:
        silo = LearningTable(adult.name, part, adult.quasi, adult.target)
        for recoding, held in losses.items():
            release = anonymise(part, silo, recoding, {"k": K}, rest="insensitive")  # type: ignore[arg-type]
            lost = entropy_of(silo, release)
            held.append({"loss": lost.entropy_loss, "loss_cells": lost.entropy_loss_cells})
    return losses
