"""How much does privacy add to a query, and how fast is the accounting?

A private count over a DuckDB table against the plain count, both from opening the file on; every private
count appends a line to its ledger and syncs it to disk. The accounting of 10,000 steps of private training
against the same by dp-accounting without us. Repeats are interleaved and the minimum counts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import dp_accounting as da
import duckdb

from mahrem.dp import Ledger, Relation, Spend, answer_query, composed_cost, foreign
from mahrem.dp import _accounting as accounting

STEPS = 10_000
COUNTS = {
    "count()": "SELECT COUNT(*) FROM t",
    "count() where x >= 50": "SELECT COUNT(*) FROM t WHERE x >= 50",
    "sum(x) by g": "SELECT g, SUM(x) FROM t GROUP BY g",
}


class Row(TypedDict):
    """One figure."""

    case: str
    n: int
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float
    peak_mb: float | None


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    rows: int
    repeats: int


def interleaved(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """Run both in turn; gives the shortest time of each."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for place, work in enumerate((ours, theirs)):
            start = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1]


def row(case: str, n: int, baseline: str, seconds: tuple[float, float]) -> Row:
    return {
        "case": case,
        "n": n,
        "seconds": seconds[0],
        "baseline": baseline,
        "baseline_seconds": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "peak_mb": None,
    }


def queries(folder: Path, rows: int, repeats: int) -> list[Row]:
    path = folder / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 100 AS x, chr(CAST(97 + i % 3 AS INTEGER)) AS g FROM range(?) r(i)",
            [rows],
        )
    facts: dict[str, dict[str, Any]] = {"x": {"lower": 0, "upper": 100}, "g": {"categories": ["a", "b", "c"]}}
    ledger = Ledger.create(folder / "L", path, epsilon=20.0, delta=1e-9, columns=facts)

    def plain(sql: str) -> object:
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    found = []
    for question, sql in COUNTS.items():

        def private(asked: str = question) -> object:
            return answer_query(path, asked, ledger=ledger, epsilon=0.1)

        private()
        times = interleaved(private, lambda said=sql: plain(said), repeats)  # type: ignore[misc]
        found.append(row(question, rows, "the same, not private", times))
    return found


def training(repeats: int) -> Row:
    step = da.PoissonSampledDpEvent(256 / 60_000, da.GaussianDpEvent(1.1))
    event = da.SelfComposedDpEvent(step, STEPS)
    spend = Spend(foreign(event), float("inf"), 1.0)

    def ours() -> object:
        accounting._single.cache_clear()  # noqa: SLF001 - a fresh process has nothing cached
        accounting._NEWEST.clear()  # noqa: SLF001 - the same
        return composed_cost([spend], 1e-5, Relation.ADD_REMOVE).epsilon

    def theirs() -> object:
        accountant = da.pld.PLDAccountant()
        return accountant.compose(event).get_epsilon(1e-5)

    return row(
        "accounting of 10,000 steps", STEPS, "dp-accounting by hand", interleaved(ours, theirs, repeats)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args(namespace=Options())
    with tempfile.TemporaryDirectory() as name:
        os.environ["MAHREM_STATE"] = name
        found = [*queries(Path(name), options.rows, options.repeats), training(max(3, options.repeats // 2))]
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for one in found:
        more = one["seconds"] - one["baseline_seconds"]
        print(
            f"{one['case']:30} {one['seconds'] * 1e3:9.1f} ms  {one['baseline']} "
            f"{one['baseline_seconds'] * 1e3:.1f} ms  ratio {one['ratio']:.2f}  (+{more * 1e3:.1f} ms)"
        )


if __name__ == "__main__":
    main()
