"""Other shapes between real processes, small: simulations hold with keys, certificates and wires."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from federation_processes import PATIENCE, Processes, free_port, load_flower
from mahrem.federated.flower import FederationSettings, init_federation, run_federation
from mahrem.federated.runs import AgreedShape, RunModel, RunSettings, ShapeTask
from mahrem.federated.weights import propose_schema

NAMES = ("bank", "shop")
HOLDS = {"bank": ("age", "class"), "shop": ("hours",)}
SHAPES = {
    "vertical": AgreedShape(shape="vertical", model="logistic", id="nr", holds=HOLDS, rate=3.0, rounds=12),
    "u-shaped": AgreedShape(shape="u-shaped", rate=0.5, rounds=12),
    "gossip": AgreedShape(shape="gossip", model="logistic", rate=0.5, rounds=3),
}


def people(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    rich = age / 2 + hours + rng.normal(0, 4, rows) > 60
    columns = {"nr": np.arange(rows), "age": age, "hours": hours}
    return pl.DataFrame({**columns, "class": np.where(rich, "yes", "no")})


@pytest.fixture(params=SHAPES)
def processes(
    request: pytest.FixtureRequest, tmp_path: Path, missing_part: Callable[[str], None]
) -> Iterator[Processes]:
    load_flower(missing_part)
    plan, whole = SHAPES[request.param], people()
    task = ShapeTask(propose_schema(whole.drop("nr"), "class"), plan)
    settings = FederationSettings(address=f"127.0.0.1:{free_port()}", answer_seconds=PATIENCE)
    init_federation(tmp_path / "study", task, dict.fromkeys(NAMES), settings)
    made = Processes(tmp_path / "study", NAMES)
    for place, name in enumerate(NAMES):
        mine = whole.select("nr", *HOLDS[name]).sample(fraction=1.0, shuffle=True, seed=place)
        (mine if plan.shape == "vertical" else whole[place::2]).write_csv(made.table(name))
    try:
        yield made
    finally:
        made.end_all()


def test_shapes_are_learnt_between_processes_and_members_keep_models(processes: Processes) -> None:
    base, task = processes.folder.parent, processes.federation.task
    assert isinstance(task, ShapeTask)
    processes.served()
    keepers = [name for name in NAMES if task.labelled(name)]
    for name in NAMES:
        kept = ("--keep-model", base / f"{name}.npz") if name in keepers else ()
        words = (processes.folder / "federation.toml", processes.table(name), "--key", processes.key(name))
        processes.start(name, "client", *words, *processes.consent, *kept)
    for name in NAMES:
        processes.wait(name, "connected")
    said = run_federation(processes.folder, RunSettings(output=base / "run", wait=PATIENCE))
    assert said["models"] == keepers
    assert said["superlink"] == "finished:completed"
    test = people(400, seed=5)
    for name in keepers:
        found = RunModel.load(base / f"{name}.npz").classifier.predict(test)
        assert float((found == test["class"].to_numpy()).mean()) > 0.7
