"""Small releases for tests of attacks: classes by plain halving, cells as our grammar writes them."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.table.cells import write_ranges


def crowd(people: int, seed: int = 0) -> pl.DataFrame:
    """People with two numbers, a code and an illness that depends on age a little."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, people)
    illness = np.where(rng.random(people) < age / 120, "gout", rng.choice(["flu", "cold", "none"], people))
    return pl.DataFrame(
        {
            "age": age,
            "pay": rng.integers(10, 99, people),
            "zip": rng.choice(["06100", "06101", "06200", "34000", "34710"], people),
            "illness": illness,
        }
    )


def halved(frame: pl.DataFrame, columns: list[str], k: int) -> np.ndarray:
    """Sort rows into classes of at least k by halving at the middle row, column after column."""
    labels = np.zeros(frame.height, np.int64)
    queue, done = [(np.arange(frame.height), 0)], 0
    while queue:
        rows, depth = queue.pop()
        if len(rows) < 2 * k:
            labels[rows] = done
            done += 1
            continue
        values = frame[columns[depth % len(columns)]].to_numpy()[rows]
        order = rows[np.argsort(values, kind="stable")]
        queue += [(order[: len(rows) // 2], depth + 1), (order[len(rows) // 2 :], depth + 1)]
    return labels


def ranged(frame: pl.DataFrame, columns: list[str], labels: np.ndarray) -> pl.DataFrame:
    """Publish each class's least and greatest number in some columns; the others stay."""
    shown = frame
    for name in columns:
        ends = pl.DataFrame({"label": labels, "value": frame[name]}).with_columns(
            low=pl.col("value").min().over("label"), high=pl.col("value").max().over("label")
        )
        shown = shown.with_columns(write_ranges(ends["low"], ends["high"]).alias(name))
    return shown
