"""How long does a synthetic table take, and does memory grow with the rows that are drawn?

Adult with all 15 columns at epsilon 1: the fit (paying, counting, then selecting and mirror descent, or noisy
steps of a network) against reading the file and training one gradient boosting on it; networks are timed
once, for they take minutes. Then rows are drawn and written part by part, 1e5 and 1e6, each in a process of
its own: its peak memory beside that of a process that only fits. Last, LiRA with 16 shadow models of a small
network, 5000 rows and 5000 others, against training 16 networks.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path

import polars as pl
from _timing import Row, in_fresh_process, interleaved, print_json, timed
from bench_attacks_models import SIZE, adult, measured, network

from mahrem.attacks.on_models import Lira
from mahrem.datasets import find
from mahrem.experiments._dp_synthesis import synthetic_adult
from mahrem.table.writing import write_parts

SIZES = (100_000, 1_000_000)
METHODS = {"marginals": None, "vae": 1, "gan": 1}  # how often a fit is timed; None: as the command line says
DRAWN = ("marginals",)


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    repeats: int
    worker: str | None
    rows: int


def boosting() -> object:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    table = pl.read_csv(find("adult_train"))
    words = [name for name, dtype in table.schema.items() if dtype == pl.String]
    codes = table.with_columns(pl.col(name).rank("dense").cast(pl.Int64) for name in words)
    features = codes.drop("income").to_numpy()
    with threadpool_limits(1):  # on a busy machine more threads wait for each other
        return HistGradientBoostingClassifier(early_stopping=False).fit(features, codes["income"].to_numpy())


def fits(method: str, repeats: int) -> Row:
    best = interleaved({"ours": lambda: synthetic_adult(method, 1.0), "theirs": boosting}, repeats)
    return {
        "case": f"fit {method}, Adult, 15 columns, epsilon 1",
        "n": 32_561,
        "seconds": best["ours"],
        "baseline": "read the file and train one gradient boosting",
        "baseline_seconds": best["theirs"],
        "ratio": best["ours"] / best["theirs"],
        "peak_mb": None,
    }


def work(method: str, rows: int) -> None:
    """Fit, draw and write; prints seconds of drawing and the peak memory of this process."""
    fitted = synthetic_adult(method, 1.0)
    seconds = 0.0
    if rows:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "data.parquet"
            seconds = timed(lambda: write_parts(fitted.batches(rows, seed=1), target, "parquet"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


def draws(method: str) -> list[Row]:
    found = {}
    for rows in (0, *SIZES):
        found[rows] = json.loads(in_fresh_process(__file__, "--worker", method, "--rows", str(rows)))
    small = found[SIZES[0]]
    return [
        {
            "case": f"draw and write {rows:,} rows, {method}; fit alone {found[0]['peak_mb']:.0f} MB",
            "n": rows,
            "seconds": found[rows]["seconds"],
            "baseline": f"{SIZES[0]:,} rows",
            "baseline_seconds": small["seconds"],
            "ratio": found[rows]["seconds"] / small["seconds"],
            "peak_mb": found[rows]["peak_mb"],
        }
        for rows in SIZES
    ]


def lira(shadows: int = 16) -> Row:
    inside, outside = adult(SIZE)
    once = timed(lambda: network(99).fit(inside.inputs, inside.labels))
    model = network(99).fit(inside.inputs, inside.labels)
    seconds, found = measured(lambda: Lira(shadows=shadows)(model, inside, outside, make=network))
    return {
        "case": f"LiRA, {shadows} shadow models of a small network, Adult; AUC {found.area:.3f}",
        "n": 2 * SIZE,
        "seconds": seconds,
        "baseline": f"training {shadows} networks, as timed for one",
        "baseline_seconds": shadows * once,
        "ratio": seconds / (shadows * once),
        "peak_mb": None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--worker")
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args(namespace=Options())
    if options.worker is not None:
        work(options.worker, options.rows)
        return
    rows = [fits(method, often or options.repeats) for method, often in METHODS.items()]
    rows += [row for method in DRAWN for row in draws(method)]
    rows.append(lira())
    if options.json:
        print_json(rows)
        return
    for row in rows:
        print(
            f"{row['case']}: {row['seconds']:.2f} s, {row['ratio']:.1f} x {row['baseline']}, {row['peak_mb']}"
        )


if __name__ == "__main__":
    main()
