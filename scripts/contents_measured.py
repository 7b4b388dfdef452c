"""How well is content recognised? Kind, columns, recall and false alarms where the content is known."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import foreign_columns
import labelled_columns
import office_columns
from mahrem.contents import look_into


def measure(columns: Iterable[labelled_columns.LabelledColumn], kinds: Iterable[str], *, show: bool) -> None:
    """Print one line per kind, as the guide shows it."""
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    total = 0
    for column in columns:
        total += 1
        told = {finding.kind for finding in look_into(pl.DataFrame({"x": column.cells})).of("x")}
        if column.kind:
            asked[column.kind] += 1
            found[column.kind] += column.kind in told
        wrong = told - column.allowed - {column.kind or ""}
        alarms.update(wrong)
        if show and (wrong or (column.kind and column.kind not in told)):
            print(column.kind, sorted(told), len(column.cells), column.cells.drop_nulls().head(4).to_list())
    print("| kind | columns | recall | false alarms |\n|---|---|---|---|")
    for kind in [*kinds, *sorted(set(alarms) - set(kinds))]:
        recall = f"{found[kind] / asked[kind]:.3f}" if asked[kind] else "\N{EN DASH}"
        print(f"| {kind} | {asked[kind]} | {recall} | {alarms[kind] / (total - asked[kind]):.4f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--foreign", action="store_true", help="people as Faker invents them, not our own")
    parser.add_argument(
        "--offices", action="store_true", help="columns as offices of many countries keep them"
    )
    parser.add_argument("--show", action="store_true", help="invented cells of columns that were missed")
    arguments = parser.parse_args()
    kinds: Iterable[str] = labelled_columns.CONTENT
    make: Callable[[int], Iterable[labelled_columns.LabelledColumn]] = labelled_columns.labelled_columns
    if arguments.foreign:
        kinds, make = foreign_columns.CONTENT, foreign_columns.foreign_columns
    if arguments.offices:
        kinds, make = office_columns.MAKERS, office_columns.office_columns
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    measure((column for seed in seeds for column in make(seed)), kinds, show=arguments.show)
