"""How fast is mosaic, what does it lose, and what does each of its parts give?

Speed: against ``scipy.spatial.cKDTree`` with balanced cuts and the same leaf size, in the same run: warm,
repeats interleaved, minimum of ``repeats``. Utility: gcp_sum on Adult against the best published figure of
each k, and on uniform points against strict Mondrian. Ablation: the parts switched on one after the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import _timing as timing
import numpy as np
from _points import TREE, K, adult, uniform

from mahrem.arrays import cutting, tiling
from mahrem.models import KAnonymity
from mahrem.partition import Admission, Mondrian, Mosaic
from mahrem.types import Labels, Points

PUBLISHED = {5: 2505, 10: 4174, 20: 6097, 30: 7406, 40: 8885, 50: 9248}
LARGE = 5_000_000  # rows from which on fewer repeats must do
PARTS = {
    "growth": (0, False, 0.0),
    "+ moves": (1, False, 0.0),
    "+ swaps": (1, True, 0.0),
    "+ dissolve": (1, True, 1.0),
    "+ dissolve and form": (1, True, 2.0),
}

Row = dict[str, Any]


def admission(rows: int, k: int = K) -> Admission:
    return Admission(((KAnonymity(k), None),), rows=rows)


def gcp_sum(points: Points, labels: Labels, classes: int) -> float:
    widths = np.zeros(classes)
    for column in points.T:
        low, high, _ = cutting.class_extremes(column, labels, classes)
        widths += high - low
    return float((np.bincount(labels, minlength=classes) * widths).sum())


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def peak_here(rows: int) -> float:
    """Megabytes by which this process grows during one call."""
    Mosaic()(uniform(2000), admission(2000))
    points = uniform(rows)
    return timing.grown(lambda: Mosaic()(points, admission(rows)))


def speed(rows: int, repeats: int) -> Row:
    from scipy.spatial import cKDTree

    points, admits = uniform(rows), admission(rows)
    best = timing.interleaved(
        {
            "mosaic": lambda: Mosaic()(points, admits),
            "tree": lambda: cKDTree(points, balanced_tree=True, leafsize=2 * K - 1),
            "mondrian": lambda: Mondrian()(points, admits),
        },
        repeats,
    )
    ours, cuts = Mosaic()(points, admits), Mondrian()(points, admits)
    peak = float(timing.in_fresh_process(__file__, "--peak", str(rows)))
    loss = gcp_sum(points, ours.labels, ours.classes)
    return {
        "case": "mosaic uniform x5 k=5",
        "n": rows,
        "seconds": best["mosaic"],
        "baseline": TREE,
        "baseline_seconds": best["tree"],
        "ratio": best["mosaic"] / best["tree"],
        "peak_mb": peak,
        "points_mb": points.nbytes / 2**20,
        "repeats": repeats,
        "mondrian_seconds": best["mondrian"],
        "gcp_sum": loss,
        "gcp_to_strict_mondrian": loss / gcp_sum(points, cuts.labels, cuts.classes),
    }


def utility(points: Points) -> list[Row]:
    rows = []
    for k, published in PUBLISHED.items():
        seconds, ours = timed(partial(Mosaic(), points, admission(len(points), k)))
        loss = gcp_sum(points, ours.labels, ours.classes)
        rows.append(
            {
                "case": f"mosaic adult k={k}",
                "n": len(points),
                "seconds": seconds,
                "classes": ours.classes,
                "gcp_sum": loss,
                "published": published,
                "gcp_to_published": loss / published,
            }
        )
    return rows


def ablation(case: str, points: Points, k: int, tile: int, rounds: int) -> list[Row]:
    """Switch the parts on one after the other: inside tiles first, then the best across borders too."""
    cuts = Mondrian()(points, admission(len(points), k))
    base = gcp_sum(points, cuts.labels, cuts.classes)
    rows: list[Row] = [{"case": f"{case} k={k}", "part": "tiles only (Mondrian)", "gcp_sum": base}]
    runs = [(name, 1, effort) for name, effort in PARTS.items()]
    runs += [(f"+ {rounds} rounds", rounds, (2, True, 2.0))]
    runs += [("rounds without dissolving", rounds, (2, True, 0.0))]
    for name, turns, effort in runs:
        seconds, (labels, classes) = timed(
            partial(tiling.lay_mosaic, points, k, tile=tile, rounds=turns, effort=tiling.Effort(*effort))
        )
        loss = gcp_sum(points, labels, classes)
        rows.append({"case": f"{case} k={k}", "part": name, "gcp_sum": loss, "seconds": seconds})
    return [{**row, "n": len(points), "tile": tile, "gcp_to_mondrian": row["gcp_sum"] / base} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--sizes", default="1e5,1e6,1e7", help="rows of the uniform cases")
    parser.add_argument("--repeats", type=int, default=5, help="at least five; three from 5e6 rows on")
    parser.add_argument("--no-ablation", action="store_true", help="leave out what each part gives")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(peak_here(options.peak))
        return
    Mosaic()(uniform(2000), admission(2000))  # compiled before anything is timed
    Mosaic()(uniform(60_000), admission(60_000))
    repeats = max(5, options.repeats)
    rows = [
        speed(size, repeats if size < LARGE else 3)
        for size in (int(float(text)) for text in options.sizes.split(",") if text)
    ]
    census = adult()
    if census is not None:
        rows += utility(census)
    if not options.no_ablation:
        if census is not None:
            rows += ablation("adult", census, 5, 256, 10) + ablation("adult", census, 50, 800, 10)
        rows += ablation("uniform", uniform(1_000_000), K, 128, 2)
    if options.json:
        timing.print_json(rows)
        return
    for row in rows:
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in row.items()
            )
        )


if __name__ == "__main__":
    main()
