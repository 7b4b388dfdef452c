"""How does the Spark engine grow with the table, and what does it cost beside one machine?

Strict Mondrian, k=100, five columns, Parquet to a release folder of Parquet, verification included, on two
cores. Rows say: jobs and time of Spark at each size; its time over that of the local engine at the same
size (asked for: at most 6 at 3e6); the time of each size over that of the size before (at most 13 for ten
times the rows); and a naive version, one job for each question about each split, as SMondrian was published.
The naive one reads the files anew for every question; it is stopped after a few splits and extrapolated to
all of them, which its row says. Starting Spark is a row of its own. ``peak_mb`` is the memory of the Python
driver, which the local engine does not share: it runs in a process of its own. Java has the 2 GB of
``--memory`` for driver and workers together. Repeats are interleaved and the minimum counts; all are printed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

import mahrem as mh
from mahrem.spark._session import start, stop

K = 100
QUASI = ["a", "b", "c", "d", "e"]
PART = 1_500_000  # rows of a file
WARM = 20_000
LOCAL = 3_000_000  # rows up to which the local engine runs too
LARGE = 2  # repeats above that


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    sizes: str
    repeats: int
    master: str
    memory: str
    splits: int
    folder: str | None
    local: str | None


def table(rows: int, seed: int) -> pl.DataFrame:
    """Smooth, skewed and coarse columns."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": rng.random(rows),
            "b": rng.normal(50, 12, rows).round(),
            "c": rng.exponential(10, rows).round(2),
            "d": rng.integers(0, 1000, rows),
            "e": np.where(rng.random(rows) < 0.6, 0.0, rng.random(rows)),
        }
    )


def write(rows: int, folder: Path) -> Path:
    """Write a table in files of a size that two cores can share."""
    path = folder / f"{rows}.parquet"
    path.mkdir(exist_ok=True)
    files = max(2, -(-rows // PART))
    for number, part in enumerate(np.diff(np.linspace(0, rows, files + 1).astype(int))):
        table(int(part), number).write_parquet(path / f"{number:04}.parquet")
    return path


def release(path: Path, folder: Path, engine: Literal["local", "spark"]) -> tuple[float, dict[str, Any]]:
    """Anonymise once; gives the seconds and the report."""
    began = time.perf_counter()
    made = mh.anonymize(
        path, quasi=QUASI, k=K, engine=engine, format="parquet", output=folder, force=True, html=False
    )
    return time.perf_counter() - began, dict(made.report)


def on_one_machine(path: Path, folder: Path) -> float:
    """Time the local engine in a process of its own, its kernels loaded."""
    told = [sys.executable, __file__, "--local", str(path), "--folder", str(folder)]
    return float(subprocess.run(told, check=True, capture_output=True, text=True).stdout)


def naive_splits(session: Any, path: Path, splits: int) -> float:
    """Cut as SMondrian was published: ask the cluster about one part and one column at a time."""
    from pyspark.sql import functions

    open_parts = [session.read.parquet(str(path))]
    began = time.perf_counter()
    for _ in range(splits):
        part = open_parts.pop(0)
        ends = part.agg(*(f(name) for name in QUASI for f in (functions.min, functions.max))).first()
        widest = QUASI[int(np.argmax([ends[2 * i + 1] - ends[2 * i] for i in range(len(QUASI))]))]
        counts = sorted((row[0], row[1]) for row in part.groupBy(widest).count().collect())
        running = np.cumsum([times for _, times in counts])
        median = counts[int(np.searchsorted(running, (running[-1] - 1) // 2, side="right"))][0]
        sides = part.where(part[widest] <= median), part.where(part[widest] > median)
        open_parts += [side for side in sides if side.count() >= 2 * K]
    return time.perf_counter() - began


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(case: str, n: int, seconds: float, baseline: str, other: float, **more: Any) -> dict[str, Any]:
    ratio = round(seconds / other, 3) if other else None
    found = {"case": case, "n": n, "seconds": round(seconds, 3), "baseline": baseline}
    return {**found, "baseline_seconds": round(other, 3), "ratio": ratio, "peak_mb": round(peak(), 1), **more}


def measured(options: Options, folder: Path) -> Iterator[dict[str, Any]]:
    """Give rows as they are known."""
    began = time.perf_counter()
    session = start(options.master, memory=options.memory)
    yield row("start Spark", 0, time.perf_counter() - began, "", 0.0)
    try:
        release(write(WARM, folder), folder / "out", "spark")  # workers load their kernels
        before = 0.0
        for n in (int(float(size)) for size in options.sizes.split(",")):
            path = write(n, folder)
            runs, local = [], []
            for _ in range(options.repeats if n <= LOCAL else min(options.repeats, LARGE)):
                runs.append(release(path, folder / "out-spark", "spark"))
                local += [on_one_machine(path, folder)] if n <= LOCAL else []
            ours, report = min(run[0] for run in runs), runs[0][1]
            jobs: dict[str, Any] = {name: report["engine"][name] for name in ("jobs", "levels", "parts")}
            jobs["runs"] = [round(run[0], 2) for run in runs]
            yield row("spark over local", n, ours, "local engine", min(local, default=0.0), **jobs)
            if before:
                yield row("growth", n, ours, "the size before", before)
            before = ours
            if n <= 300_000:
                classes = report["utility"]["published_classes"]
                naive = naive_splits(session, path, options.splits) / options.splits * (classes - 1)
                said = f"one job a question; {options.splits} splits, extrapolated to {classes - 1}"
                yield row("naive over ours", n, naive, f"ours ({said})", ours)
    finally:
        stop(session)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", default="3e5,3e6,3e7")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="2g")
    parser.add_argument("--splits", type=int, default=8, help="after which the naive version is stopped")
    parser.add_argument("--folder", help="where the tables go; removed at the end")
    parser.add_argument("--local", help="only time the local engine on this table")
    options = parser.parse_args(namespace=Options())
    if options.local:
        folder = Path(options.folder or ".")
        release(folder / f"{WARM}.parquet", folder / "out-local", "local")
        print(release(Path(options.local), folder / "out-local", "local")[0])
        return
    with tempfile.TemporaryDirectory(prefix="mahrem-bench-", dir=options.folder) as name:
        rows = []
        for found in measured(options, Path(name)):
            rows.append(found)
            if not options.json:
                print(found, flush=True)
    if options.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
