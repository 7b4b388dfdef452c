"""Buyuktanir (2022): du-CBA over 2 to 128 clients, as published and exact, beside central CBA.

``du-cba`` sums N over all clients, ``du-cba, senders`` over those that sent the rule: the text leaves it
open. ``shortest lists (ours)`` merges once, too, but clients leave out rules that stand for a few rows;
``exact du-cba (ours)`` is the central model from counts. In table 3.2 support is that of the whole
rule: only so do the printed figures of nursery come out; table ``left`` has the text's reading, support of
the left side. The printed deviations are corrupt in parts and are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
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
    Effort,
    arrivals,
    figures,
    judged,
    splits,
    traffic,
)
from mahrem.experiments._row import Row, published_rows
from mahrem.learning.rules import CbaSettings, cba

__all__ = ["TABLES", "rows_of"]

PAPER = "buyuktanir2022"
_row = partial(Row.rounded, PAPER)
TABLES = ("3.2", "left", "bytes", "times")
CLAIM = 70.0  # percent of the training time saved, "about"
_FULL = Effort()
_QUICK = Effort(("car", "nursery"), (2, 16), 2, 100, 1)
_RULE, _LEFT = CbaSettings(support_of="rule"), CbaSettings(support_of="left")
_NOTES = {
    CENTRAL: "all training rows in one place",
    ALL: "N summed over all clients",
    SENDERS: "N summed over the clients that sent the rule",
    SHORTEST: "lists end within one standard error of the least error; N over all; beside the printed du-CBA",
    EXACT: "only counts leave the clients; beside the printed du-CBA",
}

Step = Callable[[str], None]
Cells = Mapping[tuple[int, str], Mapping[str, list[float]]]  # of (clients, method): repeats of each metric


def rows_of(tables: Sequence[str], *, quick: bool, step: Step) -> Iterator[Row]:
    """Give the rows of some tables."""
    effort = _QUICK if quick else _FULL
    for name in tables:
        if name == "bytes":
            yield from _bytes(effort, step)
        elif name == "times":
            yield from _times(effort, step)
        else:
            yield from _figures(name, effort, step)


def _figures(name: str, effort: Effort, step: Step) -> Iterator[Row]:
    """Give accuracy, precision, recall and F1 of every printed cell, with deviations over the repeats."""
    support_of: Literal["left", "rule"] = "left" if name == "left" else "rule"
    metrics = METRICS if name == "3.2" else METRICS[:1]
    for line in sorted(
        published_rows("buyuktanir2022_ducba"), key=lambda row: list(SETS).index(row["dataset"])
    ):
        dataset, clients = line["dataset"], int(line["clients"])
        setting = {"clients": clients}
        if dataset not in effort.sets or clients not in effort.clients:
            for metric in metrics:
                for method, side in ((CENTRAL, "cba"), (ALL, "ducba")):
                    printed = float(line[f"{side}_{metric}"])
                    yield _row(
                        name, dataset, setting, method, metric, None, printed, "left out of a quick run"
                    )
            continue
        found = _cells(dataset, support_of, effort, step)
        for method in METHODS:
            side = "cba" if method == CENTRAL else "ducba"
            held = found[clients, method]
            for metric in metrics:
                printed = float(line[f"{side}_{metric}"])
                yield _row(
                    name,
                    dataset,
                    setting,
                    method,
                    metric,
                    float(np.mean(held[metric])),
                    printed,
                    _NOTES[method],
                )
                if name == "3.2":
                    spread = float(np.std(held[metric], ddof=1))
                    yield _row(
                        name, dataset, setting, method, f"{metric}_std", spread, note="over the repeats"
                    )
            if method == EXACT:
                same = float(np.mean(held["equals_central"]))
                note = "share of runs whose model is the central one, rule for rule"
                yield _row(name, dataset, setting, method, "equals_central", same, note=note)


@cache
def _cells(dataset: str, support_of: Literal["left", "rule"], effort: Effort, step: Step) -> Cells:
    """Run all repeats of a set; a repeat's figure is the mean over the tenths it tests."""
    settings = _LEFT if support_of == "left" else _RULE
    found: dict[tuple[int, str], dict[str, list[float]]] = {}
    for repeat in range(effort.repeats):
        runs: dict[tuple[int, str], list[Mapping[str, float]]] = {}
        for split in splits(dataset, repeat, effort.tested):
            central = cba(split.train, split.classes, settings)
            alone = judged(central, split)
            for clients in effort.clients:
                step(f"{dataset}, {support_of}, repeat {repeat + 1} of {effort.repeats}, {clients} clients")
                by_method, same = figures(split, clients, settings, central)
                by_method[EXACT] = {**by_method[EXACT], "equals_central": float(same)}
                for method, scores in {CENTRAL: alone, **by_method}.items():
                    runs.setdefault((clients, method), []).append(scores)
        for key, scores_of in runs.items():
            held = found.setdefault(key, {})
            for metric in scores_of[0]:
                held.setdefault(metric, []).append(float(np.mean([scores[metric] for scores in scores_of])))
    return found


def _bytes(effort: Effort, step: Step) -> Iterator[Row]:
    """Give the bytes of models against those of the rows, all clients together, in the first split."""
    for dataset in effort.sets:
        split = next(splits(dataset, 0, effort.tested))
        for clients in effort.clients:
            step(f"bytes, {dataset}, {clients} clients")
            sent = traffic(split, clients, _RULE)
            raw = sent["raw rows"][0]
            yield _row(
                "bytes", dataset, {"clients": clients}, "raw rows", "bytes_from_clients", raw, note="as CSV"
            )
            for method in (ALL, EXACT):
                away, back = sent[method]
                for metric, value in (
                    ("bytes_from_clients", away),
                    ("bytes_to_clients", back),
                    ("from_clients_to_raw_ratio", away / raw),
                ):
                    yield _row("bytes", dataset, {"clients": clients}, method, metric, value)


def _times(effort: Effort, step: Step) -> Iterator[Row]:
    """Give the time to a model after each arriving client: trained again, or trained there and merged."""
    note = "processor time, shortest of several runs; a model after each client"
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for dataset in effort.sets:
        split = next(splits(dataset, 0, effort.tested))
        cba(split.train, split.classes, _RULE)  # compiled before the clock runs
        for clients in effort.clients:
            step(f"times, {dataset}, {clients} clients")
            found[dataset, clients] = again, merged = arrivals(split, clients, _RULE, effort.timed)
            said = {"clients": clients}
            yield _row("times", dataset, said, "cba again", "seconds", again, note=note)
            yield _row("times", dataset, said, ALL, "seconds", merged, note=note)
            yield _row("times", dataset, said, ALL, "saved_percent", 100 * (1 - merged / again))
    note = "the text claims about 70 % and does not say for how many clients"
    for some in (*((clients,) for clients in effort.clients), effort.clients):
        again, merged = (
            sum(both[side] for (_, held), both in found.items() if held in some) for side in (0, 1)
        )
        said = {"clients": some[0]} if len(some) == 1 else {}
        saved = 100 * (1 - merged / again)
        yield _row("times", "all sets", said, ALL, "saved_percent", saved, CLAIM, note)
