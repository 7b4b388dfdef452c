"""The points that benchmarks of partitioners share, and the tree they are measured against."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.types import Points

__all__ = ["TREE", "K", "adult", "adult_frame", "uniform"]

K = 5
TREE = f"cKDTree(balanced_tree=True, leafsize={2 * K - 1})"
COLUMNS = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")


def uniform(rows: int) -> Points:
    return np.random.default_rng(0).random((rows, 5))


def adult_frame() -> pl.DataFrame | None:
    """Give the rows of Adult without a missing value, as text; None if the set is not there."""
    path = Path(os.environ.get("MAHREM_DATA", "nowhere")) / "adult_train.csv"
    if not path.is_file():
        print("adult: left out, MAHREM_DATA names no folder with adult_train.csv", file=sys.stderr)
        return None
    table = pl.read_csv(path, infer_schema=False).with_columns(pl.all().str.strip_chars())
    return table.filter(~pl.any_horizontal(pl.all() == "?"))


def adult() -> Points | None:
    """Give the five columns of numbers, each from 0 to 1."""
    table = adult_frame()
    if table is None:
        return None
    points = table.select(pl.col(COLUMNS).cast(pl.Float64)).to_numpy()
    return np.ascontiguousarray((points - points.min(axis=0)) / np.ptp(points, axis=0))
