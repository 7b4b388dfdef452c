"""A second, slow and obvious reading of every promise, sharing no code with mahrem."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import polars as pl


def classes(frame: pl.DataFrame, quasi: Sequence[str]) -> list[list[dict[str, object]]]:
    """Rows that show the same, as lists of rows; rows that show nothing at all are left out."""
    groups: dict[tuple[object, ...], list[dict[str, object]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        groups[tuple(row[name] for name in quasi)].append(row)
    return list(groups.values())


def levels(frame: pl.DataFrame, quasi: Sequence[str], sensitive: str) -> dict[str, float]:
    """The level a table reaches under each model, by the book."""
    groups = classes(frame, quasi)
    table = Counter(frame[sensitive].to_list())
    shares = {value: times / frame.height for value, times in table.items()}
    worst: dict[str, list[float]] = defaultdict(list)
    for rows in groups:
        counts = Counter(row[sensitive] for row in rows)
        inside = {value: counts.get(value, 0) / len(rows) for value in shares}
        worst["k"].append(len(rows))
        worst["distinct"].append(len(counts))
        worst["entropy"].append(math.exp(-sum(p * math.log(p) for p in inside.values() if p)))
        worst["equal"].append(sum(abs(inside[v] - shares[v]) for v in shares) / 2)
        worst["kl"].append(sum(p * math.log(p / shares[v]) for v, p in inside.items() if p))
        worst["alpha"].append(max(inside.values()))
        worst["beta"].append(max((inside[v] - shares[v]) / shares[v] for v in shares))
        worst["delta"].append(max(abs(math.log(p / shares[v])) if p else math.inf for v, p in inside.items()))
    safest = {"k": min, "distinct": min, "entropy": min}
    return {name: float(safest.get(name, max)(found)) for name, found in worst.items()}
