"""How does mosaic stand beside its relatives, which also cut into blocks before they choose members?

Classic MDAV in the blocks of a 2^d-tree (Solanas et al. 2006) and MONA_rho (Thaeter and Reischuk 2021), both
on top of this package's MDAV and ONA*. All methods see the same points and are judged by ``gcp_sum`` and by
L = 100 SSE/SST. Beside them younger cuts: Core Mondrian's (Bloomston et al. 2025; its score of a cut, read in
the authors' code), and what the abstracts say of COF-Mondrian (Kara and Eyüpoğlu 2023) and of RAYDEN (Haruna
et al. 2026), with every row kept. Time is that of the processor, all threads together, and its ratio to that
of ``cKDTree`` in the same run: with several cores, methods that use threads take less by the clock.
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
from scipy.spatial import cKDTree

from mahrem.metrics import information_loss, standardised
from mahrem.partition import Mdav, Mondrian, Mosaic, OnaStar
from mahrem.types import Labels, Mask, Points, Rows

NEAR = 20  # neighbours by which outliers are told
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


def core_mondrian(points: Points, k: int) -> Labels:
    """Cut at the median of the column whose standard deviation falls most within the two sides."""
    labels, found, waiting = np.empty(len(points), np.int64), 0, [np.arange(len(points), dtype=np.int32)]
    while waiting:
        rows = waiting.pop()
        best, cut = np.inf, None
        for values in points[rows].T if len(rows) >= 2 * k else ():
            whole, middle = (
                float(values.var()),
                float(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]),
            )
            for left in (values <= middle, values < middle):
                if k <= left.sum() <= len(values) - k:
                    within = (values[left].var() * left.sum() + values[~left].var() * (~left).sum()) / len(
                        values
                    )
                    if within / whole < best:
                        best, cut = within / whole, left
                    break
        if cut is None:
            labels[rows] = found
            found += 1
        else:
            waiting += [rows[cut], rows[~cut]]
    return labels


def connectivity_outliers(points: Points) -> Mask:
    """Say who is an outlier by connectivity (Tang et al. 2002): three deviations above the mean factor."""
    near = cKDTree(points).query(points, NEAR + 1)[1]
    chained = np.empty(len(points))
    weights = 2 * np.arange(NEAR, 0, -1) / (NEAR * (NEAR + 1))
    for begin in range(0, len(points), 2_000):
        around = points[near[begin : begin + 2_000]]
        apart = np.sqrt(((around[:, :, None] - around[:, None]) ** 2).sum(axis=3))
        least, every = apart[:, 0].copy(), np.arange(len(around))
        least[:, 0] = np.inf  # on the chain already
        steps = np.zeros((len(around), NEAR))
        for step in range(NEAR):
            joins = least.argmin(axis=1)
            steps[:, step] = least[every, joins]
            joined = np.isinf(least)
            least = np.where(joined, np.inf, np.minimum(least, apart[every, joins]))
            least[every, joins] = np.inf
        chained[begin : begin + 2_000] = steps @ weights
    factor = chained / np.maximum(chained[near[:, 1:]].mean(axis=1), 1e-12)
    return np.asarray(factor > factor.mean() + 3 * factor.std())


def cof_mondrian(points: Points, k: int) -> Labels:
    """Outliers by themselves and all others by themselves, both by strict Mondrian."""
    outside = connectivity_outliers(points)
    blocks = [np.flatnonzero(side).astype(np.int32) for side in (outside, ~outside)]
    if len(blocks[0]) < k:
        blocks = [np.arange(len(points), dtype=np.int32)]
    return in_blocks(points, blocks, lambda part: Mondrian()(part, admission(len(part), k)).labels)


def vantage_halves(points: Points, k: int) -> Labels:
    """Halve at the median distance from the row farthest from the mean, down to classes of k to 2k - 1."""
    labels, found, waiting = np.empty(len(points), np.int64), 0, [np.arange(len(points), dtype=np.int32)]
    while waiting:
        rows = waiting.pop()
        here = points[rows]
        if len(rows) < 2 * k:
            labels[rows] = found
            found += 1
            continue
        vantage = here[np.abs(here - here.mean(axis=0)).sum(axis=1).argmax()]
        order = np.argsort(np.abs(here - vantage).sum(axis=1), kind="stable")  # Gower's distance of numbers
        waiting += [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
    return labels


def rayden(points: Points, k: int) -> Labels:
    """Outliers by connectivity and all others, each halved around vantage points."""
    outside = connectivity_outliers(points)
    blocks = [np.flatnonzero(side).astype(np.int32) for side in (outside, ~outside)]
    return in_blocks(points, [block for block in blocks if len(block)], lambda part: vantage_halves(part, k))


METHODS: Mapping[str, Method] = {
    "strict Mondrian": lambda points, k: Mondrian()(points, admission(len(points), k)).labels,
    "Core Mondrian": core_mondrian,
    "COF-Mondrian": cof_mondrian,
    "RAYDEN": rayden,
    "2^d-tree, MDAV": blocked_mdav,
    "MONA, rho=0.5": partial(mona, rho=0.5),
    "MONA, rho=0.75": partial(mona, rho=0.75),
    "mosaic, ncp": lambda points, k: Mosaic()(points, admission(len(points), k)).labels,
    "mosaic, sse": lambda points, k: Mosaic(objective="sse")(points, admission(len(points), k)).labels,
    "mosaic, sse, 10 rounds": lambda points, k: (
        Mosaic(objective="sse", rounds=10)(points, admission(len(points), k)).labels
    ),
}


def compare(
    case: str, points: Points, k: int, leave_out: tuple[str, ...] = (), chosen: tuple[str, ...] = ()
) -> Iterator[Row]:
    for name, method in METHODS.items():
        if name in leave_out or (chosen and name not in chosen):
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


def figures(ks: list[int], sizes: list[int], chosen: tuple[str, ...]) -> Iterator[Row]:
    long = ("mosaic, sse, 10 rounds",)  # what small tables get anyway
    census = adult()
    if census is not None:
        for k in ks:
            yield from compare("adult", census, k, long, chosen)
        for k in (ks[0], ks[-1]):
            yield from compare("adult standardised", standardised(census), k, long, chosen)
    for size in sizes:
        slow = () if size <= SMALL else ("MONA, rho=0.75", "Core Mondrian", "COF-Mondrian", "RAYDEN", *long)
        yield from compare("uniform", uniform(size), 5, slow, chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--ks", default="5,10,20,30,40,50", help="least rows of a class on Adult")
    parser.add_argument("--sizes", default="1e5,1e6", help="rows of the uniform cases")
    parser.add_argument("--method", nargs="+", default=[], choices=METHODS, help="these alone")
    options = parser.parse_args()
    chosen = tuple(options.method)
    list(compare("warm", uniform(3000), 5, (), chosen))
    ks = [int(text) for text in options.ks.split(",")]
    rows = figures(ks, [int(float(text)) for text in options.sizes.split(",") if text], chosen)
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
