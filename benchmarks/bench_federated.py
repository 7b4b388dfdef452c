"""What does learning over silos cost, each figure as a ratio to a named baseline in the same run?

Adult, three silos, the five-layer network: rounds of averaging in process, with every message written to
bytes and read again, against the same steps of SGD on all rows without a federation; rounds with each
protection against the plain ones, with the bytes that clients send. Processor time, interleaved, the minimum
counts. A thousand clients, a tenth of them in each round: memory after the last round against that after the
third. A thousand clients under masks, all of them in each round: processor time of all together against a
minute. Trees over a silo of a million rows: memory against a gigabyte. These have processes of their own.
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
from typing import Any

import _timing as timing
import numpy as np
import polars as pl

from mahrem.federated.runs import split_table
from mahrem.federated.sums import ClientKeys, WeightsScheme
from mahrem.federated.weights import (
    LearningPlan,
    Protections,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import ClientPool, LocalGrid

TARGET, SILOS, CLIENTS = "income", 3, 1000
MASKED_ROUNDS, MASKED_WEIGHTS = 10, 10_000
MINUTE, GIGABYTE = 60.0, 1000.0  # processor seconds, MB
SILO_ROWS = 1_000_000
HELD_OUT = 1000  # rows that the server vets updates by
NOISE: dict[str, Any] = {"clip": 1.0, "noise": 0.5, "noise_by": "sum"}
# name: how it differs from plain rounds, and the most it may cost
PROTECTED: dict[str, tuple[dict[str, Any], float | None]] = {
    "masked": ({"sum": "masked"}, 1.5),
    "homomorphic": ({"sum": "homomorphic"}, 3.0),
    "noise": ({"protections": Protections(clip=1.0, noise=0.5)}, None),
    "noise, then masked": ({"sum": "masked", "protections": Protections(**NOISE)}, None),
    "noise, then homomorphic": ({"sum": "homomorphic", "protections": Protections(**NOISE)}, None),
    "norm bound and anomaly score": ({"protections": Protections(norm_bound=1.0, anomaly=1e6)}, None),
    "held-out rows": ({"protections": Protections(held_out=1e6)}, None),
    "8 bits": ({"protections": Protections(quantise=8)}, None),
    "8 bits, a tenth of the numbers": ({"protections": Protections(quantise=8, sparse=0.1)}, None),
}


class Row(timing.Row):
    """One figure."""

    bytes_up: int
    bar: float | None


def table() -> pl.DataFrame:
    """Read both parts of Adult."""
    folder = Path(os.environ["MAHREM_DATA"])
    return pl.concat([pl.read_csv(folder / f"adult_{part}.csv") for part in ("train", "test")])


def alone(frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan) -> Callable[[], Any]:
    """Prepare the same steps on all rows, without a federation."""
    rows, labels = schema.rows(frame)
    network, classes = plan.network(), len(schema.classes)

    def work() -> None:
        weights = SharedModel.fresh(schema, plan).arrays["weights"]
        for number in range(plan.rounds):
            weights = network.train(weights, rows, labels, classes, seed=number)

    return work


def over_silos(frame: pl.DataFrame, schema: SharedSchema, plan: LearningPlan) -> Callable[[], LocalGrid]:
    """Prepare rounds over silos; their rows are encoded and keys made before the clock starts."""
    silos = [
        TrainingSilo(name, part, schema, plan)
        for name, part in split_table(frame, TARGET, clients=SILOS).items()
    ]
    for silo in silos:
        assert len(silo.ready[0])
    secret, public = WeightsScheme.make_keys() if plan.sum == "homomorphic" else (None, None)

    def work() -> LocalGrid:
        fresh = [replace(silo) for silo in silos]  # with its rows, and all of its promise to spend
        grid = LocalGrid({silo.name: silo.for_grid(ClientKeys(secret=secret)) for silo in fresh})
        learn_together(grid, schema, plan, held_out=frame[:HELD_OUT], public=public)
        return grid

    return work


def silo_rows(rounds: int, repeats: int) -> list[Row]:
    """Compare training alone, over silos, and with each protection."""
    frame = table()
    schema, plan = propose_schema(frame, TARGET), LearningPlan(rounds=rounds)
    works: dict[str, Callable[[], Any]] = {
        "alone": alone(frame, schema, plan),
        "plain": over_silos(frame, schema, plan),
        **{name: over_silos(frame, schema, replace(plan, **more)) for name, (more, _) in PROTECTED.items()},
    }
    best, sent = dict.fromkeys(works, float("inf")), dict.fromkeys(works, 0)
    for number in range(repeats):
        for name, work in works.items():
            began = time.process_time()
            grid = work()
            best[name] = min(best[name], time.process_time() - began)
            sent[name] = sum(grid.traffic.received.values()) if grid is not None else 0
            print(f"repeat {number + 1}, {name}: {best[name]:.2f} s at best", file=sys.stderr)
    pairs: list[tuple[str, str, str, float | None]] = [
        ("plain", "alone", "the same steps without a federation", 1.3)
    ]
    pairs += [(name, "plain", "plain rounds", bar) for name, (_, bar) in PROTECTED.items()]
    return [
        Row(
            case=f"adult mlp, {SILOS} silos, {rounds} rounds, {name}",
            n=frame.height,
            seconds=best[name],
            baseline=baseline,
            baseline_seconds=best[beside],
            ratio=best[name] / best[beside],
            peak_mb=timing.memory("VmRSS"),
            bytes_up=sent[name],
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
    grid = LocalGrid(pool)
    learn_together(
        grid,
        schema,
        plan,
        after=lambda *_: held.append((time.process_time() - began, timing.memory("VmRSS"))),
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
        bytes_up=sum(grid.traffic.received.values()),
        bar=1.1,
    )


def masked_row() -> Row:
    """Let a thousand clients add up weights under masks, all of them in each round."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"x{at}": rng.random(4 * CLIENTS) for at in range(2)})
    frame = frame.with_columns(pl.Series("y", np.where(rng.random(frame.height) < 0.5, "no", "yes")))
    schema = propose_schema(frame, "y")
    hidden = (MASKED_WEIGHTS - 2) // (schema.encoder.width + 3)  # so that about so many weights travel
    plan = LearningPlan(rounds=MASKED_ROUNDS, hidden=(hidden,), sum="masked", least_clients=2)
    parts = split_table(frame, "y", clients=CLIENTS)
    clients = {name: TrainingSilo(name, part, schema, plan).for_grid() for name, part in parts.items()}
    grid, began = LocalGrid(clients), time.process_time()
    learn_together(grid, schema, plan)
    seconds = time.process_time() - began
    weights = plan.network().size(schema.encoder.width, 2)
    return Row(
        case=f"{CLIENTS} clients under masks, {MASKED_ROUNDS} rounds, {weights:,} weights: all together",
        n=frame.height,
        seconds=seconds,
        baseline="a minute",
        baseline_seconds=MINUTE,
        ratio=seconds / MINUTE,
        peak_mb=timing.memory("VmHWM"),
        bytes_up=sum(grid.traffic.received.values()),
        bar=1.0,
    )


def forest_row() -> Row:
    """Grow trees over one silo of a million rows and a small one; ``seconds`` are of a tree."""
    frame = table()
    whole = frame.sample(SILO_ROWS, with_replacement=True, seed=1)
    schema = propose_schema(frame, TARGET)
    plan = LearningPlan(model="boosting", rounds=3, sum="masked", least_clients=2)
    silos = {
        "large": TrainingSilo("large", whole, schema, plan),
        "small": TrainingSilo("small", frame, schema, plan),
    }
    grid, began = LocalGrid({name: silo.for_grid() for name, silo in silos.items()}), time.process_time()
    learn_together(grid, schema, plan)
    seconds, most = (time.process_time() - began) / plan.rounds, timing.memory("VmHWM")
    return Row(
        case=f"trees over a silo of {SILO_ROWS:,} rows: memory",
        n=SILO_ROWS,
        seconds=seconds,
        baseline="one gigabyte",
        baseline_seconds=0.0,
        ratio=most / GIGABYTE,
        peak_mb=most,
        bytes_up=sum(grid.traffic.received.values()),
        bar=1.0,
    )


ALONE: dict[str, Callable[[], Row]] = {
    "masked": masked_row,
    "forest": forest_row,
}  # memory is a process's own


def main() -> None:
    """Run the cases and print their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--alone", choices=ALONE, help="One of these cases, in this process.")
    said = parser.parse_args()
    if "MAHREM_DATA" not in os.environ:
        print("left out: MAHREM_DATA names no folder with the sets", file=sys.stderr)
        return
    if said.alone:
        timing.print_json([ALONE[said.alone]()])
        return
    rows = [*silo_rows(said.rounds, said.repeats), device_row(max(4, said.rounds // 2))]
    for name in ALONE:
        rows += json.loads(timing.in_fresh_process(__file__, "--alone", name))
    if said.json:
        timing.print_json(rows)
        return
    for row in rows:
        bar = "" if row["bar"] is None else f" (bar {row['bar']})"
        beside = f"{row['ratio']:.3f} of {row['baseline']}{bar}"
        print(f"{row['case']}: {row['seconds']:.2f} s, {beside}, {row['bytes_up']:,} bytes up")


if __name__ == "__main__":
    main()
