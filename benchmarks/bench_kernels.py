"""Are the kernels in the wheel as fast, and as right, as those compiled just in time on this machine?

The same calls in processes of their own, one for each way a kernel can come (``MAHREM_KERNELS``), in turn,
several times; the shortest counts, in processor time. A ratio below 1 is faster than the just-in-time
compiler, which knows this very processor. ``equal`` says whether all results are the same to the last bit,
``largest difference`` by how much they are apart where they are not (only the baseline has no fused
multiply-add).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

WAYS = ("jit", "v3", "baseline")
ROWS = 30_000


def cases() -> dict[str, Callable[[], Any]]:
    """What is measured, each a call that gives arrays."""
    from mahrem.arrays import averaging, cutting, mining, sketching, tiling

    rng = np.random.default_rng(0)
    points = rng.random((ROWS, 5))
    few, labels = points[:4_000].copy(), rng.integers(0, ROWS // 10, ROWS)
    codes = rng.integers(0, 40, ROWS).astype(np.int32)
    offsets = np.arange(0, ROWS + 1, 10)
    rows = rng.permutation(ROWS).astype(np.int32)
    scale, category = np.ones(5), np.zeros(5, np.bool_)
    vantage = averaging.Vantage(0, 3.0, scale, category, far=True, share=0.5, seed=np.uint64(0), minimum=5)
    groups = np.arange(4_000) // 8
    items = rng.integers(0, 4, (ROWS, 6)).astype(np.int32) + 4 * np.arange(6, dtype=np.int32)
    target = rng.integers(0, 2, ROWS)
    table, places = mining.pack_bits(items, 24, target, 2), np.repeat(np.arange(6, dtype=np.int32), 4)
    effort = tiling.Effort(3, swaps=True, reach=2.0)

    def rounds() -> Any:
        with cutting.Rounds(points, 5) as going:
            while len((proposed := going.propose())[0]):
                going.decide(np.ones(len(proposed[1]) - 1, np.bool_))
            return going.result().labels

    def lloyd() -> Any:
        columns, found = np.ascontiguousarray(few[:100].T), np.empty(len(few), np.int64)
        averaging.lloyd(few, columns, 10, found)
        return found

    def improve() -> Any:
        found = groups.copy()
        return averaging.improve(few, found, 4, 4, 20), found

    def polish() -> Any:
        found = groups.copy()
        averaging.polish(few, found, 4, 2, 50, 0)
        return found

    by_label = tiling.rows_by_label(labels, ROWS // 10)
    return {
        "grow strict": lambda: cutting.grow(points, 5, threads=1).labels,
        "grow relaxed": lambda: cutting.grow(points, 5, strict=False, threads=1).labels,
        "grow in gaps": lambda: cutting.grow(points, 5, rule=2, threads=1).labels,
        "rounds": rounds,
        "balls": lambda: averaging.grow_balls(points, vantage),
        "class extremes": lambda: cutting.class_extremes(points[:, 0].copy(), labels, ROWS // 10),
        "triplets": lambda: cutting.triplets(codes, rows, offsets, 40, threads=1),
        "mosaic NCP": lambda: tiling.lay_mosaic(few, 5, tile=512, rounds=2, effort=effort)[0],
        "mosaic SSE": lambda: tiling.lay_mosaic(few, 5, tile=512, rounds=2, effort=effort, objective=1)[0],
        "outlier factors": lambda: tiling.local_outlier_factors(points, *by_label, 5),
        "swap rows": lambda: tiling.swap_rows(few, groups.copy(), 500),
        "mdav": lambda: averaging.mdav_groups(few, 5),
        "v-mdav": lambda: averaging.extended_groups(few[:2_000].copy(), 5, 0.2),
        "lloyd": lloyd,
        "improve": improve,
        "polish": polish,
        "eclat": lambda: mining.eclat_sets(table, places, 300, 4),
        "fp-growth": lambda: mining.fp_growth_sets(items, target, table, 300, 4),
        "hash texts": lambda: sketching.hash_texts(
            points.view(np.uint8).ravel(), np.arange(0, points.nbytes + 1, 8), np.arange(2, dtype=np.uint64)
        ),
    }


def measure(repeats: int) -> dict[str, Any]:
    """Run every case here; gives seconds of processor time and the results as lists."""
    found = {}
    for name, work in cases().items():
        result = work()  # compiled or loaded now
        times = []
        for _ in range(repeats):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        parts = result if isinstance(result, tuple) else (result,)
        found[name] = {"seconds": min(times), "result": [np.asarray(one).ravel().tolist() for one in parts]}
    return found


def in_process(way: str, repeats: int) -> dict[str, Any]:
    """The same in a process that gets its kernels another way."""
    command = [sys.executable, __file__, "--here", "--repeats", str(repeats)]
    environment = {**os.environ, "MAHREM_KERNELS": way}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def compare(turns: int, repeats: int) -> list[dict[str, Any]]:
    best: dict[str, dict[str, float]] = {}
    results: dict[str, dict[str, Any]] = {}
    for _ in range(turns):
        for way in WAYS:
            for case, one in in_process(way, repeats).items():
                slot = best.setdefault(case, {})
                slot[way] = min(slot.get(way, float("inf")), one["seconds"])
                results.setdefault(case, {})[way] = one["result"]
    rows = []
    for case, seconds in best.items():
        row: dict[str, Any] = {"case": case, "jit_ms": seconds["jit"] * 1e3}
        for way in WAYS[1:]:
            row[way] = seconds[way] / seconds["jit"]
            apart = [
                float(np.abs(np.subtract(one, other)).max(initial=0.0))
                if len(one) == len(other)
                else float("inf")
                for one, other in zip(results[case]["jit"], results[case][way], strict=True)
            ]
            row[f"{way}_apart"] = max(apart)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure(given.repeats)))
        return
    rows = compare(given.turns, given.repeats)
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'case':18} {'jit ms':>8} {'v3':>6} {'apart':>8} {'base':>6} {'apart':>8}")
    for row in rows:
        print(
            f"{row['case']:18} {row['jit_ms']:8.2f} {row['v3']:6.2f} {row['v3_apart']:8.1e} "
            f"{row['baseline']:6.2f} {row['baseline_apart']:8.1e}"
        )


if __name__ == "__main__":
    main()
