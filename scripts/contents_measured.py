"""How well is content recognised? Kind, columns, recall and false alarms where the content is known."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from labelled_columns import CONTENT, labelled_columns
from mahrem.contents import look_into


def measure(seeds: range, *, show: bool) -> None:
    """Print one line per kind, as the guide shows it."""
    columns: Counter[str] = Counter()
    found: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    total = 0
    for seed in seeds:
        for column in labelled_columns(seed):
            total += 1
            kinds = {finding.kind for finding in look_into(pl.DataFrame({"x": column.cells})).of("x")}
            if column.kind:
                columns[column.kind] += 1
                found[column.kind] += column.kind in kinds
            wrong = kinds - column.allowed - {column.kind or ""}
            alarms.update(wrong)
            if show and (wrong or (column.kind and column.kind not in kinds)):
                print(
                    column.kind,
                    sorted(kinds),
                    column.cells.dtype,
                    len(column.cells),
                    column.cells.head(4).to_list(),
                )
    print("| kind | columns | recall | false alarms |\n|---|---|---|---|")
    for kind in [*CONTENT, *sorted(set(alarms) - set(CONTENT))]:
        recall = f"{found[kind] / columns[kind]:.3f}" if columns[kind] else "\N{EN DASH}"
        print(f"| {kind} | {columns[kind]} | {recall} | {alarms[kind] / (total - columns[kind]):.4f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="invented cells of columns that were missed")
    arguments = parser.parse_args()
    measure(range(arguments.first, arguments.first + arguments.seeds), show=arguments.show)
