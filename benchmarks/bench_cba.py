"""How fast are classifiers of rules, alone and over many clients, each against a named baseline in this run?

CBA on mushroom (support 0.2, all lengths) and Adult (support 0.01, rules of five with the class) against
pyARC, which lives in an environment of its own (``--pyarc`` or MAHREM_PEER_PYARC names its Python) and runs
once, for at most ``--bound`` seconds; before that, our rules are compared with a slow walk over Boolean
columns. Exact du-CBA with 128 clients of one process against central CBA: processor time of all clients'
answers and the server together, from tables of text to the model, messages written to bytes and read again;
the bar is twice central CBA. Clients that are asked one after the other are told beside it. The secure sum
has a bar of three seconds a round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import _timing as timing
import numpy as np
import polars as pl

from mahrem.arrays.mining import cover_first, pack_bits
from mahrem.experiments._buyuktanir2022_runs import SETS
from mahrem.federated.rules import ExactSettings, RulesCrowd, learn_exact
from mahrem.federated.runs import split_rows
from mahrem.federated.sums import MaskedClient, MaskedSum
from mahrem.federated.wire import LocalGrid, Message
from mahrem.learning.rules import (
    CbaSettings,
    Mining,
    SupervisedBins,
    as_cells,
    cba,
    class_rules,
    learn_items,
    least_rows,
    mine_sets,
    number_classes,
)
from mahrem.types import Integers

WIDE = CbaSettings(support=0.2, support_of="rule")
DEEP = CbaSettings(support=0.01, longest=4, support_of="rule")
CLIENTS = 128


class Row(timing.Figure):
    """One figure."""

    notes: dict[str, Any]
    repeats: int


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    repeats: int
    cases: str
    pyarc: str
    bound: float


def load(name: str) -> tuple[pl.DataFrame, pl.Series]:
    """Cells and classes of a set; numbers of bank and Adult in supervised bins."""
    file, target = SETS[name]
    frame = pl.read_csv(Path(os.environ["MAHREM_DATA"]) / f"{file}.csv", infer_schema_length=100_000)
    labels = frame[target].cast(pl.String)
    cells = frame.drop(target)
    if name in {"bank", "adult"}:
        cells = SupervisedBins().fit_transform(cells, labels.to_numpy())
    return as_cells(cells), labels


def slow_rules(cells: pl.DataFrame, labels: pl.Series, settings: CbaSettings) -> None:
    """Refuse to compare unless all miners agree and the kept rules are those of a slow walk."""
    items, codes = learn_items(cells)
    names, target = number_classes(labels)
    table = pack_bits(codes, len(items), target, len(names))
    minimum = least_rows(settings.support, cells.height)
    found = [
        mine_sets(
            codes,
            target,
            table,
            items.place,
            minimum,
            Mining(longest=settings.longest, miner=miner, support_of=settings.support_of),
        )
        for miner in ("eclat", "apriori", "fp-growth")
    ]
    for sets, counts in found[1:]:
        assert np.array_equal(sets, found[0][0])
        assert np.array_equal(counts, found[0][1])
    ranked = class_rules(*found[0], confidence=settings.confidence, minimum=settings.least_rule(cells.height))
    shown = [(codes == item).any(axis=1) for item in range(len(items))]
    left_over = np.ones(len(codes), np.bool_)
    kept = []
    for left, right in zip(ranked.left.tolist(), ranked.right.tolist(), strict=True):
        hit = left_over.copy()
        for item in left:
            if item >= 0:
                hit &= shown[item]
        kept.append(bool((target[hit] == right).any()))
        left_over &= ~hit if kept[-1] else True
    assert cover_first(table, ranked.left, ranked.right)[0].tolist() == kept


PYARC = """
import json, sys, time
import pandas as pd
from pyarc import TransactionDB
from pyarc.algorithms import M1Algorithm, generateCARs

frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
rows = TransactionDB.from_DataFrame(frame, unique_transactions=True)
start = time.process_time()
rules = generateCARs(rows, support=100 * float(sys.argv[2]), confidence=50, maxlen=int(sys.argv[3]))
print(json.dumps({"mining": time.process_time() - start, "mined": len(rules)}), flush=True)
start = time.process_time()
kept = M1Algorithm(rules, rows).build().rules
print(json.dumps({"m1": time.process_time() - start, "rules": len(kept)}), flush=True)
"""


def pyarc_fit(
    python: str, cells: pl.DataFrame, labels: pl.Series, support: float, longest: int, bound: float
) -> Any:
    """Fit pyARC in its own environment, as its ``CBA.fit`` does: mine, then M1; gives what ended in time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.csv"
        cells.with_columns(labels.alias("class")).write_csv(path)
        command = [python, "-c", PYARC, str(path), str(support), str(longest)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
            try:
                said, _ = peer.communicate(timeout=bound)
            except subprocess.TimeoutExpired:
                peer.kill()
                said, _ = peer.communicate()
            else:
                if peer.returncode:
                    raise SystemExit(f"{python} has no pyARC that works")
    found: dict[str, Any] = {}
    for line in said.splitlines():
        found |= json.loads(line)
    return found


def against_pyarc(options: Options) -> list[Row]:
    """The whole fit against pyARC's, from a table in memory to the rules, in processor time."""
    rows: list[Row] = []
    for name, settings, length in (("mushroom", WIDE, 23), ("adult", DEEP, 5)):
        cells, labels = load(name)
        slow_rules(cells, labels, settings)
        work = partial(cba, cells, labels, settings)
        best, model = shortest(work, options.repeats, time.process_time)
        said: dict[str, Any] = {}
        if options.pyarc:
            said = pyarc_fit(options.pyarc, cells, labels, settings.support, length, options.bound)
        else:
            print(f"{name}: pyARC left out, no Python that has it is named", file=sys.stderr)
        ended = "m1" in said
        seconds = said["mining"] + said["m1"] if ended else float("nan")
        rows.append(
            Row(
                case=f"CBA on {name}, support {settings.support}",
                n=cells.height,
                seconds=best,
                baseline="pyARC 1.1.4 fit, one run"
                if ended or not said
                else "pyARC 1.1.4, stopped unfinished",
                baseline_seconds=seconds,
                ratio=best / seconds,
                notes={"rules": len(model), "pyarc": said, "times_faster": seconds / best},
                repeats=options.repeats,
            )
        )
    return rows


def shortest(
    work: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """Give the shortest time of several runs, and what came out."""
    best = np.inf
    for _ in range(repeats):
        start = clock()
        found = work()
        best = min(best, clock() - start)
    return float(best), found


@dataclass
class OneByOne(LocalGrid):
    """Clients of one process that are asked one after the other, as if each had a wire of its own."""

    def ask_together(self, nodes: Sequence[str], message: Message) -> None:
        """Nobody answers for others."""


def exact(options: Options) -> list[Row]:
    """Exact du-CBA with 128 clients against central CBA; the models must be equal."""
    rows: list[Row] = []
    for name in SETS:
        cells, labels = load(name)
        frame = cells.with_columns(labels.alias("class of all"))
        parts = [frame[part] for part in split_rows(frame.height, CLIENTS)]
        chosen = (CbaSettings(), DEEP) if name == "adult" else (CbaSettings(),)
        rows += [_exact(name, cells, labels, parts, settings, options.repeats) for settings in chosen]
    return rows


def _exact(
    name: str,
    cells: pl.DataFrame,
    labels: pl.Series,
    parts: list[pl.DataFrame],
    settings: CbaSettings,
    repeats: int,
) -> Row:
    central = single = whole = np.inf
    for _ in range(repeats):
        start = time.process_time()
        model = cba(as_cells(cells), labels, settings)
        central = min(central, time.process_time() - start)
        frames = {f"c{place:03d}": part for place, part in enumerate(parts)}
        start = time.process_time()
        apart = OneByOne(RulesCrowd.of(frames, "class of all"))
        learn_exact(apart, cells.columns, ExactSettings(cba=settings))
        single = min(single, time.process_time() - start)
        start = time.process_time()
        grid = LocalGrid(RulesCrowd.of(frames, "class of all"))
        learnt = learn_exact(grid, cells.columns, ExactSettings(cba=settings))
        whole = min(whole, time.process_time() - start)
    assert learnt.exact
    assert learnt.model == model
    traffic = apart.traffic  # what a client of its own sends
    return Row(
        case=f"exact du-CBA on {name}, support {settings.support}, {CLIENTS} clients",
        n=cells.height,
        seconds=float(whole),
        baseline="central CBA",
        baseline_seconds=float(central),
        ratio=float(whole / central),
        notes={
            "bar": 2.0,
            "ratio_one_by_one": float(single / central),
            "rounds": dict(learnt.rounds),
            "candidates": learnt.candidates,
            "bytes_from_client": sum(traffic.received.values()) // CLIENTS,
            "bytes_to_client": sum(traffic.sent.values()) // CLIENTS,
            "bytes_raw_of_client": sum(len(part.write_csv()) for part in parts) // CLIENTS,
            "ms_per_round_and_client": 1000 * float(whole) / traffic.rounds / CLIENTS,
        },
        repeats=repeats,
    )


def secure_sum(options: Options) -> list[Row]:
    """A masked sum of 100,000 whole numbers over 16 clients, all in this process."""
    rng = np.random.default_rng(0)
    vectors = {f"c{place:02d}": rng.integers(0, 1000, 100_000) for place in range(16)}

    def give(vector: Integers) -> Callable[[str, Mapping[str, Any]], Integers]:
        return lambda _kind, _body: vector

    def run() -> Any:
        grid = LocalGrid({name: MaskedClient(name, give(vector)) for name, vector in vectors.items()})
        found = MaskedSum()(grid, grid.nodes(), Message("counts", "run", 1, {}), lambda _: None)
        return found.total, max(grid.traffic.received.values())

    best, (total, sent) = shortest(run, options.repeats)
    assert np.array_equal(total, sum(vectors.values()))
    plain, _ = shortest(lambda: sum(vectors.values()), options.repeats)
    return [
        Row(
            case="masked sum, 16 clients",
            n=100_000,
            seconds=best,
            baseline="sum in the clear",
            baseline_seconds=plain,
            ratio=best / plain,
            notes={"bar_seconds": 3.0, "bytes_from_client": sent},
            repeats=options.repeats,
        )
    ]


# What is measured; another question is one function and one line here.
CASES: dict[str, Callable[[Options], list[Row]]] = {
    "pyarc": against_pyarc,
    "exact": exact,
    "sum": secure_sum,
}


def show(rows: list[Row]) -> None:
    print("case                                                    n         s     base s     ratio  notes")
    for row in rows:
        times = f"{row['seconds']:9.4f} {row['baseline_seconds']:10.4f} {row['ratio']:9.4f}"
        print(f"{row['case']:50}{row['n']:>8} {times}  {row['baseline']}; {row['notes']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--repeats", type=int, default=5, help="runs of ours; the shortest counts")
    parser.add_argument("--cases", default=",".join(CASES), help="which of " + ", ".join(CASES))
    parser.add_argument("--pyarc", default=os.environ.get("MAHREM_PEER_PYARC", ""))
    parser.add_argument("--bound", type=float, default=1800, help="seconds that one fit of pyARC may take")
    options = parser.parse_args(namespace=Options())
    if "MAHREM_DATA" not in os.environ:
        print("left out: MAHREM_DATA names no folder with the sets", file=sys.stderr)
        return
    rows = [row for case in options.cases.split(",") for row in CASES[case](options)]
    if options.json:
        timing.print_json(rows)
    else:
        show(rows)


if __name__ == "__main__":
    main()
