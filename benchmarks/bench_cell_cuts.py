"""Does it pay to choose cuts by published cells instead of widths, for Mondrian and u-Mondrian?

Eight tables (those of ``bench_mosaic_promises.py``) times k = 5, 20: what published cells lose, seconds of
processor time of Mondrian. Columns with a hierarchy are cut between children unless cells choose.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from bench_mosaic_promises import SEED, settings_of, tables

from mahrem.drafts import prepare
from mahrem.drafts._method import admission
from mahrem.partition import Mondrian, UtilityAware
from mahrem.partition.mosaic._repaired import Bench
from mahrem.release.decisions import cell_costs, policy_from
from mahrem.table import Leaves


def cells(rows: int) -> Iterator[dict[str, Any]]:
    for name, (frame, about) in tables(rows).items():
        for k in (5, 20):
            policy = policy_from(
                None, {**(settings_of(about, "k", k) or {}), "method": "mondrian"}, whole=True
            )
            prepared = prepare(frame, policy)
            points, judge = prepared.points(), admission(prepared)
            costs = cell_costs(prepared.axes, policy)
            bench, count = Bench(points, judge, costs), points.size
            trees = tuple(
                axis.domain.hierarchy if isinstance(axis.domain, Leaves) else None for axis in prepared.axes
            )
            row: dict[str, Any] = {"table": name, "rows": len(points), "k": k, "seed": SEED}
            for cut, method in {
                "widths": Mondrian(hierarchies=trees),
                "cells": Mondrian(cut="cells", cells=costs),
            }.items():
                began = time.process_time()
                found = method(points, judge)
                row[f"{cut}, processor seconds"] = time.process_time() - began
                row[cut] = bench.total(found.labels, found.classes) / count
                around = UtilityAware(method)(points, judge)
                row[f"u, {cut}"] = bench.total(around.labels, around.classes) / count
            yield {
                **row,
                "ratio": row["cells"] / row["widths"],
                "u, ratio": row["u, cells"] / row["u, widths"],
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000)
    warnings.simplefilter("ignore")
    found = []
    for row in cells(parser.parse_args().rows):
        found.append(row)
        print(json.dumps(row), flush=True)
    for ratio in ("ratio", "u, ratio"):
        ratios = [row[ratio] for row in found]
        print(json.dumps({ratio: float(np.median(ratios)), "worst": max(ratios)}))


if __name__ == "__main__":
    main()
