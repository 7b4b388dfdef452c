"""How fast are the methods beyond Mondrian, each against a named baseline in the same run?

u-Mondrian (five rounds) and its growth against ``scipy.spatial.cKDTree``; local outlier factors in many tiny
groups against one scikit-learn call per group; Mondrian on Adult against anonypy; classic MDAV on Adult
against the same in plain NumPy. Repeats are interleaved and the minimum counts. Peers live in environments of
their own (``--sklearn``, ``--anonypy`` name a Python that has them, as do MAHREM_PEER_SKLEARN and
MAHREM_PEER_ANONYPY); without one, its rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import _timing as timing
import numpy as np
from _points import COLUMNS, TREE, K, adult, uniform

from mahrem.arrays.tiling import local_outlier_factors
from mahrem.metrics import information_loss, standardised
from mahrem.models import KAnonymity
from mahrem.partition import Admission, Mdav, Mondrian, Mosaic, Partitioner, UtilityAware
from mahrem.types import Floats, Labels, Points

GROUPS, MEMBERS = 4096, 7


class Row(timing.Row):
    """One figure."""

    repeats: int


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    sizes: str
    repeats: int
    cases: str
    sklearn: str
    anonypy: str
    peak: list[str] | None


def run(method: Partitioner, points: Points) -> object:
    return method(points, Admission(((KAnonymity(K), None),), rows=len(points)))


def peak_here(case: str, rows: int) -> float:
    """Megabytes by which this process grows during one call."""
    method = METHODS[case]
    run(method, uniform(1000))
    points = uniform(rows)
    return timing.grown(lambda: run(method, points))


def peak(case: str, rows: int) -> float:
    """The same in a fresh process."""
    return float(timing.in_fresh_process(__file__, "--peak", case, str(rows)))


# Methods timed against cKDTree at every size; another method is one line here.
METHODS: dict[str, Partitioner] = {
    "u-mondrian, 5 rounds": UtilityAware(Mondrian()),
    "mosaic": Mosaic(),
}


def against_tree(options: Options) -> list[Row]:
    """Every method of METHODS on uniform rows."""
    from scipy.spatial import cKDTree

    rows: list[Row] = []
    for size in (int(float(text)) for text in options.sizes.split(",")):
        points = uniform(size)
        repeats = options.repeats
        works = {case: partial(run, method, points) for case, method in METHODS.items()}
        works[TREE] = partial(cKDTree, points, balanced_tree=True, leafsize=2 * K - 1)
        for method in METHODS.values():
            run(method, uniform(1000))
        best = timing.interleaved(works, repeats)
        rows += [
            Row(
                case=case,
                n=size,
                seconds=best[case],
                baseline=TREE,
                baseline_seconds=best[TREE],
                ratio=best[case] / best[TREE],
                peak_mb=peak(case, size),
                repeats=repeats,
            )
            for case in METHODS
        ]
    return rows


SKLEARN = """
import json, sys, time
import numpy as np
from sklearn.neighbors import LocalOutlierFactor
groups = np.random.default_rng(0).random((int(sys.argv[1]), int(sys.argv[2]), 5))
LocalOutlierFactor(n_neighbors=4).fit(groups[0])
start = time.perf_counter()
for group in groups:
    LocalOutlierFactor(n_neighbors=4).fit(group).negative_outlier_factor_
print(json.dumps(time.perf_counter() - start))
"""


def peer(python: str, code: str, *arguments: str) -> float:
    """Seconds that a peer says it took, in its own environment and on one core."""
    done = subprocess.run(
        [python, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return float(json.loads(done.stdout.strip().splitlines()[-1]))


def local_outliers(options: Options) -> list[Row]:
    """Factors of thousands of tiny groups in one call, against one scikit-learn call for each."""
    if not options.sklearn:
        print("local outlier factors: left out, no Python with scikit-learn is named", file=sys.stderr)
        return []
    points = np.random.default_rng(0).random((GROUPS * MEMBERS, 5))
    rows, offsets = np.arange(len(points), dtype=np.int32), np.arange(0, len(points) + 1, MEMBERS)
    local_outlier_factors(points, rows, offsets, K - 1)
    seconds, baseline = np.inf, np.inf
    for _ in range(options.repeats):  # interleaved with the peer, which times itself
        ours = timing.interleaved({"ours": lambda: local_outlier_factors(points, rows, offsets, K - 1)}, 5)
        seconds = min(seconds, ours["ours"])
        baseline = min(baseline, peer(options.sklearn, SKLEARN, str(GROUPS), str(MEMBERS)))
    return [
        Row(
            case=f"local outlier factors, {GROUPS} groups of {MEMBERS}",
            n=len(points),
            seconds=seconds,
            baseline="scikit-learn LocalOutlierFactor, one call per group",
            baseline_seconds=baseline,
            ratio=seconds / baseline,
            peak_mb=None,
            repeats=options.repeats,
        )
    ]


ANONYPY = """
import json, sys, time
import pandas as pd
from anonypy import anonypy
columns = sys.argv[2].split(",")
frame = pd.read_csv(sys.argv[1], skipinitialspace=True)
frame = frame[~(frame == "?").any(axis=1)].reset_index(drop=True)
start = time.perf_counter()
anonypy.Preserver(frame[[*columns, "sex"]], columns, "sex").anonymize_k_anonymity(k=int(sys.argv[3]))
print(json.dumps(time.perf_counter() - start))
"""


def mondrian_on_adult(options: Options) -> list[Row]:
    """Mondrian on Adult against anonypy; half a minute a run, so the peer runs once."""
    points = adult()
    if points is None or not options.anonypy:
        print("Mondrian on Adult: left out, no data or no Python with anonypy is named", file=sys.stderr)
        return []
    run(Mondrian(), points)
    best = timing.interleaved({"ours": lambda: run(Mondrian(), points)}, 5 * options.repeats)
    path = Path(os.environ["MAHREM_DATA"]) / "adult_train.csv"
    baseline = peer(options.anonypy, ANONYPY, str(path), ",".join(COLUMNS), str(K))
    return [
        Row(
            case="mondrian on adult",
            n=len(points),
            seconds=best["ours"],
            baseline="anonypy anonymize_k_anonymity, one run",
            baseline_seconds=baseline,
            ratio=best["ours"] / baseline,
            peak_mb=None,
            repeats=5 * options.repeats,
        )
    ]


def plain_mdav(points: Points, k: int) -> Labels:
    """Classic MDAV in plain NumPy."""
    left, labels, group = np.arange(len(points)), np.full(len(points), -1), 0

    def take(point: Floats) -> None:
        nonlocal left, group
        near = np.argsort(((points[left] - point) ** 2).sum(axis=1), kind="stable")[:k]
        labels[left[near]] = group
        group += 1
        left = np.delete(left, near)

    def far_from(point: Floats) -> Floats:
        far: Floats = points[left[((points[left] - point) ** 2).sum(axis=1).argmax()]]
        return far

    while len(left) >= 3 * k:
        far = far_from(points[left].mean(axis=0))
        take(far)
        take(far_from(far))
    if len(left) >= 2 * k:
        take(far_from(points[left].mean(axis=0)))
    labels[left] = group
    return labels


def mdav_on_adult(options: Options) -> list[Row]:
    """Classic MDAV on Adult against the same in plain NumPy; twenty seconds a run, so that one runs once."""
    points = adult()
    if points is None:
        return []
    points = standardised(points)
    method = Mdav(standardise=False)
    labels = method(points, Admission(((KAnonymity(K), None),), rows=len(points))).labels
    best = timing.interleaved({"ours": lambda: run(method, points)}, options.repeats)
    start = time.perf_counter()
    slow = plain_mdav(points, K)
    baseline = time.perf_counter() - start
    assert np.isclose(information_loss(points, labels), information_loss(points, slow), rtol=1e-3)
    return [
        Row(
            case="classic mdav on adult",
            n=len(points),
            seconds=best["ours"],
            baseline="classic MDAV in plain NumPy, one run",
            baseline_seconds=baseline,
            ratio=best["ours"] / baseline,
            peak_mb=None,
            repeats=options.repeats,
        )
    ]


# What is measured; another question is one function and one line here.
CASES: dict[str, Callable[[Options], list[Row]]] = {
    "tree": against_tree,
    "lof": local_outliers,
    "adult": mondrian_on_adult,
    "mdav": mdav_on_adult,
}


def show(rows: list[Row]) -> None:
    print(
        "case                                              n         s    base s     ratio  peak MB  baseline"
    )
    for row in rows:
        times = f"{row['seconds']:9.4f} {row['baseline_seconds']:9.3f} {row['ratio']:9.5f}"
        grown = "" if row["peak_mb"] is None else f"{row['peak_mb']:.1f}"
        print(
            f"{row['case']:42}{row['n']:>9} {times} {grown:>8}  {row['baseline']}, best of {row['repeats']}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--sizes", default="1e5,1e6,1e7", help="rows of the uniform cases")
    parser.add_argument("--repeats", type=int, default=5, help="at least five")
    parser.add_argument("--cases", default=",".join(CASES), help="which of " + ", ".join(CASES))
    parser.add_argument("--sklearn", default=os.environ.get("MAHREM_PEER_SKLEARN", ""))
    parser.add_argument("--anonypy", default=os.environ.get("MAHREM_PEER_ANONYPY", ""))
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(namespace=Options())
    if options.peak:
        print(peak_here(options.peak[0], int(options.peak[1])))
        return
    options.repeats = max(5, options.repeats)
    rows = [row for case in options.cases.split(",") for row in CASES[case](options)]
    if options.json:
        timing.print_json(rows)
    else:
        show(rows)


if __name__ == "__main__":
    main()
