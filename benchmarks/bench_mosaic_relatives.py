"""How does mosaic stand beside its relatives, which also cut into blocks before they choose members?

Classic MDAV in the blocks of a 2^d-tree (Solanas et al. 2006) and MONA_rho (Thaeter and Reischuk 2021), both
on top of this package's MDAV and ONA*. All methods see the same points and are judged by ``gcp_sum`` and by
L = 100 SSE/SST. Time is that of the processor, all threads together, and its ratio to that of ``cKDTree`` in
the same run: with several cores, methods that use threads take less by the clock.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from _points import adult, uniform
from bench_mosaic import Row, admission, gcp_sum

from mahrem.metrics import information_loss, standardised
from mahrem.partition import Mdav, Mondrian, Mosaic, OnaStar
from mahrem.types import Labels, Points, Rows

BLOCK = 1_000  # rows of a 2^d-tree's block at most; more with a large k
SMALL = 200_000  # rows up to which the slow relatives run too

Method = Callable[[Points, int], Labels]


def tree_blocks(points: Points, least: int, most: int) -> list[Rows]:
    """Cut a box at its middle in all columns at once while it holds more than ``most`` rows.

    Of the up to 2^d parts one with fewer than ``least`` rows joins the part whose centre is nearest. The
    paper itself could not be read: where to cut and how to join are the nearest we could build.
    """
    done, waiting = [], [np.arange(len(points), dtype=np.int32)]
    bits = 1 << np.arange(points.shape[1])
    while waiting:
        rows = waiting.pop()
        here = points[rows]
        middle = (here.min(axis=0) + here.max(axis=0)) / 2
        _, part = np.unique((here > middle) @ bits, return_inverse=True)
        sizes = np.bincount(part)
        large = np.flatnonzero(sizes >= least)
        if len(rows) <= most or len(large) < 2:
            done.append(rows)
            continue
        centres = np.stack([here[part == one].mean(axis=0) for one in range(len(sizes))])
        apart = ((centres[:, None] - centres[large]) ** 2).sum(axis=2)
        target = np.where(sizes >= least, np.arange(len(sizes)), large[apart.argmin(axis=1)])
        waiting += [rows[target[part] == one] for one in large]
    return done


def variance_blocks(points: Points, most: float) -> list[Rows]:
    """Halve at the median of the column with the largest variance while there are more than ``most`` rows."""
    done, waiting = [], [np.arange(len(points), dtype=np.int32)]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        here, half = points[rows], len(rows) // 2
        order = np.argpartition(here[:, here.var(axis=0).argmax()], half)
        waiting += [rows[order[:half]], rows[order[half:]]]
    return done


def in_blocks(points: Points, blocks: list[Rows], work: Callable[[Points], Labels]) -> Labels:
    """Sort the rows of every block by themselves."""
    labels, found = np.empty(len(points), np.int64), 0
    for rows in blocks:
        own = work(np.ascontiguousarray(points[rows]))
        labels[rows] = found + own
        found += int(own.max()) + 1
    return labels


def blocked_mdav(points: Points, k: int) -> Labels:
    """MDAV in the blocks of a 2^d-tree."""
    blocks = tree_blocks(points, 3 * k, max(BLOCK, 8 * k))
    return in_blocks(
        points, blocks, lambda part: Mdav(standardise=False)(part, admission(len(part), k)).labels
    )


def mona(points: Points, k: int, rho: float) -> Labels:
    """MONA_rho: cuts of Mondrian, here by variance, down to blocks of n^rho rows, then ONA* in each."""
    blocks = variance_blocks(points, max(4 * k, len(points) ** rho))
    return in_blocks(
        points, blocks, lambda part: OnaStar(standardise=False, seed=0)(part, admission(len(part), k)).labels
    )


METHODS: Mapping[str, Method] = {
    "strict Mondrian": lambda points, k: Mondrian()(points, admission(len(points), k)).labels,
    "2^d-tree, MDAV": blocked_mdav,
    "MONA, rho=0.5": partial(mona, rho=0.5),
    "MONA, rho=0.75": partial(mona, rho=0.75),
    "mosaic, ncp": lambda points, k: Mosaic()(points, admission(len(points), k)).labels,
    "mosaic, sse": lambda points, k: Mosaic(objective="sse")(points, admission(len(points), k)).labels,
    "mosaic, sse, 10 rounds": lambda points, k: (
        Mosaic(objective="sse", rounds=10)(points, admission(len(points), k)).labels
    ),
}


def compare(case: str, points: Points, k: int, leave_out: tuple[str, ...] = ()) -> Iterator[Row]:
    from scipy.spatial import cKDTree

    for name, method in METHODS.items():
        if name in leave_out:
            continue
        start = time.process_time()
        cKDTree(points, balanced_tree=True, leafsize=2 * k - 1)
        tree = time.process_time()
        labels = method(points, k)
        end = time.process_time()
        sizes = np.bincount(labels)
        yield {
            "case": case,
            "n": len(points),
            "k": k,
            "method": name,
            "gcp_sum": gcp_sum(points, labels, len(sizes)),
            "L": 100 * information_loss(points, labels),
            "least": int(sizes.min()),
            "cpu_seconds": end - tree,
            "to_tree": (end - tree) / (tree - start),
        }


def figures(ks: list[int], sizes: list[int]) -> Iterator[Row]:
    long = ("mosaic, sse, 10 rounds",)  # what small tables get anyway
    census = adult()
    if census is not None:
        for k in ks:
            yield from compare("adult", census, k, long)
        for k in (ks[0], ks[-1]):
            yield from compare("adult standardised", standardised(census), k, long)
    for size in sizes:
        slow = () if size <= SMALL else ("MONA, rho=0.75", *long)
        yield from compare("uniform", uniform(size), 5, slow)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--ks", default="5,10,20,30,40,50", help="least rows of a class on Adult")
    parser.add_argument("--sizes", default="1e5,1e6", help="rows of the uniform cases")
    options = parser.parse_args()
    list(compare("warm", uniform(3000), 5))
    ks = [int(text) for text in options.ks.split(",")]
    rows = figures(ks, [int(float(text)) for text in options.sizes.split(",") if text])
    if options.json:
        print(json.dumps(list(rows), indent=1))
        return
    for row in rows:
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in row.items()
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
