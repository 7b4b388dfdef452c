"""What does a cluster send to its driver, and how often is the table read? Counted without a cluster.

The planner of the cluster cuts the table of ``bench_spark.py`` into as many parts as a thousand million rows
would give (parts of four million rows): passes over all rows, bytes that one worker sends in the largest of
them (packed), different values inside brackets, and bytes of a row that is moved once. The formulas of
docs/guide/spark.md stand on these.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import polars as pl
from bench_spark import QUASI, K, table

from mahrem.models import KAnonymity
from mahrem.spark import GlanceTaker, Judge, PassCount, Survey, plan_cuts, strata_of

PIECE = 100_000
PARTS = 250  # of a thousand million rows, four million each


def scaled(frame: pl.DataFrame) -> np.ndarray:
    """Bring every column to [0, 1], as axes do."""
    points = frame.select(QUASI).to_numpy().astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    return np.ascontiguousarray((points - low) / (high - low))


def measure(rows: int) -> dict[str, object]:
    """Plan the cuts of one table."""
    points = scaled(table(rows, 1))
    judge = Judge(((KAnonymity(K), None),))
    largest, values, passes = 0, 0, []

    def pieces() -> list[tuple[np.ndarray, list[np.ndarray]]]:
        return [(points[begin : begin + PIECE], []) for begin in range(0, rows, PIECE)]

    def ask(survey: Survey) -> PassCount:
        nonlocal largest, values
        packed = survey(iter(pieces()))
        count = PassCount.unpack(packed)
        largest, values = max(largest, len(packed)), max(values, len(count.value))
        passes.append(len(count.count))
        return count

    began = time.process_time()
    glance = GlanceTaker(len(QUASI), ()).seen(iter(pieces()))
    judge, sizes, roots = strata_of(glance, judge)
    plan = plan_cuts(ask, glance.edges(), judge, target=rows // PARTS, sizes=sizes, roots=roots)
    return {
        "rows": rows,
        "parts": len(plan.sizes),
        "levels": plan.levels,
        "passes": len(passes) + 1,
        "cpu_seconds": round(time.process_time() - began, 1),
        "sent_mb": round(largest / 2**20, 2),
        "inside": values,
        "rows_per_inside": round(rows / max(1, values)),
        "bytes_moved_a_row": 8 * len(QUASI),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, nargs="+", default=[3e5, 3e6])
    arguments = parser.parse_args()
    found = [measure(int(rows)) for rows in arguments.rows]
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        for row in found:
            print(", ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
