"""Does mosaic lose least under every promise, on the tables people have, and what do its members give away?

Eight tables times promises times k: gcp as reported, and the gain of guessing within classes over chance
(:func:`mahrem.metrics.guess_within_classes`: of each value that a twentieth of the rows have and half of
them at most, the mean over values; the better of two guesses), of Mondrian, u-Mondrian, the best of other
methods that cut, mosaic, and mosaic with blind steps. Rows are drawn
with a printed seed. Promises that the whole table does not keep are left out. Bars: mosaic above the best
other in 0 cells; median ratio at most .75; blind median at most .90, with a gain within .01 of Mondrian's.
A guess at some hundred rows is about a few dozen people: ``beyond luck`` counts the cells that are above by
more than 2.33 standard deviations of taking members at random, and ``--leak SEEDS`` runs Mondrian and blind
mosaic alone on so many samples of each table and gives means with their standard errors, the better guess
chosen by its mean.

``--cases`` runs the six cases of the prototype that mosaic under promises began with, with its figures
("+ 4 rounds") as bars. It counted a beginning of a ZIP code by the share of the codes under it, where the
report now counts hidden characters, so the patients' cases are lowered and measured by that yardstick:
Mondrian's losses come out as it printed them. Adult's are the report's (hours now lie on other lines).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from bench_mosaic_trees import trees_of
from scipy.spatial import cKDTree

import mahrem as mh
from mahrem.drafts import draft, prepare
from mahrem.drafts._method import admission
from mahrem.errors import MahremError
from mahrem.metrics import RowCounts, guess_within_classes, measure
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Mondrian, Mosaic, Partitioner, UtilityAware
from mahrem.partition.judging import Admission, ColumnCosts, within_patterns
from mahrem.partition.mosaic._repaired import Bench
from mahrem.release.decisions import Policy, cell_costs, policy_from, recoding_of
from mahrem.table import Axis, Leaves, Values, Words
from mahrem.types import Floats

DATA = Path(os.environ.get("MAHREM_DATA", "data"))
SEED = 25
OTHERS = ("mondrian", "u-mondrian", "canon", "u-canon", "optimised-mondrian")
PROMISES: dict[str, dict[str, Any]] = {
    "k": {},
    "people": {},
    "l=2": {"l": 2},
    "l=3": {"l": 3},
    "entropy l=2": {"l": 2, "l_kind": "entropy"},
    "t=.2": {"t": 0.2},
    "t=.2 ordered": {"t": 0.2, "t_kind": "ordered"},
    "alpha=.5": {"alpha": 0.5},
    "beta=2": {"beta": 2.0},
    "two columns, l=2": {"l": 2},
}
GUESSES = ("extremes", "model")
NEAR, SURE = 0.01, 2.33  # what a gain may be above Mondrian's; standard deviations (one in a hundred)
CASES: dict[tuple[str, str], tuple[dict[str, Any], float]] = {
    ("adult", "t=.2, k=5"): ({"t": 0.2, "k": 5}, 0.094),
    ("adult", "t=.2, k=20"): ({"t": 0.2, "k": 20}, 0.149),
    ("adult", "l=2, k=5"): ({"l": 2, "k": 5}, 0.068),
    ("patients", "people, k=5"): ({"subject": "patient_id", "k": 5}, 0.127),
    ("patients", "people, k=20"): ({"subject": "patient_id", "k": 20}, 0.280),
    ("patients", "l=3, k=20"): ({"sensitive": ["diagnosis"], "l": 3, "k": 20}, 0.260),
}
Row = dict[str, Any]


def tables(rows: int, seed: int = SEED) -> dict[str, tuple[pl.DataFrame, Row]]:
    """Give eight tables: quasi-identifiers, two sensitive columns, and who is who where that is known."""
    adult = pl.read_csv(DATA / "adult_train.csv", null_values="?").drop_nulls()
    diabetes = pl.read_csv(DATA / "diabetes_130us.csv.gz", null_values="?", infer_schema=False)
    days = np.random.default_rng(SEED).integers(0, 3650, diabetes.height)  # admission dates are not in it
    diabetes = diabetes.with_columns(admission=pl.Series(np.datetime64("1999-01-01") + days)).drop_nulls(
        ["race", "diag_1"]
    )
    bank = pl.read_csv(DATA / "bank_marketing.csv")
    nursery = pl.read_csv(DATA / "nursery.csv", infer_schema_length=None)
    housing = pl.read_csv(DATA / "california_housing.csv", infer_schema_length=None).drop_nulls()
    numbers = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
    words = ["workclass", "education", "marital-status", "relationship", "race", "sex"]
    mixed = ["age", "education", "marital-status", "occupation", "sex", "hours-per-week"]
    found: dict[str, tuple[pl.DataFrame, Row]] = {
        "patients": (
            mh.demo_patients(rows) if seed == SEED else mh.demo_patients(rows, seed=seed),
            {
                "quasi": ["age", "sex", "zip", "admission"],
                "sensitive": ["diagnosis", "cost"],
                "subject": "patient_id",
            },
        ),
        "adult numbers": (adult, {"quasi": numbers, "sensitive": ["occupation", "income"]}),
        "adult words": (adult, {"quasi": words, "sensitive": ["occupation", "income"]}),
        "adult mixed": (
            adult,
            {
                "quasi": mixed,
                "sensitive": ["income", "workclass"],
                "hierarchy": trees_of("education", "marital-status", "occupation"),
            },
        ),
        "diabetes": (
            diabetes,
            {
                "quasi": ["race", "gender", "age", "admission", "diag_1"],
                "sensitive": ["readmitted", "insulin"],
                "subject": "patient_nbr",
                "kind": {"diag_1": "code"},
            },
        ),
        "bank": (
            bank,
            {"quasi": ["age", "job", "marital", "education", "balance"], "sensitive": ["month", "poutcome"]},
        ),
        "nursery": (
            nursery,
            {
                "quasi": ["parents", "has_nurs", "form", "children", "housing"],
                "sensitive": ["class", "health"],
            },
        ),
        "housing": (
            housing,
            {
                "quasi": ["longitude", "latitude", "housing_median_age", "median_income"],
                "sensitive": ["ocean_proximity", "total_rooms"],
            },
        ),
    }
    return {
        name: (frame.sample(min(rows, frame.height), seed=seed), settings)
        for name, (frame, settings) in found.items()
    }


def settings_of(about: Row, promise: str, k: int) -> Row | None:
    """Give the settings of one cell of the grid; None where the table cannot have it."""
    given = {**about, "k": k, "rest": "drop", **PROMISES[promise]}
    subject = given.pop("subject", None)
    if promise == "people":
        if subject is None:
            return None
        given["subject"] = subject
    if promise in {"k", "people"}:
        given.pop("sensitive")
    elif not promise.startswith("two"):
        given["sensitive"] = given["sensitive"][:1]
    if promise == "t=.2 ordered":
        given["kind"] = {**given.get("kind", {}), given["sensitive"][0]: "categorical"}
    return given


def measured(frame: pl.DataFrame, settings: Row, method: str, options: Row) -> Row:
    """Run a method; gives the loss the report would say, what guessing gains, and seconds."""
    given = {**settings, "method": method, "options": options}
    if "sensitive" in settings:
        given["minimality_safe"] = False
    policy = policy_from(None, given, whole=True)
    prepared = prepare(frame, policy)
    started, busy = time.perf_counter(), time.process_time()
    made = draft(prepared, policy)
    row: Row = {"seconds": time.perf_counter() - started, "processor_seconds": time.process_time() - busy}
    found = made.partition
    row["classes"] = found.classes
    losses, _ = measure(
        made.sizes,
        made.cells,
        RowCounts(rows=prepared.rows, suppressed=int(made.hidden.sum()), classes=found.classes),
        k=1,
        hierarchies=made.trees,
    )
    row["loss"] = losses["gcp"]
    if prepared.values:
        values = next(iter(prepared.values.values()))
        guesses = guess_within_classes(prepared.points(), found.labels, values.codes)
        row |= {"chance": guesses.chance, "extremes": guesses.extremes, "model": guesses.model}
        row |= {"gain": guesses.gain, "spread": guesses.spread}
    return row


def grid(args: argparse.Namespace) -> Iterator[Row]:
    for name, (frame, about) in tables(args.rows).items():
        if args.table and name not in args.table:
            continue
        for promise in args.promise or PROMISES:
            for k in args.k:
                settings = settings_of(about, promise, k)
                if settings is None:
                    continue
                row: Row = {"table": name, "rows": frame.height, "promise": promise, "k": k, "seed": SEED}
                runs: dict[str, tuple[str, Row]] = {method: (method, {}) for method in args.other}
                runs |= {"mosaic": ("mosaic", {})}
                if "sensitive" in settings:
                    runs["blind"] = ("mosaic", {"blind": True})
                try:
                    found = {
                        key: measured(frame, settings, method, options)
                        for key, (method, options) in runs.items()
                    }
                except MahremError as error:
                    yield {**row, "left_out": type(error).__name__}
                    continue
                best = min(found[method]["loss"] for method in args.other)
                row["ratio"] = found["mosaic"]["loss"] / best if best > 0 else 1.0
                if "blind" in found:
                    row["blind_ratio"] = found["blind"]["loss"] / best if best > 0 else 1.0
                yield {
                    **row,
                    **{f"{key} {what}": one for key, run in found.items() for what, one in run.items()},
                }


def leaks(args: argparse.Namespace) -> Iterator[Row]:
    """Give how much better members are guessed with blind steps than with Mondrian's cuts, by samples."""
    samples = [tables(args.rows, SEED + turn) for turn in range(args.leak)]
    for name in args.table or samples[0]:
        about = samples[0][name][1]
        for promise, k in itertools.product(args.promise or PROMISES, args.k):
            settings = settings_of(about, promise, k)
            if settings is None or "sensitive" not in settings:
                continue
            found = []
            for sample in samples:
                try:
                    cut = measured(sample[name][0], settings, "mondrian", {})
                    blind = measured(sample[name][0], settings, "mosaic", {"blind": True})
                except MahremError:
                    continue
                found.append([[run[guess] - run["chance"] for guess in GUESSES] for run in (cut, blind)])
            if len(found) > 1:
                more, error = beyond(np.array(found))
                yield {
                    "table": name,
                    "rows": args.rows,
                    "promise": promise,
                    "k": k,
                    "samples": len(found),
                    "blind gain beyond Mondrian's": more,
                    "standard error": error,
                    "each": [max(blind) - max(cut) for cut, blind in found],
                    "seed": SEED,
                }


def beyond(gains: Floats) -> tuple[float, float]:
    """Give what the better guess gains on blind classes beyond Mondrian's, by samples, and its error.

    Which guess is the better one the means decide: of two that are luck alone the better one of each sample
    would seem to gain. ``gains`` is by samples, Mondrian's and blind classes, and guesses; one sample is left
    out at a time for the error.
    """

    def gained(some: Floats) -> float:
        cut, blind = some.mean(axis=0).max(axis=1)
        return float(blind - cut)

    less = np.array([gained(np.delete(gains, one, axis=0)) for one in range(len(gains))])
    return gained(gains), float(np.sqrt((len(gains) - 1) * less.var()))


def leak_summary(rows: list[Row]) -> Row:
    means = np.array([row["blind gain beyond Mondrian's"] for row in rows])
    errors = np.array([row["standard error"] for row in rows])
    least = min(row["samples"] for row in rows)
    by_sample = np.array([row["each"][:least] for row in rows]).mean(axis=0)  # cells share their people
    return {
        "cells": len(rows),
        "within .01": int((means <= NEAR).sum()),
        "beyond luck": int((means - SURE * errors > NEAR).sum()),
        "within .01 in single samples": int(sum(one <= NEAR + 1e-9 for row in rows for one in row["each"])),
        "single samples": sum(row["samples"] for row in rows),
        "greatest mean": float(means.max()),
        "median standard error": float(np.median(errors)),
        "mean": float(means.mean()),
        "its standard error": float(by_sample.std(ddof=1) / len(by_sample) ** 0.5),
    }


def case_costs(axes: Sequence[Axis], policy: Policy) -> tuple[ColumnCosts, ...]:
    """Price cells as the prototype did: codes by the share of codes under a beginning, widths by the span."""
    return tuple(
        _priced_as_once(axis, costs, policy)
        for axis, costs in zip(axes, cell_costs(axes, policy), strict=True)
    )


def _priced_as_once(axis: Axis, costs: ColumnCosts, policy: Policy) -> ColumnCosts:
    if isinstance(axis.domain, Words) and axis.domain.prefixes:
        codes = axis.domain.labels
        under = [
            sum(code.startswith(beginning) for code in codes) / len(codes)
            for beginning in (_shared(one, other) for one, other in itertools.pairwise(codes))
        ]
        return replace(costs, price=np.array([0.0, *under]), alone=np.zeros(len(codes)))
    if costs.low is None or costs.high is None or isinstance(axis.domain, Words | Leaves):
        return costs
    known = replace(axis, positions=np.array([axis.domain.low, axis.domain.high]))
    cells = recoding_of(axis, policy, None)(known, np.arange(2), 2)
    assert cells.low is not None and cells.high is not None  # noqa: PT018 - numbers and dates have ends
    low, high = (end.to_physical().cast(float).to_numpy() for end in (cells.low, cells.high))
    wider = (high[1] - low[0]) / (axis.domain.high - axis.domain.low)  # of what is shown, in spans
    return replace(costs, low=costs.low * wider, high=costs.high * wider)


def _shared(one: str, other: str) -> str:
    """Give the longest beginning of two codes."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(sign for sign, _ in same)


def cases(args: argparse.Namespace) -> Iterator[Row]:
    """Give losses and times of the prototype's six cases beside its own."""
    adult = pl.read_csv(DATA / "adult_train.csv", null_values="?").drop_nulls()
    mixed = ["age", "education", "marital-status", "occupation", "sex", "hours-per-week"]
    about = {
        "adult": (adult, {"quasi": mixed, "sensitive": ["income"], "rest": "drop"}),
        "patients": (
            mh.demo_patients(2_000),
            {"quasi": ["age", "sex", "zip", "admission"], "rest": "drop"},
        ),
    }
    for (name, what), (promise, bar) in CASES.items():
        frame, settings = about[name]
        policy = policy_from(None, {**settings, **promise, "method": "mosaic"}, whole=True)
        prepared = prepare(frame, policy)
        costs = (case_costs if name == "patients" else cell_costs)(prepared.axes, policy)
        points, absent, judge = prepared.points(), prepared.absent(), admission(prepared)
        row: Row = {"case": f"{name}, {what}", "rows": prepared.rows, "bar": bar}
        methods: dict[str, Partitioner] = {
            "mondrian": Mondrian(),
            "u-mondrian": UtilityAware(Mondrian()),
            "mosaic": Mosaic(cells=costs),
        }
        for key, method in methods.items():
            times = []
            for _ in range(args.repeat if key == "mosaic" else 1):
                started, busy = time.perf_counter(), time.process_time()
                found = within_patterns(method, points, absent, judge)
                times.append((time.perf_counter() - started, time.process_time() - busy))
            total = Bench(points, judge, costs).total(found.labels, found.classes)
            row[key] = total / prepared.rows / len(costs)
        row["seconds"], row["processor_seconds"] = (min(one) for one in zip(*times, strict=True))
        yield {**row, "met": round(row["mosaic"], 3) <= bar}  # the bars have three digits


def large(rows: int) -> Iterator[Row]:
    """Give processor time at so many uniform points x 5, k=5, as multiples of SciPy's k-d tree."""
    rng = np.random.default_rng(SEED)
    points = rng.random((rows, 5))
    values = Values("value", rng.integers(0, 10, rows).astype(np.int32), 10)
    people = rng.integers(0, rows * 9 // 10, rows).astype(np.int32)
    size = ((KAnonymity(5), None),)
    judges = {
        "k": Admission(size, rows),
        "l=3": Admission((*size, (DistinctDiversity(3), values)), rows),
        "people": Admission(size, rows, subjects=people),
    }
    Mosaic()(points[:60_000], Admission(size, 60_000))  # loads what is needed
    began = time.process_time()
    cKDTree(points, balanced_tree=True, leafsize=9)
    tree = time.process_time() - began
    for promise, admits in judges.items():
        began = time.process_time()
        classes = Mosaic()(points, admits).classes
        times = (time.process_time() - began) / tree
        yield {"rows": rows, "promise": promise, "classes": classes, "times cKDTree": times, "seed": SEED}


def on_spark(rows: int, part: int) -> Iterator[Row]:
    """Give what mosaic, and repair after Mondrian, lose on a cluster that finishes parts of so many rows."""
    from mahrem.spark import _cluster

    _cluster._LEAST_PART = part  # noqa: SLF001 - a table of this size would be one part: the same classes
    frame = mh.demo_patients(rows)
    about: Row = {"quasi": ["age", "sex", "zip", "admission"], "rest": "drop", "k": 5, "html": False}
    valued: Row = {"sensitive": ["diagnosis"], "l": 2}
    runs: dict[str, Row] = {
        "mosaic, l=2": {"method": "mosaic", **valued},
        "mosaic, k": {"method": "mosaic"},
        "mondrian repaired, k": {"method": "mondrian", "repair": True},
        "mosaic blind, l=2": {"method": "mosaic", **valued, "options": {"blind": True}},
    }
    for name, given in runs.items():
        losses = {}
        for engine in ("local", "spark"):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "people.parquet"
                frame.write_parquet(path)
                where: Row = {"engine": engine, "format": "parquet", "output": Path(folder) / "out"}
                usual: Row = {"minimality_safe": False} if engine == "local" and "l" in given else {}
                released = mh.anonymize(path, **about, **given, **where, **usual)
                losses[engine] = released.report["utility"]["gcp"]
        ratio = losses["spark"] / losses["local"]
        yield {"rows": rows, "part": part, "run": name, **losses, "ratio": ratio, "met": ratio <= 1 + NEAR}


def summary(rows: list[Row]) -> Row:
    done = [row for row in rows if "ratio" in row]
    blind = [row for row in done if "blind_ratio" in row]
    gains = [row["blind gain"] - row["mondrian gain"] for row in blind if "mondrian gain" in row]
    return {
        "cells": len(done),
        "left out": len(rows) - len(done),
        "above the best other": sum(row["ratio"] > 1 + 1e-9 for row in done),
        "median ratio": float(np.median([row["ratio"] for row in done])) if done else None,
        "blind median ratio": float(np.median([row["blind_ratio"] for row in blind])) if blind else None,
        "blind gain beyond Mondrian's, median": float(np.median(gains)) if gains else None,
        "mean": float(np.mean(gains)) if gains else None,
        "its standard error": float(np.std(gains, ddof=1) / len(gains) ** 0.5) if len(gains) > 1 else None,
        "within .01": sum(gain <= NEAR + 1e-9 for gain in gains),
        "beyond luck": sum(
            1
            for row in blind
            if "mondrian gain" in row
            and row["blind gain"] - row["mondrian gain"] - NEAR
            > SURE * np.hypot(row["blind spread"], row["mondrian spread"])
        ),
        "blind cells": len(gains),
        "mosaic gain beyond Mondrian's, median": (
            float(np.median([row["mosaic gain"] - row["mondrian gain"] for row in blind])) if blind else None
        ),
        "seed": SEED,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--table", nargs="+")
    parser.add_argument("--promise", nargs="+")
    parser.add_argument("--other", nargs="+", default=list(OTHERS))
    parser.add_argument("--large", type=int, metavar="ROWS", help="time at so many points instead")
    parser.add_argument("--spark", type=int, metavar="ROWS", help="losses on this machine as a cluster")
    parser.add_argument("--part", type=int, default=50_000, help="rows of a part on it")
    parser.add_argument("--leak", type=int, metavar="SEEDS", help="guesses alone, on so many samples")
    parser.add_argument("--cases", action="store_true", help="the six cases of the prototype instead")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each case; the quickest counts")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.large:
        for row in large(args.large):
            print(json.dumps(row), flush=True)
        return
    if args.spark:
        for row in on_spark(args.spark, args.part):
            print(json.dumps(row), flush=True)
        return
    if args.cases:
        for row in cases(args):
            print(json.dumps(row), flush=True)
        return
    rows = []
    if args.leak:
        for row in leaks(args):
            rows.append(row)
            print(json.dumps(row), flush=True)
        print(json.dumps(leak_summary(rows)))
        return
    for row in grid(args):
        rows.append(row)
        short = {key: round(one, 4) if isinstance(one, float) else one for key, one in row.items()}
        print(json.dumps(short), flush=True) if args.json else print(
            row["table"], row["promise"], row["k"], short.get("ratio"), short.get("blind_ratio"), flush=True
        )
    print(json.dumps(summary(rows)), file=sys.stdout)


if __name__ == "__main__":
    main()
