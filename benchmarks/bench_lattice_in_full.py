"""The lattice of Adult in full: nodes a second, and promises that compare, with suppressed rows.

Adult's nine columns and hierarchies of two to five levels make 12,960 nodes; with occupation as what is
sensitive 4,320. Processor time of this process counts, since other work on the machine does not change it.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import polars as pl
from _points import adult_frame
from bench_lattice import tree_of

from mahrem.models import BasicLikeness, EqualCloseness, KAnonymity, OrderedCloseness
from mahrem.partition import Admission, Levels, MinGen, build_method
from mahrem.partition.lattice import FullDomain
from mahrem.table import Hierarchy, Values
from mahrem.types import Points

COLUMNS = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
    "income",
)
CASES = {
    "t = 0.2": EqualCloseness(0.2),
    "t = 0.2, ordered": OrderedCloseness(0.2),
    "beta = 3": BasicLikeness(3.0),
    "beta = 1": BasicLikeness(1.0),
}


def points_of(table: pl.DataFrame, names: tuple[str, ...]) -> tuple[Points, tuple[Hierarchy, ...]]:
    trees = tuple(tree_of(name, table[name]) for name in names)
    both = zip(names, trees, strict=True)
    placed = [tree.codes(table[name]) / max(1, tree.leaves - 1) for name, tree in both]
    return np.column_stack(placed), trees


def in_full(table: pl.DataFrame) -> None:
    points, trees = points_of(table, COLUMNS)
    for limit in (0.0, 0.04):
        method = MinGen(hierarchies=trees, suppression_limit=limit)
        admits = Admission(((KAnonymity(5), None),), rows=table.height)
        began, busy = time.perf_counter(), time.process_time()
        search = method.prepare(points, admits)
        nodes = list(itertools.product(*map(range, search.lattice.heights)))
        holding = sum(search.check(node).holds for node in nodes)
        seconds, worked = time.perf_counter() - began, time.process_time() - busy
        print(
            f"k = 5, limit {limit}: {len(nodes):,} nodes in full, {holding:,} hold, {seconds:.2f} s, "
            f"{worked:.2f} s of processor time, {len(nodes) / worked:,.0f} nodes a second of it"
        )


def comparing(table: pl.DataFrame) -> None:
    names = tuple(name for name in COLUMNS if name != "occupation")
    points, trees = points_of(table, names)
    codes = (table["occupation"].rank("dense").cast(pl.Int32) - 1).to_numpy()
    occupation = Values("occupation", codes, int(codes.max()) + 1)
    for (case, model), limit in itertools.product(CASES.items(), (0.04, 0.5)):
        admits = Admission(((KAnonymity(5), None), (model, occupation)), rows=table.height)
        for loss in ("ncp", "dm"):
            method = build_method(
                "flash",
                hierarchies=trees,
                suppression_limit=limit,
                options={"loss": loss},
            )
            assert isinstance(method, FullDomain)
            began, busy = time.perf_counter(), time.process_time()
            how = method(points, admits).how
            assert isinstance(how, Levels)
            seconds, worked = time.perf_counter() - began, time.process_time() - busy
            print(
                f"{case}, limit {limit}, {loss}: {how.checked:,} of {how.nodes:,} nodes, {seconds:.2f} s, "
                f"{worked:.2f} s of processor time, loss {how.loss:.6g}"
            )


def main() -> None:
    table = adult_frame()
    if table is None:
        return
    in_full(table)
    comparing(table)


if __name__ == "__main__":
    main()
