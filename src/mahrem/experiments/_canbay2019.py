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
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from mahrem.experiments._canbay2019_spark import COPIES, OnSpark
from mahrem.experiments._measure import Figures, figures, partitioned
from mahrem.experiments._row import Row, published_rows
from mahrem.experiments._sets import adult, diabetes
from mahrem.partition import Canon, InheritedMondrian, ManagedRounds, Mondrian, Partitioner, UtilityAware
from mahrem.types import Points

__all__ = ["TABLES", "rows_of"]

PAPER = "canbay2019"
SEEDS = 5
QUICK_KS = (5, 50)
QUICK_SPARK_KS = (100,)
SETS: Mapping[str, Callable[[], Points]] = {"adult": adult, "diabetes": diabetes}
TABLES = tuple(
    dict.fromkeys(
        row["table"]
        for row in (*published_rows("canbay2019_summary"), *published_rows("canbay2019_iterations"))
    )
)


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

    all: Figures
    rounds: ManagedRounds | None

    @property
    def gcp_rounds(self) -> float:
        """Loss of the classes that rounds made, as the print may mean it: it does not say."""
        return self.all.gcp_sum if self.rounds is None else float(self.rounds.gcp_sum.sum())

    def dm(self, k: int) -> int:
        """DM as printed: without the classes made of leftovers."""
        return self.all.dm if self.rounds is None else int(self.rounds.classes.sum()) * k * k


Run = Callable[..., tuple[_Result, ...]]  # as :func:`_results`


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables, in the order of the print."""
    seeds = 1 if quick else SEEDS
    for table in tables:
        if table.startswith("7."):
            continue
        for row in published_rows("canbay2019_summary"):
            if row["table"] == table and (not quick or int(row["k"]) in QUICK_KS):
                step(f"table {table}, {row['model']}, k={row['k']}")
                yield from _summary(row, seeds)
        printed = [row for row in published_rows("canbay2019_iterations") if row["table"] == table]
        for k, found in groupby(printed, key=lambda row: int(row["k"])):
            if not quick or k in QUICK_KS:
                step(f"table {table}, rounds, k={k}")
                yield from _rounds(list(found), k, seeds)
    with OnSpark() as spark:
        for table in tables:
            if table.startswith("7."):
                yield from _on_spark(table, spark, quick=quick, step=step)


def _on_spark(table: str, spark: OnSpark, *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of a table that ran on Spark, or one that says why it did not."""

    def run(_: str, model: str, strategy: str, k: int, _seeds: int, *, ours: bool) -> tuple[_Result, ...]:
        found = spark.figures(_recipe(model, strategy, ours=ours).make(0), k)
        return () if found is None else (_Result(*found),)

    wanted = {
        name: [
            row
            for row in published_rows(name)
            if row["table"] == table and (not quick or int(row["k"]) in QUICK_SPARK_KS)
        ]
        for name in ("canbay2019_summary", "canbay2019_iterations")
    }
    for row in wanted["canbay2019_summary"]:
        step(f"table {table}, {row['model']}, k={row['k']}")
        if not run(row["dataset"], row["model"], "strict", int(row["k"]), 1, ours=False):
            yield _not_run(table, spark.missing or "")
            return
        yield from _summary(row, 1, run)
    for k, found in groupby(wanted["canbay2019_iterations"], key=lambda row: int(row["k"])):
        printed = list(found)
        step(f"table {table}, rounds, k={k}")
        if not run(printed[0]["dataset"], printed[0]["model"], "strict", k, 1, ours=False):
            yield _not_run(table, spark.missing or "")
            return
        yield from _rounds(printed, k, 1, run)


def _not_run(table: str, reason: str) -> Row:
    printed = [
        row
        for name in ("canbay2019_summary", "canbay2019_iterations")
        for row in published_rows(name)
        if row["table"] == table
    ]
    return Row(
        paper=PAPER,
        table=table,
        dataset=printed[0]["dataset"],
        setting={"strategy": printed[0]["strategy"]},
        method=", ".join(dict.fromkeys(row["model"] for row in printed)),
        metric="printed_rows",
        published=len(printed),
        note=f"Spark on {COPIES} copies of Adult: not run here; {reason}",
    )


def _summary(row: Mapping[str, str], seeds: int, run: Run | None = None) -> Iterator[Row]:
    """Give the figures of one printed line, in the published setting and in ours."""
    run = run or _results
    k, strategy, model, dataset = int(row["k"]), row["strategy"], row["model"], row["dataset"]
    published, ours = _RECIPES[model, strategy]
    said = {"table": row["table"], "dataset": dataset, "k": k, "strategy": strategy}
    for recipe in (published, ours) if ours is not None else (published,):
        results = run(dataset, model, strategy, k, seeds if recipe.draws else 1, ours=recipe is ours)
        for metric, value in _figures_of(results, k).items():
            printed = float(row[_PRINTED[metric]]) if metric in _PRINTED else None
            note = _ODD.get((row["table"], k, metric), "") or _caveat(model, dataset, strategy, metric)
            yield _row(said, recipe.name, metric, printed, value, note)
        if model in _PLAIN:
            plain = run(dataset, _PLAIN[model], strategy, k, seeds, ours=recipe is ours)
            note = f"{model} over {_PLAIN[model]}"
            value = _mean(results, lambda one: one.all.gcp_sum) / _mean(plain, lambda one: one.all.gcp_sum)
            yield _row(said, recipe.name, "gcp_ratio", _printed_ratio(row, "gcp"), value, note)
            if model == "su-mondrian":
                value = _mean(results, lambda one: one.dm(k)) / _mean(plain, lambda one: one.all.dm)
                yield _row(said, recipe.name, "dm_ratio", _printed_ratio(row, "dm"), value, note)


_PRINTED = {"classes": "classes", "dm": "dm", "gcp_sum": "gcp", "mean_class_size": "aecs"}


def _figures_of(results: Sequence[_Result], k: int) -> dict[str, float]:
    found = {
        "classes": _mean(results, lambda one: one.all.classes),
        "dm": _mean(results, lambda one: one.dm(k)),
        "gcp_sum": _mean(results, lambda one: one.all.gcp_sum),
        "mean_class_size": _mean(results, lambda one: one.all.mean_class_size),
    }
    if results[0].rounds is not None:
        found["dm_all"] = _mean(results, lambda one: one.all.dm)
        found["gcp_rounds"] = _mean(results, lambda one: one.gcp_rounds)
    return found


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


def _rounds(
    printed: Sequence[Mapping[str, str]], k: int, seeds: int, run: Run | None = None
) -> Iterator[Row]:
    """Give the rounds of one u-model; the last printed one holds all that came after it."""
    first = printed[0]
    dataset, model, strategy = first["dataset"], first["model"], first["strategy"]
    recipe, _ = _RECIPES[model, strategy]
    results = (run or _results)(dataset, model, strategy, k, seeds if recipe.draws else 1, ours=False)
    for number, row in enumerate(printed):
        last = number == len(printed) - 1
        said = {"table": row["table"], "dataset": dataset, "k": k, "strategy": strategy, "round": number + 1}
        folded = [_round(one, number, k, last=last) for one in results]
        for metric in ("normal", "outliers", "classes", "dm", "gcp_sum", "mean_class_size"):
            printed_value = float(row[_PRINTED.get(metric, metric)])
            value = float(np.mean([one[metric] for one in folded]))
            note = _caveat(model, dataset, strategy, metric) or (
                "holds all that came after it" if last else ""
            )
            note = _ODD.get((row["table"], k, metric), note) if last or metric != "dm" else note
            yield _row(said, recipe.name, metric, printed_value, value, note)
        if last:
            true = [_round(one, number, k, last=False) for one in results]
            for metric in ("normal", "outliers"):
                value = float(np.mean([one[metric] for one in true]))
                yield _row(said, recipe.name, f"{metric}_true", None, value, "of this round alone")


def _round(result: _Result, number: int, k: int, *, last: bool) -> dict[str, float]:
    rounds = result.rounds
    if rounds is None or number >= len(rounds.normal):
        return dict.fromkeys(("normal", "outliers", "classes", "dm", "gcp_sum", "mean_class_size"), 0.0)
    if not last:
        normal, classes = int(rounds.normal[number]), int(rounds.classes[number])
        outliers, loss = int(rounds.outliers[number]), float(rounds.gcp_sum[number])
        made = classes
    else:
        before = result.all.classes - int(rounds.classes[:number].sum())
        normal = int(rounds.normal[number:].sum()) + rounds.leftovers
        outliers, classes, made = 0, before, int(rounds.classes[number:].sum())
        loss = result.all.gcp_sum - float(rounds.gcp_sum[:number].sum())
    size = normal / max(classes, 1)
    found = {"normal": normal, "outliers": outliers, "classes": classes, "dm": made * k * k}
    return {**found, "gcp_sum": loss, "mean_class_size": size}


@cache
def _results(
    dataset: str, model: str, strategy: str, k: int, seeds: int, *, ours: bool
) -> tuple[_Result, ...]:
    recipe = _recipe(model, strategy, ours=ours)
    points = SETS[dataset]()
    found = []
    for seed in range(seeds if recipe.draws else 1):
        partition = partitioned(recipe.make(seed), points, k)
        rounds = partition.how if isinstance(partition.how, ManagedRounds) else None
        found.append(_Result(figures(points, partition.labels, partition.classes), rounds))
    return tuple(found)


def _recipe(model: str, strategy: str, *, ours: bool) -> _Recipe:
    published, own = _RECIPES[model, strategy]
    return own if ours and own is not None else published


def _mean(results: Sequence[_Result], figure: Callable[[_Result], float]) -> float:
    """Average over seeds; whole numbers of one run stay whole."""
    values = [figure(one) for one in results]
    return values[0] if len(values) == 1 else float(np.mean(values))


def _row(
    said: Mapping[str, Any], method: str, metric: str, published: float | None, ours: float, note: str
) -> Row:
    whole = published is not None and metric in {"classes", "dm", "normal", "outliers"}
    return Row(
        paper=PAPER,
        table=said["table"],
        dataset=said["dataset"],
        setting={key: value for key, value in said.items() if key not in {"table", "dataset"}},
        method=method,
        metric=metric,
        published=int(published) if whole and published is not None else published,
        ours=int(ours) if float(ours).is_integer() else round(ours, 4),
        note=note,
    )
