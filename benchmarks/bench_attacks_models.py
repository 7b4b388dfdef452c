"""How long does an attack with shadow models take?

Adult, a small dense network (64 and 32 units, 20 epochs), 5000 rows it was trained on and 5000 it never saw:
LiRA with 16 shadow models and the variant with 4, against training as many networks and nothing else. What
the attacks find is printed beside the times.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import _timing as timing
import numpy as np
import polars as pl

from mahrem.attacks.on_models import Examples, FewShadows, Lira, LossThreshold, ModelFinding
from mahrem.datasets import find
from mahrem.dp import Facts, public_cells
from mahrem.experiments._adult_facts import ADULT_FACTS, ADULT_TARGET
from mahrem.learning.private import PlainNetwork, PublicInputs

SIZE = 5000


class Row(timing.Row):
    """One figure."""

    found: float | None
    area: float


def adult(size: int) -> tuple[Examples, Examples]:
    facts = Facts(columns=ADULT_FACTS)
    frame = pl.read_csv(find("adult_train"))
    features = tuple(name for name in ADULT_FACTS if name != ADULT_TARGET)
    rows = PublicInputs(facts=facts, features=features)(frame)
    labels = public_cells(frame, facts, [ADULT_TARGET])[ADULT_TARGET].astype(int)
    order = np.random.default_rng(0).permutation(len(rows))
    parts = (order[:size], order[size : 2 * size])
    inside, outside = (Examples(rows[part], labels[part]) for part in parts)
    return inside, outside


def network(seed: int) -> PlainNetwork:
    return PlainNetwork(classes=(0, 1), epochs=20, batch=100, learning_rate=0.01, seed=seed)


def measured(attack: Callable[[], ModelFinding]) -> tuple[float, ModelFinding]:
    start = time.perf_counter()
    found = attack()
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--size", type=int, default=SIZE)
    said = parser.parse_args()
    inside, outside = adult(said.size)
    network(0).fit(inside.inputs[:200], inside.labels[:200])  # loads what is loaded once
    model = network(99)
    once = timing.timed(lambda: model.fit(inside.inputs, inside.labels))
    cases: dict[str, tuple[int, Callable[[], ModelFinding]]] = {
        "loss threshold": (1, lambda: LossThreshold()(model, inside, outside)),
        "few shadows (4)": (4, lambda: FewShadows(shadows=4)(model, inside, outside, make=network)),
        "lira (16)": (16, lambda: Lira(shadows=16)(model, inside, outside, make=network)),
    }
    rows: list[Row] = []
    for case, (trainings, attack) in cases.items():
        seconds, found = measured(attack)
        rows.append(
            Row(
                case=case,
                n=2 * said.size,
                seconds=round(seconds, 3),
                baseline=f"training {trainings} networks, as timed for one",
                baseline_seconds=round(trainings * once, 3),
                ratio=round(seconds / (trainings * once), 3),
                peak_mb=None,
                found=found.rate,
                area=round(found.area, 4),
            )
        )
    if said.json:
        timing.print_json(rows)
        return
    for row in rows:
        print(
            f"{row['case']:<18} {row['seconds']:8.1f} s   {row['ratio']:.2f} of {row['baseline']}   "
            f"AUC {row['area']:.3f}, {row['found']:.2%} at 1% false alarms"
        )


if __name__ == "__main__":
    main()
