"""How fast does Mondrian sort rows into classes, and how much memory does it take?

Against ``scipy.spatial.cKDTree`` with balanced cuts and the same leaf size, in the same run: warm, repeats
interleaved, minimum of ``repeats``. With a privacy model as split condition: against the plain kernel. Peak
memory is what a fresh process grows by during the call.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import _timing as timing
import numpy as np
from _points import TREE, K, adult, uniform

from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity, PrivacyModel
from mahrem.partition import Admission, Mondrian
from mahrem.table import Values
from mahrem.types import Points

MODELS: dict[str, PrivacyModel] = {"l=3": DistinctDiversity(3), "t=0.2": EqualCloseness(0.2)}
LARGE = 5_000_000  # rows from which on fewer repeats must do


class Row(timing.Row):
    """One figure."""

    strategy: str
    points_mb: float
    repeats: int


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
            Mondrian(strict=strict)(uniform(1000), admission(1000, model))


def peak_here(case: str, rows: int, strategy: str, condition: str) -> float:
    """Megabytes by which this process grows during one call."""
    warm_up()
    points = points_of(case, rows)
    admits = admission(len(points), MODELS.get(condition))
    return timing.grown(lambda: Mondrian(strict=strategy == "strict")(points, admits))


def peak(case: str, rows: int, strategy: str, condition: str = "") -> float:
    """The same in a fresh process."""
    return float(timing.in_fresh_process(__file__, "--peak", case, str(rows), strategy, condition))


def against_tree(case: str, rows: int, repeats: int) -> list[Row]:
    from scipy.spatial import cKDTree

    points = points_of(case, rows)
    admits = admission(len(points))
    best = timing.interleaved(
        {
            "strict": lambda: Mondrian(strict=True)(points, admits),
            "relaxed": lambda: Mondrian(strict=False)(points, admits),
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
    works: dict[str, Callable[[], object]] = {"plain": lambda: Mondrian()(points, admission(rows))}
    for condition, model in MODELS.items():
        admits = admission(rows, model)
        works[condition] = lambda admits=admits: Mondrian()(points, admits)  # type: ignore[misc]
    best = timing.interleaved(works, repeats)
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
        timing.print_json(rows)
    else:
        show(rows)


if __name__ == "__main__":
    main()
