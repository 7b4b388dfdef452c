"""How fast does Mondrian sort rows into classes, and how much memory does it take?

Against ``scipy.spatial.cKDTree`` with balanced cuts and the same leaf size, in the same run: warm, repeats
interleaved, minimum of ``repeats``. With a privacy model as split condition: against the plain kernel. Peak
memory is what a fresh process grows by during the call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import numpy as np
import polars as pl

from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity, PrivacyModel
from mahrem.partition import Admission, mondrian
from mahrem.table import Values
from mahrem.types import Points

K = 5
COLUMNS = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
TREE = f"cKDTree(balanced_tree=True, leafsize={2 * K - 1})"
MODELS: dict[str, PrivacyModel] = {"l=3": DistinctDiversity(3), "t=0.2": EqualCloseness(0.2)}
LARGE = 5_000_000  # rows from which on fewer repeats must do


class Row(TypedDict):
    """One figure."""

    case: str
    n: int
    strategy: str
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float
    peak_mb: float
    points_mb: float
    repeats: int


def uniform(rows: int) -> Points:
    return np.random.default_rng(0).random((rows, 5))


def adult() -> Points | None:
    path = Path(os.environ.get("MAHREM_DATA", "nowhere")) / "adult_train.csv"
    if not path.is_file():
        print("adult: left out, MAHREM_DATA names no folder with adult_train.csv", file=sys.stderr)
        return None
    frame = pl.read_csv(path, infer_schema_length=None)
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    kept = frame.filter(~pl.any_horizontal(pl.col(texts).str.strip_chars() == "?"))
    points = kept.select(pl.col(COLUMNS).cast(pl.Float64)).to_numpy()
    return np.ascontiguousarray((points - points.min(axis=0)) / np.ptp(points, axis=0))


def points_of(case: str, rows: int) -> Points:
    points = adult() if case == "adult" else uniform(rows)
    assert points is not None
    return points


def admission(rows: int, model: PrivacyModel | None = None) -> Admission:
    size = (KAnonymity(K), None)
    if model is None:
        return Admission((size,), rows=rows)
    codes = np.random.default_rng(1).integers(0, 10, rows).astype(np.int32)
    return Admission((size, (model, Values("sensitive", codes, 10))), rows=rows)


def warm_up() -> None:
    for strict in (True, False):
        for model in (None, *MODELS.values()):
            mondrian(uniform(1000), admission(1000, model), strict=strict)


def interleaved(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Run all works in turn, several times; gives the shortest time of each."""
    best = dict.fromkeys(works, np.inf)
    names = list(works)
    for _ in range(repeats):
        for name in names:
            start = time.perf_counter()
            works[name]()
            best[name] = min(best[name], time.perf_counter() - start)
        names.reverse()  # who comes after whom (and pays for fresh memory) must not decide
    return best


def memory(what: str) -> float:
    """Megabytes this process has now (VmRSS) or had at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(what))) / 1024


def peak_here(case: str, rows: int, strategy: str, condition: str) -> float:
    """Megabytes by which this process grows during one call."""
    warm_up()
    points = points_of(case, rows)
    admits = admission(len(points), MODELS.get(condition))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest so far
    before = memory("VmRSS")
    mondrian(points, admits, strict=strategy == "strict")
    return memory("VmHWM") - before


def peak(case: str, rows: int, strategy: str, condition: str = "") -> float:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--peak", case, str(rows), strategy, condition]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def against_tree(case: str, rows: int, repeats: int) -> list[Row]:
    from scipy.spatial import cKDTree

    points = points_of(case, rows)
    admits = admission(len(points))
    best = interleaved(
        {
            "strict": lambda: mondrian(points, admits, strict=True),
            "relaxed": lambda: mondrian(points, admits, strict=False),
            "tree": lambda: cKDTree(points, balanced_tree=True, leafsize=2 * K - 1),
        },
        repeats,
    )
    return [
        Row(
            case=case,
            n=len(points),
            strategy=strategy,
            seconds=best[strategy],
            baseline=TREE,
            baseline_seconds=best["tree"],
            ratio=best[strategy] / best["tree"],
            peak_mb=peak(case, rows, strategy),
            points_mb=points.nbytes / 2**20,
            repeats=repeats,
        )
        for strategy in ("strict", "relaxed")
    ]


def with_models(rows: int, repeats: int) -> list[Row]:
    points = uniform(rows)
    works: dict[str, Callable[[], object]] = {"plain": lambda: mondrian(points, admission(rows))}
    for condition, model in MODELS.items():
        admits = admission(rows, model)
        works[condition] = lambda admits=admits: mondrian(points, admits)  # type: ignore[misc]
    best = interleaved(works, repeats)
    return [
        Row(
            case=f"uniform, {condition}",
            n=rows,
            strategy="strict",
            seconds=best[condition],
            baseline="plain kernel",
            baseline_seconds=best["plain"],
            ratio=best[condition] / best["plain"],
            peak_mb=peak("uniform", rows, "strict", condition),
            points_mb=points.nbytes / 2**20,
            repeats=repeats,
        )
        for condition in MODELS
    ]


def show(rows: list[Row]) -> None:
    print("case                     n  strategy         s   base s  ratio  peak MB  points MB  baseline")
    for row in rows:
        times = f"{row['seconds']:8.3f} {row['baseline_seconds']:8.3f} {row['ratio']:6.2f}"
        sizes = f"{row['peak_mb']:8.1f} {row['points_mb']:10.1f}"
        print(
            f"{row['case']:16}{row['n']:>10}  {row['strategy']:9}{times} {sizes}  {row['baseline']}, "
            f"best of {row['repeats']}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--sizes", default="1e5,1e6,1e7", help="rows of the uniform cases")
    parser.add_argument("--repeats", type=int, default=7, help="at least five; three from 5e6 rows on")
    parser.add_argument("--peak", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        case, count, strategy, condition = options.peak
        print(peak_here(case, int(count), strategy, condition))
        return
    warm_up()
    repeats = max(5, options.repeats)
    rows: list[Row] = []
    if adult() is not None:
        rows += against_tree("adult", 0, 3 * repeats)
    for size in (int(float(text)) for text in options.sizes.split(",")):
        rows += against_tree("uniform", size, repeats if size < LARGE else 3)
        if size == 1_000_000:
            rows += with_models(size, repeats)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        show(rows)


if __name__ == "__main__":
    main()
