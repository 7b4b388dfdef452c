"""How fast is Mondrian when columns have trees, and how much does it lose?

Five columns with trees of 3 to 5 levels and 16 to 1,000 leaves, against ``scipy.spatial.cKDTree`` with
balanced cuts and the same leaf size on the same points, in the same run: warm, repeats interleaved, minimum
of ``repeats``. The loss is gcp per row and column with nodes as cells.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial

import _timing as timing
import numpy as np
from _points import TREE, K

from mahrem.arrays.cutting import class_extremes
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, Mondrian, Partition
from mahrem.table import Hierarchy, Values
from mahrem.types import Points

FANS = ((4, 4), (5, 4, 3), (4, 4, 4, 2), (6, 7, 7), (10, 10, 10))  # children at every level from the root


class Row(timing.Figure):
    """One figure."""

    classes: int
    loss: float
    repeats: int


def tree(fans: tuple[int, ...]) -> Hierarchy:
    """A tree in which every node of a level has equally many children."""
    under = [math.prod(fans[-level:]) for level in range(1, len(fans))]
    return Hierarchy.from_rows(
        [[f"{leaf}", *(f"{leaf // size} of {size}" for size in under)] for leaf in range(math.prod(fans))]
    )


def table(rows: int, trees: tuple[Hierarchy, ...], *, skewed: bool) -> Points:
    """Leaves drawn evenly, or the first ones far more often."""
    rng = np.random.default_rng(0)
    draws = rng.random((rows, len(trees))) ** (4 if skewed else 1)
    leaves = np.array([one.leaves for one in trees], np.float64)
    places: Points = np.floor(draws * leaves) / (leaves - 1)
    return places


def admission(rows: int, *, diverse: bool = False) -> Admission:
    size = (KAnonymity(K), None)
    if not diverse:
        return Admission((size,), rows=rows)
    codes = np.random.default_rng(1).integers(0, 10, rows).astype(np.int32)
    return Admission((size, (DistinctDiversity(3), Values("sensitive", codes, 10))), rows=rows)


def loss(points: Points, trees: tuple[Hierarchy, ...], partition: Partition) -> float:
    total = 0.0
    for column, one in zip(points.T, trees, strict=True):
        low, high, _ = class_extremes(column.copy(), partition.labels, partition.classes)
        ends = [np.rint(end * (one.leaves - 1)).astype(np.int64) for end in (low, high)]
        level, node = one.lowest_common(*ends)
        counts = one.leaf_counts
        starts = np.cumsum([0, *map(len, counts)])[:-1]
        under = np.concatenate(counts)[starts[level] + node]
        total += float(partition.sizes @ np.where(under > 1, under / one.leaves, 0.0))
    return total / points.size


def mondrian_with_trees(rows: int, repeats: int) -> list[Row]:
    """Mondrian with five trees against cKDTree, by how the leaves are spread and how it cuts."""
    from scipy.spatial import cKDTree

    trees = tuple(map(tree, FANS))
    found: list[Row] = []
    for spread in ("even", "skewed"):
        points = table(rows, trees, skewed=spread == "skewed")
        plain, diverse = admission(rows), admission(rows, diverse=True)
        calls: dict[str, Callable[[], Partition]] = {
            "strict": partial(Mondrian(hierarchies=trees), points, plain),
            "relaxed": partial(Mondrian(strict=False, hierarchies=trees), points, plain),
            "strict, l=3": partial(Mondrian(hierarchies=trees), points, diverse),
            "without trees": partial(Mondrian(), points, plain),
        }
        losses = {}
        for name, call in calls.items():  # warm, and what they lose
            partition = call()
            losses[name] = partition.classes, loss(points, trees, partition)
        baseline = partial(cKDTree, points, balanced_tree=True, leafsize=2 * K - 1)
        best = timing.interleaved({**calls, "tree": baseline}, repeats)
        found += [
            Row(
                case=f"{spread}, {name}",
                n=rows,
                seconds=best[name],
                baseline=TREE,
                baseline_seconds=best["tree"],
                ratio=best[name] / best["tree"],
                classes=losses[name][0],
                loss=losses[name][1],
                repeats=repeats,
            )
            for name in calls
        ]
    return found


def show(rows: list[Row]) -> None:
    print("case                          n        s   base s  ratio  classes    loss  baseline")
    for row in rows:
        print(
            f"{row['case']:22}{row['n']:>9} {row['seconds']:8.3f} {row['baseline_seconds']:8.3f} "
            f"{row['ratio']:6.2f} {row['classes']:8} {row['loss']:7.4f}  {row['baseline']}, "
            f"best of {row['repeats']}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--rows", type=float, default=1e6, help="rows of the table")
    parser.add_argument("--repeats", type=int, default=5, help="the minimum counts")
    options = parser.parse_args()
    rows = mondrian_with_trees(int(options.rows), options.repeats)
    if options.json:
        timing.print_json(rows)
    else:
        show(rows)


if __name__ == "__main__":
    main()
