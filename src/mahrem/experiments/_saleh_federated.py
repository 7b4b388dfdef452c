"""Saleh, chapter 7: a network learnt over three silos, on original and on anonymised tables.

Adult is split anew for each seed: 30 % test rows that nobody anonymises, the rest over three silos. Each silo
k-anonymises its own part (strict Mondrian, intervals and sets; the print states neither k nor the
quasi-identifiers: k=3 and those of chapter 5 here) and trains the five-layer network of the print, SGD 0.01
and batches of 32, one pass in each of 60 rounds. The table ``silos`` is the one the source wishes for: the
same network on all rows together, original and anonymised.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mahrem.experiments._row import Row, published_rows
from mahrem.experiments._saleh_learning import ROOMS, code_of, read_kept, write_kept
from mahrem.experiments._saleh_sets import Table, anonymised, entropy_of, table
from mahrem.federated import (
    LearningPlan,
    LocalGrid,
    TrainingSilo,
    figures_of,
    learn_together,
    propose_schema,
    split_table,
    train_alone,
)
from mahrem.learning.classifiers import Score
from mahrem.pipeline import Release

__all__ = ["FEDERATED", "federated_rows"]

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


def federated_rows(name: str, *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of one table of chapter 7."""
    if name == "silos":
        for way in _WAYS:
            yield from _compared(way, _runs(way, quick=quick, step=step))
        return
    way = "federated, original" if name == "7.1" else "federated, anonymised"
    runs = _runs(way, quick=quick, step=step)
    (printed,) = (row for row in published_rows("saleh_federated") if row["table"] == name)
    setting: dict[str, Any] = {"silos": SILOS} if name == "7.1" else {"silos": SILOS, "k": K}
    for figure in FIGURES:
        score = _score(runs, figure)
        note = f"{len(runs)} seeds{_interval(score, figure)}"
        if figure == "f1":
            note += "; of the positive class"
        yield _row(name, setting, "fedavg", figure, float(printed[figure]), score.mean(figure), note)
        yield _row(name, setting, "fedavg", f"{figure}_std", None, score.std(figure), "over the seeds")
    if name == "7.2":
        yield from _losses(printed, runs, setting)


def _losses(printed: Mapping[str, str], runs: Sequence[Mapping[str, Any]], setting: Any) -> Iterator[Row]:
    """Give each silo's loss by both rulers, of what it learnt from and of the groups the print uses."""
    for recoding, method in (("intervals", "intervals and sets (ours)"), ("groups", "learnt groups")):
        for metric, (key, about) in _RULERS.items():
            for silo in range(SILOS):
                lost = 100 * float(np.mean([run["losses"][recoding][silo][key] for run in runs]))
                shown = float(printed[f"loss_group{silo + 1}_percent"])
                shown_here = shown if metric == "loss_cells_percent" else None
                what = {**setting, "silo": silo + 1}
                yield _row(
                    "7.2", what, method, metric, shown_here, lost, f"{about}; mean of {len(runs)} seeds"
                )


def _compared(way: str, runs: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Say how good, how slow and how private one way of learning is."""
    setting = {"k": K} if _WAYS[way][1] else {}
    for figure in ("accuracy", "f1"):
        score = _score(runs, figure)
        note = f"{len(runs)} seeds{_interval(score, figure)}"
        yield _row("silos", setting, way, figure, None, score.mean(figure), note)
    seconds = float(np.mean([run["seconds"] for run in runs]))
    yield _row(
        "silos",
        setting,
        way,
        "seconds",
        None,
        seconds,
        "of the processor, anonymising and training; mean of the seeds",
    )
    risk = max(float(run["highest_risk"]) for run in runs)
    about = "of being found again in what the network was trained on, at worst"
    yield _row("silos", setting, way, "highest_risk", None, risk, about)
    leaves = "weights" if _WAYS[way][0] else "all rows"
    moved = float(np.mean([run["megabytes"] for run in runs]))
    yield _row("silos", setting, way, "megabytes", None, moved, f"{leaves} leave the silos")


def _score(runs: Sequence[Mapping[str, Any]], figure: str) -> Score:
    held = {figure: np.array([run[figure] for run in runs])}
    return Score(classifier="mlp", figures=held, settings=(), ratio=TEST / (1 - TEST), seconds=0.0)


def _interval(score: Score, figure: str) -> str:
    reach = score.interval(figure)
    return "" if reach is None else f"; 95 % interval {reach[0]:.3f} to {reach[1]:.3f}"


def _runs(way: str, *, quick: bool, step: Callable[[str], None]) -> list[dict[str, Any]]:
    """Give one run for each seed; a run that was made by the same code is read again."""
    found = []
    for seed in range(QUICK_SEEDS if quick else SEEDS):
        key = {"paper": "saleh", "way": way, "seed": seed, "quick": quick, "rounds": ROUNDS}
        key |= {"code": code_of((*ROOMS, "federated"))}
        kept = read_kept(key)
        if kept is None:
            step(f"{way}: seed {seed}")
            kept = _run(way, seed, quick=quick)
            write_kept(key, kept)
        found.append(kept)
    return found


def _run(way: str, seed: int, *, quick: bool) -> dict[str, Any]:
    together, hidden = _WAYS[way]
    what = table("adult")
    shuffled = np.random.default_rng(seed).permutation(what.frame.height)
    if quick:
        shuffled = shuffled[:QUICK_ROWS]
    kept = int(TEST * len(shuffled))
    judged, learning = what.frame[np.sort(shuffled[:kept])], what.frame[np.sort(shuffled[kept:])]
    schema = propose_schema(learning, what.target)
    plan = LearningPlan(rounds=QUICK_ROUNDS if quick else ROUNDS, seed=seed)
    policy = {"quasi": what.quasi, "sensitive": what.target, "k": K, "bounds": "exact"} if hidden else None
    parts = split_table(learning, what.target, clients=SILOS, seed=seed)
    began, moved = time.process_time(), 0
    if together:
        silos = {name: TrainingSilo(name, part, schema, plan, policy) for name, part in parts.items()}
        grid = LocalGrid(silos)
        learnt = learn_together(grid, schema, plan)
        moved = sum(grid.traffic.received.values())
    else:
        learnt = train_alone(learning, schema, plan, policy)
        moved = len(learning.write_csv().encode())
    seconds = time.process_time() - began
    rows, labels = schema.rows(judged)
    risks = [report.get("risk", {}).get("highest", 1.0) for report in learnt.reports.values()]
    return {
        **figures_of(labels, learnt.model.scores_of_rows(rows)),
        "seconds": seconds,
        "highest_risk": max(risks),
        "megabytes": moved / 1e6,
        "losses": _measured(what, parts.values()) if together and hidden else {},
    }


def _measured(what: Table, parts: Any) -> dict[str, list[dict[str, float]]]:
    """Measure each silo's release by both rulers, with intervals and with learnt groups."""
    found: dict[str, list[dict[str, float]]] = {"intervals": [], "groups": []}
    for part in parts:
        silo = Table(what.name, part, what.quasi, what.target)
        for recoding, held in found.items():
            held.append(_lost(silo, anonymised(part, silo, recoding, {"k": K}, rest="insensitive")))  # type: ignore[arg-type]
    return found


def _lost(silo: Table, release: Release) -> dict[str, float]:
    lost = entropy_of(silo, release)
    return {"loss": lost.entropy_loss, "loss_cells": lost.entropy_loss_cells}


def _row(
    name: str,
    setting: Mapping[str, Any],
    method: str,
    metric: str,
    published: float | None,
    ours: float,
    note: str,
) -> Row:
    return Row.rounded("saleh", name, "adult", setting, method, metric, ours, published, note)
