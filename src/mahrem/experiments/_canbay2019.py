"""Canbay (2019): Mondrian, u-Mondrian, Canon and u-Canon on Adult and Diabetes, table by table.

Two conventions of the print are followed where they are compared with and undone beside it: the DM of a
u-model leaves out the classes made of the final leftovers (``dm``; the honest total is ``dm_all``), and the
last printed round holds everything that came after it. Whether the printed GCP counts the leftovers is not
said: ``gcp_sum`` does, ``gcp_rounds`` does not.

Chapter 7 ran on ten copies of Adult. Its printed figures do not fit the rule of its own chapter 4 (strict
cuts of ten copies at 10 k must be those of one copy at k), so ratios are what to compare there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby

import numpy as np

from mahrem.experiments._canbay2019_spark import COPIES, AdultOnSpark, open_cluster
from mahrem.experiments._measure import PartitionFigures, measure, partition_by_size
from mahrem.experiments._row import Place, Row, TableRun, published_rows
from mahrem.experiments._sets import adult, diabetes
from mahrem.partition import Canon, Mondrian, Partitioner, UtilityAware
from mahrem.partition.cutting import InheritedMondrian, ManagedRounds
from mahrem.types import Points

_FILES = ("canbay2019_summary", "canbay2019_iterations")
SEEDS = 5
QUICK_KS: tuple[int, ...] = (5, 50)
QUICK_SPARK_KS: tuple[int, ...] = (100,)
SETS: Mapping[str, Callable[[], Points]] = {"adult": adult, "diabetes": diabetes}


@dataclass(frozen=True)
class _Recipe:
    """A method as a paper's table names it: the published setting, or ours beside it."""

    name: str
    make: Callable[[int], Partitioner]  # from a seed
    draws: bool = False


_PLAIN = {"u-mondrian": "mondrian", "u-canon": "canon", "su-mondrian": "s-mondrian"}
_RECIPES: Mapping[tuple[str, str], tuple[_Recipe, _Recipe | None]] = {
    ("mondrian", "strict"): (
        _Recipe("mondrian", lambda _: InheritedMondrian()),
        _Recipe("mondrian (ours)", lambda _: Mondrian(strict=True)),
    ),
    ("mondrian", "relaxed"): (_Recipe("mondrian", lambda _: Mondrian(strict=False)), None),
    ("u-mondrian", "strict"): (
        _Recipe("u-mondrian", lambda _: UtilityAware(InheritedMondrian(), reference="lof")),
        _Recipe("u-mondrian (ours)", lambda _: UtilityAware(Mondrian(strict=True), reference="tightest")),
    ),
    ("u-mondrian", "relaxed"): (
        _Recipe("u-mondrian", lambda _: UtilityAware(Mondrian(strict=False), reference="lof")),
        _Recipe("u-mondrian (ours)", lambda _: UtilityAware(Mondrian(strict=False), reference="tightest")),
    ),
    ("s-mondrian", "strict"): (_Recipe("s-mondrian", lambda _: Mondrian(strict=True)), None),
    ("su-mondrian", "strict"): (
        _Recipe("su-mondrian", lambda _: UtilityAware(Mondrian(strict=True), reference="lof")),
        _Recipe(
            "su-mondrian (ours)",  # a fifth round gains nothing: leftovers fill classes of k
            lambda _: UtilityAware(Mondrian(strict=True), reference="tightest", rounds=4),
        ),
    ),
    ("canon", "relaxed"): (
        _Recipe("canon", lambda seed: Canon(vantage="random", seed=seed), draws=True),
        _Recipe("canon (ours)", lambda seed: Canon(vantage="far", seed=seed), draws=True),
    ),
    ("u-canon", "relaxed"): (
        _Recipe(
            "u-canon",
            lambda seed: UtilityAware(Canon(vantage="random", seed=seed), reference="lof"),
            draws=True,
        ),
        _Recipe(
            "u-canon (ours)",
            lambda seed: UtilityAware(Canon(vantage="far", seed=seed), reference="tightest"),
            draws=True,
        ),
    ),
}
_ODD = {
    ("4.31", 5, "dm"): "printed as rows times k, which is no sum of squares",
    ("4.25", 5, "dm"): "printed as rows times k, which is no sum of squares",
    ("6.7", 5, "dm"): "the printed run holds two classes of 4",
    ("6.1", 5, "dm"): "the printed run holds two classes of 4",
}


@dataclass(frozen=True)
class _Result:
    """One run: figures of all classes, and the rounds of a u-model."""

    all: PartitionFigures
    rounds: ManagedRounds | None

    @property
    def gcp_rounds(self) -> float:
        """Loss of the classes that rounds made, as the print may mean it: it does not say."""
        return self.all.gcp_sum if self.rounds is None else float(self.rounds.gcp_sum.sum())

    def dm(self, k: int) -> int:
        """DM as printed: without the classes made of leftovers."""
        return self.all.dm if self.rounds is None else int(self.rounds.classes.sum()) * k * k


Results = Callable[[_Recipe, str, int], tuple[_Result, ...]]  # of a data set at a k, one for each seed


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table, in the order of the print."""
    printed = [[row for row in published_rows(name) if row["table"] == run.table] for name in _FILES]
    place = run.place(next(row["dataset"] for rows in printed for row in rows)).rounded(None)
    if run.table.startswith("7."):
        cluster = open_cluster(run.stack)
        reason = cluster.missing()
        if reason is not None:
            yield _not_run(place, [row for rows in printed for row in rows], reason)
            return
        results, ks = _on_cluster(cluster), QUICK_SPARK_KS
    else:
        results, ks = partial(_on_this_machine, seeds=1 if run.quick else SEEDS), QUICK_KS
    if run.quick:
        printed = [[row for row in rows if int(row["k"]) in ks] for rows in printed]
    summary, rounds = printed
    for row in summary:
        run.step(f"table {run.table}, {row['model']}, k={row['k']}")
        yield from _summary(place, row, results)
    for k, lines in groupby(rounds, key=lambda row: int(row["k"])):
        run.step(f"table {run.table}, rounds, k={k}")
        yield from _rounds(place, list(lines), results)


@cache
def _on_this_machine(recipe: _Recipe, dataset: str, k: int, *, seeds: int) -> tuple[_Result, ...]:
    points = SETS[dataset]()
    results = []
    for seed in range(seeds if recipe.draws else 1):
        partition = partition_by_size(recipe.make(seed), points, k)
        rounds = partition.how if isinstance(partition.how, ManagedRounds) else None
        results.append(_Result(measure(points, partition.labels, partition.classes), rounds))
    return tuple(results)


def _on_cluster(cluster: AdultOnSpark) -> Results:
    return lambda recipe, _, k: (_Result(*cluster.figures(recipe.make(0), k)),)


def _not_run(place: Place, printed: Sequence[Mapping[str, str]], reason: str) -> Row:
    models = ", ".join(dict.fromkeys(row["model"] for row in printed))
    note = f"Spark on {COPIES} copies of Adult: not run here; {reason}"
    place = place.at(strategy=printed[0]["strategy"])
    return place.row(models, "printed_rows", None, len(printed), note)


def _summary(place: Place, row: Mapping[str, str], results: Results) -> Iterator[Row]:
    """Give the figures of one printed line, in the published setting and in ours."""
    k, strategy, model, dataset = int(row["k"]), row["strategy"], row["model"], row["dataset"]
    place = place.at(k=k, strategy=strategy)
    for side, recipe in enumerate(_RECIPES[model, strategy]):
        if recipe is None:
            continue
        runs = results(recipe, dataset, k)
        for metric, value in _figures_of(runs, k).items():
            printed = float(row[_PRINTED[metric]]) if metric in _PRINTED else None
            note = _ODD.get((row["table"], k, metric), "") or _caveat(model, dataset, strategy, metric)
            yield _row(place, recipe.name, metric, value, printed, note)
        if model in _PLAIN:
            published, ours = _RECIPES[_PLAIN[model], strategy]
            plain = results(ours if side and ours is not None else published, dataset, k)
            note = f"{model} over {_PLAIN[model]}"
            value = _mean(runs, lambda run: run.all.gcp_sum) / _mean(plain, lambda run: run.all.gcp_sum)
            yield _row(place, recipe.name, "gcp_ratio", value, _printed_ratio(row, "gcp"), note)
            if model == "su-mondrian":
                value = _mean(runs, lambda run: run.dm(k)) / _mean(plain, lambda run: run.all.dm)
                yield _row(place, recipe.name, "dm_ratio", value, _printed_ratio(row, "dm"), note)


_PRINTED = {"classes": "classes", "dm": "dm", "gcp_sum": "gcp", "mean_class_size": "aecs"}


def _figures_of(runs: Sequence[_Result], k: int) -> dict[str, float]:
    figures = {
        "classes": _mean(runs, lambda run: run.all.classes),
        "dm": _mean(runs, lambda run: run.dm(k)),
        "gcp_sum": _mean(runs, lambda run: run.all.gcp_sum),
        "mean_class_size": _mean(runs, lambda run: run.all.mean_class_size),
    }
    if runs[0].rounds is not None:
        figures["dm_all"] = _mean(runs, lambda run: run.all.dm)
        figures["gcp_rounds"] = _mean(runs, lambda run: run.gcp_rounds)
    return figures


def _caveat(model: str, dataset: str, strategy: str, metric: str) -> str:
    if dataset == "diabetes" and (metric == "gcp_sum" or strategy == "strict"):
        return "the source does not say which columns it used: compare gcp_ratio"
    if strategy == "relaxed" and metric == "gcp_sum" and "mondrian" in model:
        return "the source lets ties fall anywhere; ours go by the other columns"
    return ""


def _printed_ratio(row: Mapping[str, str], figure: str) -> float:
    same = ("dataset", "strategy", "k")
    plain = next(
        other
        for other in published_rows("canbay2019_summary")
        if other["model"] == _PLAIN[row["model"]] and all(other[key] == row[key] for key in same)
    )
    return float(row[figure]) / float(plain[figure])


def _rounds(place: Place, printed: Sequence[Mapping[str, str]], results: Results) -> Iterator[Row]:
    """Give the rounds of one u-model; the last printed one holds all that came after it."""
    k, strategy, model = int(printed[0]["k"]), printed[0]["strategy"], printed[0]["model"]
    recipe, _ = _RECIPES[model, strategy]
    runs = results(recipe, place.dataset, k)
    for number, row in enumerate(printed):
        last = number == len(printed) - 1
        here = place.at(k=k, strategy=strategy, round=number + 1)
        folded = [_round(run, number, k, last=last) for run in runs]
        for metric in _IN_ROUNDS:
            published = float(row[_PRINTED.get(metric, metric)])
            value = float(np.mean([figures[metric] for figures in folded]))
            note = _caveat(model, place.dataset, strategy, metric) or (
                "holds all that came after it" if last else ""
            )
            note = _ODD.get((row["table"], k, metric), note) if last or metric != "dm" else note
            yield _row(here, recipe.name, metric, value, published, note)
        if last:
            alone = [_round(run, number, k, last=False) for run in runs]
            for metric in ("normal", "outliers"):
                value = float(np.mean([figures[metric] for figures in alone]))
                yield _row(here, recipe.name, f"{metric}_true", value, None, "of this round alone")


_IN_ROUNDS = ("normal", "outliers", "classes", "dm", "gcp_sum", "mean_class_size")


def _round(result: _Result, number: int, k: int, *, last: bool) -> dict[str, float]:
    rounds = result.rounds
    if rounds is None or number >= len(rounds.normal):
        return dict.fromkeys(_IN_ROUNDS, 0.0)
    if last:
        normal, outliers = int(rounds.normal[number:].sum()) + rounds.leftovers, 0
        classes = result.all.classes - int(rounds.classes[:number].sum())
        of_rounds = int(rounds.classes[number:].sum())
        loss = result.all.gcp_sum - float(rounds.gcp_sum[:number].sum())
    else:
        normal, outliers = int(rounds.normal[number]), int(rounds.outliers[number])
        classes = of_rounds = int(rounds.classes[number])
        loss = float(rounds.gcp_sum[number])
    figures = (normal, outliers, classes, of_rounds * k * k, loss, normal / max(classes, 1))
    return dict(zip(_IN_ROUNDS, figures, strict=True))


def _mean(runs: Sequence[_Result], figure: Callable[[_Result], float]) -> float:
    """Average over seeds; whole numbers of one run stay whole."""
    values = [figure(run) for run in runs]
    return values[0] if len(values) == 1 else float(np.mean(values))


def _row(place: Place, method: str, metric: str, ours: float, published: float | None, note: str) -> Row:
    if published is not None and metric in {"classes", "dm", "normal", "outliers"}:
        published = int(published)
    ours = int(ours) if float(ours).is_integer() else round(ours, 4)
    return place.row(method, metric, ours, published, note)
