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
    """The level a table reaches under each model, by the book.

    Whether a cell without a value is a value of its own or none: the worse of the two counts.
    """
    readings = [frame[sensitive].to_list()]
    if None in readings[0]:
        readings.append([value for value in readings[0] if value is not None])
    reached = [_levels(classes(frame, quasi), sensitive, Counter(reading)) for reading in readings]
    return {name: float(_SAFEST.get(name, max)(level[name] for level in reached)) for name in reached[0]}


_SAFEST = {"k": min, "distinct": min, "entropy": min}


def _levels(
    groups: list[list[dict[str, object]]], sensitive: str, table: Counter[object]
) -> dict[str, float]:
    shares = {value: times / table.total() for value, times in table.items()}
    worst: dict[str, list[float]] = defaultdict(list)
    for rows in groups:
        counts = Counter(row[sensitive] for row in rows if row[sensitive] in shares)
        worst["k"].append(len(rows))
        worst["distinct"].append(len(counts))
        if not counts:  # proves nothing
            worst["entropy"].append(0)
            for name in ("equal", "kl", "alpha", "beta", "delta"):
                worst[name].append(math.inf)
            continue
        inside = {value: counts.get(value, 0) / counts.total() for value in shares}
        worst["entropy"].append(math.exp(-sum(p * math.log(p) for p in inside.values() if p)))
        worst["equal"].append(sum(abs(inside[v] - shares[v]) for v in shares) / 2)
        worst["kl"].append(sum(p * math.log(p / shares[v]) for v, p in inside.items() if p))
        worst["alpha"].append(max(inside.values()))
        worst["beta"].append(max((inside[v] - shares[v]) / shares[v] for v in shares))
        worst["delta"].append(max(abs(math.log(p / shares[v])) if p else math.inf for v, p in inside.items()))
    return {name: float(_SAFEST.get(name, max)(found)) for name, found in worst.items()}
