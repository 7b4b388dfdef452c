"""Saleh: automatic generalisation and its effect on learning, table by table.

A method by its plain name publishes the learnt groups of the source; ``(ours)`` has the same classes and
publishes intervals and sets. Two rulers stand side by side: ``loss_cells`` counts every published cell as a
category, as the print does; ``loss`` spreads each cell over the values it covers. Classifiers of a plain name
are tested on anonymised rows, those of ``(ours)`` on untouched ones; the print does not say, but on housing
it fits the former.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

from mahrem.experiments._row import Place, Row, TableRun, published_rows
from mahrem.experiments._saleh_federated import FEDERATED, federated_rows
from mahrem.experiments._saleh_learning import CLASSIFIERS, ClassifierFigures, learn
from mahrem.experiments._saleh_sets import MODELS, SETS, Recoding, measure_release, read_table
from mahrem.metrics import EntropyLoss, correlation
from mahrem.table.hierarchies import learn_hierarchy

K = 3
LOSSES = {"5.3": "mammographic", "5.4": "adult", "5.5": "housing"}
CURVE, QUICK_CURVE = tuple(range(3, 16)), (3, 9, 15)
RECODINGS: Mapping[Recoding, str] = {"groups": "", "intervals": " (ours)"}
_BARS = {"bi_rads": "BI-RADS", "age": "Age", "shape": "Shape", "margin": "Margin", "density": "Density"}
_KL = "divergence of a class from the table, natural logarithm; the print states neither"
_RULERS = {
    "loss_cells_percent": "the printed ruler: every cell a category",
    "loss_percent": "our ruler: cells spread over the values they cover",
}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    if run.table in FEDERATED:
        return federated_rows(run)
    if run.table in LOSSES:
        return _losses(run)
    makers = {"education": _education, "5.1": _bars, "5.2": _bars}
    makers |= {"curves": _curves, "correlation": _correlations}
    return makers.get(run.table, _classifiers)(run)


def _education(run: TableRun) -> Iterator[Row]:
    """Group Adult's education against income at a width of 10 %: shares, and who shares a group."""
    frame = read_table("adult").frame
    counted = frame.group_by("education", "income").len().group_by("education")
    shares = counted.agg(share=pl.col("len").max() / pl.col("len").sum())
    share = dict(shares.iter_rows())
    tree = learn_hierarchy(frame["education"], frame["income"], rho=[10])
    group = {row[0]: row[1] for row in tree.rows()}
    place = run.place("adult", rho=10).rounded(5)
    for row in published_rows("saleh_adult_education_groups"):
        value = row["education"]
        mates = [other for other in group if group[other] == group[value]]
        note = f"in a group of {len(mates)}; the print cuts shares off after four digits"
        yield place.at(value=value).row("groups", "share", share[value], float(row["frequency"]), note)
    yield place.row("groups", "groups", len(set(group.values())), 6)


def _bars(run: TableRun) -> Iterator[Row]:
    """Give Theil's U of every column of Mammographic, as it is and after k=3."""
    (printed,) = (row for row in published_rows("saleh_entropy_mammographic") if row["table"] == run.table)
    original = run.table == "5.1"
    for recoding, mark in [("groups", "")] if original else RECODINGS.items():
        entropy = measure_release("mammographic", "k-anonymity", K, None, recoding).entropy
        method = "original" if original else f"k-anonymity{mark}"
        place = run.place("mammographic", **({} if original else {"k": K})).rounded(5)
        for key, column in _BARS.items():
            here = place.at(column=column)
            cells = entropy.original[column] if original else entropy.cells[column]
            note = "the print cuts off after three digits" if original else "every cell a category"
            yield here.row(method, "u", cells, float(printed[key]), note)
            if not original:
                note = "cells spread over the values they cover"
                yield here.row(method, "u_spread", entropy.spread[column], note=note)


def _losses(run: TableRun) -> Iterator[Row]:
    """Give partitions and loss of one table, by both rulers, and the table as it is: nothing is lost."""
    dataset = LOSSES[run.table]
    untouched = measure_release(dataset, "k-anonymity", 1, None, "intervals").entropy.entropy_loss
    yield run.place(dataset, k=1).row("identity", "loss_percent", 100 * untouched)
    for row in (row for row in published_rows("saleh_partitions_loss") if row["table"] == run.table):
        model, k = row["model"], int(row["k"])
        value = int(row["l"]) if row["l"] else float(row["t"]) if row["t"] else None
        place = run.place(dataset, k=k)
        if value is not None:
            place = place.at(**{"l" if row["l"] else "t": value})
        run.step(f"table {run.table}, {model}")
        for recoding, mark in RECODINGS.items():
            release = measure_release(dataset, model, k, value, recoding)
            method = f"{model}{mark}"
            if recoding == "groups":
                note = _KL if model == "t-closeness" else ""
                yield place.row(method, "partitions", release.partitions, int(row["partitions"]), note)
                yield place.row(method, "classes", release.classes)
            for metric, lost in _percent(release.entropy).items():
                shown = float(row["loss_percent"]) if metric == "loss_cells_percent" else None
                yield place.row(method, metric, lost, shown, _RULERS[metric])


def _percent(entropy: EntropyLoss) -> dict[str, float]:
    """Give the loss by both rulers, in percent."""
    return {
        "loss_cells_percent": 100 * entropy.entropy_loss_cells,
        "loss_percent": 100 * entropy.entropy_loss,
    }


def _curves(run: TableRun) -> Iterator[Row]:
    """Give loss and classes over k; the print draws them and states no figures."""
    for dataset, (model, settings) in product(_sets(run), MODELS.items()):
        setting = {key: value for key, value in settings.items() if key in {"l", "t"}}
        run.step(f"curves, {dataset}, {model}")
        for k in QUICK_CURVE if run.quick else CURVE:
            release = measure_release(dataset, model, k, None, "groups")
            place = run.place(dataset, k=k, **setting)
            yield place.row(model, "partitions", release.partitions)
            yield place.row(model, "loss_percent", 100 * release.entropy.entropy_loss)
            yield place.row(model, "loss_cells_percent", 100 * release.entropy.entropy_loss_cells)


def _sets(run: TableRun) -> tuple[str, ...]:
    return ("mammographic",) if run.quick else SETS


def _classifiers(run: TableRun) -> Iterator[Row]:
    """Give accuracy and macro F1 of one printed table."""
    printed = [row for row in published_rows("saleh_classifiers") if row["table"] == run.table]
    for dataset, how in dict.fromkeys((row["dataset"], row["anonymisation"]) for row in printed):
        lines = {
            row["model"]: row for row in printed if (row["dataset"], row["anonymisation"]) == (dataset, how)
        }
        model, _, value = how.partition(" ")
        original = model == "none"
        place = run.place(dataset, **({} if original else {"k": K, **_named(value)}))
        tried: Mapping[Recoding, str] = {"groups": ""} if original else RECODINGS
        for recoding, mark in tried.items():
            scores = learn(dataset, None if original else model, recoding, quick=run.quick, step=run.step)
            for classifier, score in scores.items():
                here = place.at(classifier=classifier)
                yield from _scores(here, f"{model}{mark}", lines[classifier], score)
            for classifier in (name for name in lines if name not in scores and recoding == "groups"):
                accuracy = float(lines[classifier]["accuracy"])
                here = place.at(classifier=classifier)
                yield here.row(model, "accuracy", None, accuracy, "left out of a quick run")


def _named(text: str) -> dict[str, float]:
    key, _, value = text.partition("=")
    return {key: float(value) if "." in value else int(value)}


def _scores(place: Place, method: str, line: Mapping[str, str], score: ClassifierFigures) -> Iterator[Row]:
    ends = score.accuracy_interval
    note = f"{score.splits} splits, 30 % tested"
    if method != "none":
        tested = "untouched" if method.endswith("(ours)") else "anonymised with the others"
        note += f"; test rows {tested}"
    if ends is not None:
        note += f"; 95 % interval {ends[0]:.3f} to {ends[1]:.3f}"
    yield place.row(method, "accuracy", score.accuracy, float(line["accuracy"]), note)
    yield place.row(method, "accuracy_std", score.accuracy_std, note="over the splits")
    yield place.row(method, "macro_f1", score.macro_f1, float(line["f1"]), "means of classes")


def _correlations(run: TableRun) -> Iterator[Row]:
    """Say how accuracy goes with loss over the table as it is and the anonymisations of 5.7 to 5.10."""
    for dataset, (recoding, mark) in product(_sets(run), RECODINGS.items()):
        original = learn(dataset, None, "groups", quick=run.quick, step=run.step)
        points: list[tuple[float, float, dict[str, ClassifierFigures]]] = [(0.0, 0.0, original)]
        for model in MODELS:
            lost = measure_release(dataset, model, K, None, recoding).entropy
            scores = learn(dataset, model, recoding, quick=run.quick, step=run.step)
            points.append((lost.entropy_loss, lost.entropy_loss_cells, scores))
        place = run.place(dataset)
        for classifier in (name for name in CLASSIFIERS if name in original):
            yield from _correlated(place.at(classifier=classifier), f"all{mark}", points)


def _correlated(
    place: Place, method: str, points: Sequence[tuple[float, float, Mapping[str, ClassifierFigures]]]
) -> Iterator[Row]:
    classifier = str(place.setting["classifier"])
    accuracy = np.array([scores[classifier].accuracy for _, _, scores in points])
    note = "negative: what loses more predicts worse"
    for column, ruler in enumerate(("loss", "loss_cells")):
        both = correlation(np.array([point[column] for point in points], np.float64), accuracy)
        here = place.at(points=both.points)
        yield here.row(method, f"pearson_{ruler}", both.pearson, note=note)
        yield here.row(method, f"spearman_{ruler}", both.spearman, note=note)
