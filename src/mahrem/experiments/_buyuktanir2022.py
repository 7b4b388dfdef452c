"""Buyuktanir (2022): du-CBA over 2 to 128 clients, as published and exact, beside central CBA.

``du-cba`` sums N over all clients, ``du-cba, senders`` over those that sent the rule: the text leaves it
open. ``shortest lists (ours)`` merges once, too, but clients leave out rules that stand for a few rows;
``exact du-cba (ours)`` is the central model from counts. In table 3.2 support is that of the whole
rule: only so do the printed figures of nursery come out; table ``left`` has the text's reading, support of
the left side. The printed deviations are corrupt in parts and are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Literal

import numpy as np

from mahrem.experiments._buyuktanir2022_runs import (
    ALL,
    CENTRAL,
    EXACT,
    METHODS,
    METRICS,
    SENDERS,
    SETS,
    SHORTEST,
    RulesEffort,
    arrivals,
    compare,
    judge,
    splits,
    traffic,
)
from mahrem.experiments._row import Row, TableRun, published_rows
from mahrem.learning.rules import CbaSettings, cba

CLAIM = 70.0  # percent of the training time saved, "about"
_FULL = RulesEffort()
_QUICK = RulesEffort(("car", "nursery"), (2, 16), 2, 100, 1)
_RULE, _LEFT = CbaSettings(support_of="rule"), CbaSettings(support_of="left")
_NOTES = {
    CENTRAL: "all training rows in one place",
    ALL: "N summed over all clients",
    SENDERS: "N summed over the clients that sent the rule",
    SHORTEST: "lists end within one standard error of the least error; N over all; beside the printed du-CBA",
    EXACT: "only counts leave the clients; beside the printed du-CBA",
}

Cells = Mapping[tuple[int, str], Mapping[str, list[float]]]  # of (clients, method): repeats of each metric


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    makers = {"bytes": _bytes, "times": _times}
    return makers.get(run.table, _accuracies)(run, _QUICK if run.quick else _FULL)


def _accuracies(run: TableRun, effort: RulesEffort) -> Iterator[Row]:
    """Give accuracy, precision, recall and F1 of every printed cell, with deviations over the repeats."""
    whole = run.table == "3.2"
    metrics = METRICS if whole else METRICS[:1]
    for line in sorted(
        published_rows("buyuktanir2022_ducba"), key=lambda row: list(SETS).index(row["dataset"])
    ):
        dataset, clients = line["dataset"], int(line["clients"])
        place = run.place(dataset, clients=clients)
        if dataset not in effort.sets or clients not in effort.clients:
            for metric in metrics:
                for method, side in ((CENTRAL, "cba"), (ALL, "ducba")):
                    printed = float(line[f"{side}_{metric}"])
                    yield place.row(method, metric, None, printed, "left out of a quick run")
            continue
        cells = _cells(dataset, "rule" if whole else "left", effort, run.step)
        for method in METHODS:
            side = "cba" if method == CENTRAL else "ducba"
            repeats = cells[clients, method]
            for metric in metrics:
                printed = float(line[f"{side}_{metric}"])
                yield place.row(method, metric, float(np.mean(repeats[metric])), printed, _NOTES[method])
                if whole:
                    spread = float(np.std(repeats[metric], ddof=1))
                    yield place.row(method, f"{metric}_std", spread, note="over the repeats")
            if method == EXACT:
                same = float(np.mean(repeats["equals_central"]))
                note = "share of runs whose model is the central one, rule for rule"
                yield place.row(method, "equals_central", same, note=note)


@cache
def _cells(
    dataset: str, support_of: Literal["left", "rule"], effort: RulesEffort, step: Callable[[str], None]
) -> Cells:
    """Run all repeats of a set; a repeat's figure is the mean over the tenths it tests."""
    settings = _LEFT if support_of == "left" else _RULE
    cells: dict[tuple[int, str], dict[str, list[float]]] = {}
    for repeat in range(effort.repeats):
        runs: dict[tuple[int, str], list[Mapping[str, float]]] = {}
        for split in splits(dataset, repeat, effort.tested):
            central = cba(split.train, split.classes, settings)
            alone = judge(central, split)
            for clients in effort.clients:
                step(f"{dataset}, {support_of}, repeat {repeat + 1} of {effort.repeats}, {clients} clients")
                by_method, same = compare(split, clients, settings, central)
                by_method[EXACT] = {**by_method[EXACT], "equals_central": float(same)}
                for method, scores in {CENTRAL: alone, **by_method}.items():
                    runs.setdefault((clients, method), []).append(scores)
        for key, scores_of in runs.items():
            repeats = cells.setdefault(key, {})
            for metric in scores_of[0]:
                mean = float(np.mean([scores[metric] for scores in scores_of]))
                repeats.setdefault(metric, []).append(mean)
    return cells


def _bytes(run: TableRun, effort: RulesEffort) -> Iterator[Row]:
    """Give the bytes of models against those of the rows, all clients together, in the first split."""
    for dataset in effort.sets:
        split = next(splits(dataset, 0, effort.tested))
        for clients in effort.clients:
            run.step(f"bytes, {dataset}, {clients} clients")
            sent = traffic(split, clients, _RULE)
            raw = sent["raw rows"][0]
            place = run.place(dataset, clients=clients)
            yield place.row("raw rows", "bytes_from_clients", raw, note="as CSV")
            for method in (ALL, EXACT):
                away, back = sent[method]
                yield place.row(method, "bytes_from_clients", away)
                yield place.row(method, "bytes_to_clients", back)
                yield place.row(method, "from_clients_to_raw_ratio", away / raw)


def _times(run: TableRun, effort: RulesEffort) -> Iterator[Row]:
    """Give the time to a model after each arriving client: trained again, or trained there and merged."""
    note = "processor time, shortest of several runs; a model after each client"
    seconds: dict[tuple[str, int], tuple[float, float]] = {}
    for dataset in effort.sets:
        split = next(splits(dataset, 0, effort.tested))
        cba(split.train, split.classes, _RULE)  # compiled before the clock runs
        for clients in effort.clients:
            run.step(f"times, {dataset}, {clients} clients")
            seconds[dataset, clients] = again, merged = arrivals(split, clients, _RULE, effort.timed)
            place = run.place(dataset, clients=clients)
            yield place.row("cba again", "seconds", again, note=note)
            yield place.row(ALL, "seconds", merged, note=note)
            yield place.row(ALL, "saved_percent", 100 * (1 - merged / again))
    note = "the text claims about 70 % and does not say for how many clients"
    place = run.place("all sets")
    for some in (*((clients,) for clients in effort.clients), effort.clients):
        again, merged = (
            sum(both[side] for (_, clients), both in seconds.items() if clients in some) for side in (0, 1)
        )
        here = place.at(clients=some[0]) if len(some) == 1 else place
        yield here.row(ALL, "saved_percent", 100 * (1 - merged / again), CLAIM, note)
