"""Saleh: automatic generalisation and its effect on learning, table by table.

A method by its plain name publishes the learnt groups of the source; ``(ours)`` has the same classes and
publishes intervals and sets. Two rulers stand side by side: ``loss_cells`` counts every published cell as a
category, as the print does; ``loss`` spreads each cell over the values it covers. Classifiers of a plain name
are tested on anonymised rows, those of ``(ours)`` on untouched ones; the print does not say, but on housing
it fits the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mahrem.experiments._row import Row, published_rows
from mahrem.experiments._saleh_federated import FEDERATED, federated_rows
from mahrem.experiments._saleh_learning import CLASSIFIERS, Learnt, learnt
from mahrem.experiments._saleh_sets import MODELS, SETS, Recoding, made, table
from mahrem.metrics import correlation
from mahrem.table import learn_hierarchy

__all__ = ["TABLES", "rows_of"]

PAPER = "saleh"
K = 3
LOSSES = {"5.3": "mammographic", "5.4": "adult", "5.5": "housing"}
LEARNING = ("5.6", "5.7", "5.8", "5.9", "5.10")
TABLES = ("education", "5.1", "5.2", *LOSSES, "curves", *LEARNING, "correlation", *FEDERATED)
CURVE, QUICK_CURVE = tuple(range(3, 16)), (3, 9, 15)
RECODINGS: Mapping[Recoding, str] = {"groups": "", "intervals": " (ours)"}
_BARS = {"bi_rads": "BI-RADS", "age": "Age", "shape": "Shape", "margin": "Margin", "density": "Density"}
_KL = "divergence of a class from the table, natural logarithm; the print states neither"
_RULERS = {
    "loss_cells_percent": "the printed ruler: every cell a category",
    "loss_percent": "our ruler: cells spread over the values they cover",
}

Step = Callable[[str], None]


def rows_of(tables: Sequence[str], *, quick: bool, step: Step) -> Iterator[Row]:
    """Give the rows of some tables."""
    for name in tables:
        if name == "education":
            yield from _education()
        elif name in {"5.1", "5.2"}:
            yield from _bars(name)
        elif name in LOSSES:
            yield from _losses(name, step)
        elif name == "curves":
            yield from _curves(QUICK_CURVE if quick else CURVE, ("mammographic",) if quick else SETS, step)
        elif name in FEDERATED:
            yield from federated_rows(name, quick=quick, step=step)
        elif name == "correlation":
            yield from _correlations(("mammographic",) if quick else SETS, quick=quick, step=step)
        else:
            yield from _classifiers(name, quick=quick, step=step)


def _education() -> Iterator[Row]:
    """Group Adult's education against income at a width of 10 %: shares, and who shares a group."""
    frame = table("adult").frame
    counted = frame.group_by("education", "income").len().group_by("education")
    shares = counted.agg(share=pl.col("len").max() / pl.col("len").sum())
    share = dict(shares.iter_rows())
    tree = learn_hierarchy(frame["education"], frame["income"], rho=[10])
    group = {row[0]: row[1] for row in tree.rows()}
    printed = published_rows("saleh_adult_education_groups")
    for row in printed:
        value = row["education"]
        mates = [other for other in group if group[other] == group[value]]
        note = f"in a group of {len(mates)}; the print cuts shares off after four digits"
        yield _row(
            "education", "adult", {"rho": 10, "value": value}, "groups", "share",
            float(row["frequency"]), share[value], note,
        )  # fmt: skip
    yield _row("education", "adult", {"rho": 10}, "groups", "groups", 6, len(set(group.values())))


def _bars(name: str) -> Iterator[Row]:
    """Give Theil's U of every column of Mammographic, as it is and after k=3."""
    (printed,) = (row for row in published_rows("saleh_entropy_mammographic") if row["table"] == name)
    for recoding, mark in RECODINGS.items() if name == "5.2" else [("groups", "")]:
        found = made("mammographic", "k-anonymity", K, None, recoding).entropy
        method = "original" if name == "5.1" else f"k-anonymity{mark}"
        said = {} if name == "5.1" else {"k": K}
        for key, column in _BARS.items():
            setting = {**said, "column": column}
            cells = found.original[column] if name == "5.1" else found.cells[column]
            note = "the print cuts off after three digits" if name == "5.1" else "every cell a category"
            yield _row(name, "mammographic", setting, method, "u", float(printed[key]), cells, note)
            if name == "5.2":
                spread, note = found.spread[column], "cells spread over the values they cover"
                yield _row(name, "mammographic", setting, method, "u_spread", None, spread, note)


def _losses(name: str, step: Step) -> Iterator[Row]:
    """Give partitions and loss of one table, by both rulers, and the table as it is: nothing is lost."""
    dataset = LOSSES[name]
    yield _row(name, dataset, {"k": 1}, "identity", "loss_percent", None, _identity(dataset))
    for row in (row for row in published_rows("saleh_partitions_loss") if row["table"] == name):
        model = row["model"]
        value = int(row["l"]) if row["l"] else float(row["t"]) if row["t"] else None
        setting: dict[str, Any] = {"k": int(row["k"])}
        if value is not None:
            setting["l" if row["l"] else "t"] = value
        step(f"table {name}, {model}")
        for recoding, mark in RECODINGS.items():
            found = made(dataset, model, int(row["k"]), value, recoding)
            about = _KL if model == "t-closeness" else ""
            method = f"{model}{mark}"
            if recoding == "groups":
                printed = int(row["partitions"])
                yield _row(name, dataset, setting, method, "partitions", printed, found.partitions, about)
                yield _row(name, dataset, setting, method, "classes", None, found.classes)
            loss = {"loss_cells_percent": found.entropy.entropy_loss_cells}
            loss["loss_percent"] = found.entropy.entropy_loss
            for metric, lost in loss.items():
                shown = float(row["loss_percent"]) if metric == "loss_cells_percent" else None
                yield _row(name, dataset, setting, method, metric, shown, 100 * lost, _RULERS[metric])


def _identity(dataset: str) -> float:
    """Measure the table as it is by our ruler."""
    return 100 * made(dataset, "k-anonymity", 1, None, "intervals").entropy.entropy_loss


def _curves(ks: Sequence[int], sets: Sequence[str], step: Step) -> Iterator[Row]:
    """Give loss and classes over k; the print draws them and states no figures."""
    for dataset in sets:
        for model, settings in MODELS.items():
            said = {key: value for key, value in settings.items() if key in {"l", "t"}}
            step(f"curves, {dataset}, {model}")
            for k in ks:
                found = made(dataset, model, k, None, "groups")
                figures = {
                    "partitions": found.partitions,
                    "loss_percent": 100 * found.entropy.entropy_loss,
                    "loss_cells_percent": 100 * found.entropy.entropy_loss_cells,
                }
                for metric, ours in figures.items():
                    yield _row("curves", dataset, {"k": k, **said}, model, metric, None, ours)


def _classifiers(name: str, *, quick: bool, step: Step) -> Iterator[Row]:
    """Give accuracy and macro F1 of one printed table."""
    printed = [row for row in published_rows("saleh_classifiers") if row["table"] == name]
    for dataset, said in dict.fromkeys((row["dataset"], row["anonymisation"]) for row in printed):
        lines = {
            row["model"]: row for row in printed if (row["dataset"], row["anonymisation"]) == (dataset, said)
        }
        model, _, value = said.partition(" ")
        setting = {} if model == "none" else {"k": K, **_named(value)}
        tried: Mapping[Recoding, str] = RECODINGS if model != "none" else {"groups": ""}
        for recoding, mark in tried.items():
            found = learnt(dataset, None if model == "none" else model, recoding, quick=quick, step=step)
            for classifier, score in found.items():
                yield from _scores(
                    name, dataset, {**setting, "classifier": classifier}, f"{model}{mark}",
                    lines[classifier], score,
                )  # fmt: skip
            for classifier in (one for one in lines if one not in found and recoding == "groups"):
                what = {**setting, "classifier": classifier}
                accuracy = float(lines[classifier]["accuracy"])
                yield _row(name, dataset, what, model, "accuracy", accuracy, None, "left out of a quick run")


def _named(text: str) -> dict[str, Any]:
    key, _, value = text.partition("=")
    return {key: float(value) if "." in value else int(value)}


def _scores(
    name: str, dataset: str, setting: Mapping[str, Any], method: str, line: Mapping[str, str], score: Learnt
) -> Iterator[Row]:
    reach = score.accuracy_interval
    note = f"{score.splits} splits, 30 % tested"
    if method != "none":
        tested = "untouched" if method.endswith("(ours)") else "anonymised with the others"
        note += f"; test rows {tested}"
    if reach is not None:
        note += f"; 95 % interval {reach[0]:.3f} to {reach[1]:.3f}"
    yield _row(name, dataset, setting, method, "accuracy", float(line["accuracy"]), score.accuracy, note)
    yield _row(name, dataset, setting, method, "accuracy_std", None, score.accuracy_std, "over the splits")
    yield _row(
        name, dataset, setting, method, "macro_f1", float(line["f1"]), score.macro_f1, "means of classes"
    )


def _correlations(sets: Sequence[str], *, quick: bool, step: Step) -> Iterator[Row]:
    """Say how accuracy goes with loss over the table as it is and the anonymisations of 5.7 to 5.10."""
    for dataset in sets:
        for recoding, mark in RECODINGS.items():
            points: list[tuple[float, float, dict[str, Learnt]]] = [
                (0.0, 0.0, learnt(dataset, None, "groups", quick=quick, step=step))
            ]
            for model in MODELS:
                lost = made(dataset, model, K, None, recoding).entropy
                scores = learnt(dataset, model, recoding, quick=quick, step=step)
                points.append((lost.entropy_loss, lost.entropy_loss_cells, scores))
            for classifier in (one for one in CLASSIFIERS if one in points[0][2]):
                yield from _correlated(dataset, classifier, f"all{mark}", points)


def _correlated(
    dataset: str, classifier: str, method: str, points: Sequence[tuple[float, float, Mapping[str, Learnt]]]
) -> Iterator[Row]:
    accuracy = np.array([scores[classifier].accuracy for _, _, scores in points])
    note = "negative: what loses more predicts worse"
    for place, ruler in enumerate(("loss", "loss_cells")):
        both = correlation(np.array([point[place] for point in points], np.float64), accuracy)
        for kind, value in (("pearson", both.pearson), ("spearman", both.spearman)):
            setting = {"classifier": classifier, "points": both.points}
            yield _row("correlation", dataset, setting, method, f"{kind}_{ruler}", None, value, note)


def _row(
    name: str,
    dataset: str,
    setting: Mapping[str, Any],
    method: str,
    metric: str,
    published: float | None,
    ours: float | None,
    note: str = "",
) -> Row:
    digits = 5 if metric in {"share", "u", "u_spread"} else 4
    return Row.rounded(PAPER, name, dataset, setting, method, metric, ours, published, note, digits=digits)
