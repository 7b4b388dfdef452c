"""How much longer than one polars group-by per column does it take to learn the hierarchies of a table?

Columns of several kinds, few and many different values, a target of three values. Repeats are interleaved and
the minimum counts.
"""

from __future__ import annotations

import argparse
import resource

import _timing as timing
import numpy as np
import polars as pl

from mahrem.table.hierarchies import learn_hierarchies

TARGET = "target"


class Row(timing.Row):
    """One figure."""

    repeats: int


def table(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "zip": pl.Series(rng.integers(0, 5_000, rows)).cast(pl.String).str.zfill(5),
            "word": rng.choice(["alpha", "beta", "gamma", "delta", "epsilon"], rows),
            "income": rng.integers(0, 100_000, rows),
            "amount": rng.normal(size=rows),
            TARGET: rng.choice(["low", "middle", "high"], rows),
        }
    )


def measure(case: str, data: pl.DataFrame, columns: list[str], repeats: int) -> Row:
    best = timing.interleaved(
        {
            "learn": lambda: learn_hierarchies(data, columns, TARGET),
            "group": lambda: [data.group_by(name).len() for name in columns],
        },
        repeats,
    )
    return Row(
        case=case,
        n=data.height,
        seconds=best["learn"],
        baseline="one polars group-by per column",
        baseline_seconds=best["group"],
        ratio=best["learn"] / best["group"],
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        repeats=repeats,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = table(options.rows)
    columns = [name for name in data.columns if name != TARGET]
    found = [measure("all columns", data, columns, options.repeats)]
    found += [measure(name, data, [name], options.repeats) for name in columns]
    if options.json:
        timing.print_json(found)
        return
    for row in found:
        seconds = f"{row['seconds']:8.3f} s  {row['baseline_seconds']:8.3f} s"
        print(f"{row['case']:12} {seconds}  {row['ratio']:6.1f} x")


if __name__ == "__main__":
    main()
