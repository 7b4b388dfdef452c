"""What does learning over silos cost, each figure as a ratio to a named baseline in the same run?

Adult, three silos, the five-layer network: rounds of averaging in process, with every message written to
bytes and read again, against the same steps of SGD on all rows without a federation; rounds under masks
against the plain ones. Processor time, interleaved, the minimum counts. A thousand clients, a tenth of
them in each round: memory after the last round against that after the third.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import polars as pl

from mahrem.federated import (
    ClientPool,
    LearningPlan,
    LocalGrid,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    learn_together,
    propose_schema,
    split_table,
    training_client,
)

TARGET, SILOS, CLIENTS = "income", 3, 1000


class Row(TypedDict):
    """One figure."""

    case: str
    n: int
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float
    peak_mb: float
    bar: float


def table() -> pl.DataFrame:
    """Read both parts of Adult."""
    folder = Path(os.environ["MAHREM_DATA"])
    return pl.concat([pl.read_csv(folder / f"adult_{part}.csv") for part in ("train", "test")])


def memory_mb() -> float:
    """Give the memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(work: Callable[[], Any]) -> float:
    """Give the processor time of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def alone(frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan) -> Callable[[], Any]:
    """Prepare the same steps on all rows, without a federation."""
    rows, labels = schema.rows(frame)
    network, classes = plan.network(), len(schema.classes)

    def work() -> None:
        weights = SharedModel.fresh(schema, plan).arrays["weights"]
        for number in range(plan.rounds):
            weights = network.train(weights, rows, labels, classes, seed=number)

    return work


def over_silos(frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan) -> Callable[[], Any]:
    """Prepare rounds over silos; their rows are encoded before the clock starts."""
    silos = [
        TrainingSilo(name, part, schema, plan)
        for name, part in split_table(frame, TARGET, clients=SILOS).items()
    ]
    for silo in silos:
        assert len(silo.ready[0])
    return lambda: learn_together(
        LocalGrid({silo.name: training_client(silo) for silo in silos}), schema, plan
    )


def silo_rows(rounds: int, repeats: int) -> list[Row]:
    """Compare training alone, over silos, and under masks."""
    frame = table()
    schema, plan = propose_schema(frame, TARGET), LearningPlan(rounds=rounds)
    works = {
        "alone": alone(frame, schema, plan),
        "plain": over_silos(frame, schema, plan),
        "masked": over_silos(frame, schema, replace(plan, sum="masked")),
    }
    best = dict.fromkeys(works, float("inf"))
    for number in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], timed(work))
            print(f"repeat {number + 1}, {name}: {best[name]:.2f} s at best", file=sys.stderr)
    pairs = (
        ("plain", "alone", "the same steps without a federation", 1.3),
        ("masked", "plain", "plain sums", 1.5),
    )
    return [
        Row(
            case=f"adult mlp, {SILOS} silos, {rounds} rounds, {name}",
            n=frame.height,
            seconds=best[name],
            baseline=baseline,
            baseline_seconds=best[beside],
            ratio=best[name] / best[beside],
            peak_mb=memory_mb(),
            bar=bar,
        )
        for name, beside, baseline, bar in pairs
    ]


def device_row(rounds: int) -> Row:
    """Run a thousand clients, a tenth a round; ``seconds`` are of a later round against the third."""
    frame = table()
    schema = propose_schema(frame, TARGET)
    plan = LearningPlan(model="logistic", rounds=rounds, fraction=0.1)
    parts = split_table(frame, TARGET, clients=CLIENTS)
    pool = ClientPool(tuple(parts), lambda name: TrainingSilo(name, parts[name], schema, plan), keep=101)
    held: list[tuple[float, float]] = []
    began = time.process_time()
    learn_together(
        LocalGrid(pool),
        schema,
        plan,
        after=lambda *_: held.append((time.process_time() - began, memory_mb())),
    )
    seconds = np.diff([0.0, *(one for one, _ in held)])
    return Row(
        case=f"{CLIENTS} clients, 10 % a round, {rounds} rounds: memory at the end",
        n=frame.height,
        seconds=float(seconds[-1]),
        baseline="memory after the third round",
        baseline_seconds=float(seconds[2]),
        ratio=held[-1][1] / held[2][1],
        peak_mb=max(memory for _, memory in held),
        bar=1.1,
    )


def main() -> None:
    """Run the cases and print their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    said = parser.parse_args()
    if "MAHREM_DATA" not in os.environ:
        print("left out: MAHREM_DATA names no folder with the sets", file=sys.stderr)
        return
    rows = [*silo_rows(said.rounds, said.repeats), device_row(max(4, said.rounds // 2))]
    if said.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        beside = f"{row['ratio']:.3f} of {row['baseline']} (bar {row['bar']})"
        print(f"{row['case']}: {row['seconds']:.2f} s, {beside}")


if __name__ == "__main__":
    main()
