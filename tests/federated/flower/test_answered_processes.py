"""Clients in processes of their own remember which questions their rows answered, whenever they start."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from federation_processes import PATIENCE, Processes, free_port, known_keys, load_flower
from mahrem.errors import Infeasible, InvalidInput, OutputFailed
from mahrem.federated.flower import FederationSettings, init_federation, join_federation, run_federation
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import ClientSettings, RulesTask, RunSettings
from mahrem.learning.rules import RuleList

NAMES = ("north", "south", "west")
PLAN = RulesPlan(support=0.1, confidence=0.4, longest=2, least_count=5)
SCHEMA = RulesSchema(columns=("sky", "wind"), target="class")


def people(rows: int, seed: int, skies: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sky, wind = rng.integers(0, skies, rows), rng.integers(0, 4, rows)
    wet = (sky + wind + (rng.random(rows) < 0.15)) % 2
    return pl.DataFrame({"sky": sky, "wind": wind, "class": wet}).cast(pl.String)


@pytest.fixture
def processes(
    tmp_path: Path, missing_part: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Processes]:
    load_flower(missing_part)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    for seed, name in enumerate(NAMES):
        people(90, seed).write_csv(tmp_path / f"{name}.csv")
    settings = FederationSettings(address=f"127.0.0.1:{free_port()}", answer_seconds=PATIENCE)
    init_federation(tmp_path / "study", RulesTask(SCHEMA, PLAN), dict.fromkeys(NAMES), settings)
    started = Processes(tmp_path / "study", NAMES)
    try:
        yield started
    finally:
        started.end_all()


def learnt(processes: Processes, name: str) -> str:
    output = processes.folder.parent / name
    run_federation(processes.folder, RunSettings(output=output, wait=PATIENCE, retries=0))
    return str(RuleList.from_json((output / "model.json").read_text()))


def again(processes: Processes, *names: str, **more: tuple[str, ...]) -> None:
    """End clients and start them anew."""
    for name in names:
        processes.end(name)
    processes.options = more.get("options", ())
    processes.everybody()


def test_a_client_that_starts_again_answers_the_run_of_before_and_no_other(processes: Processes) -> None:
    """The server has one member whose rows change, and so other questions to ask of those that stay."""
    processes.everybody()
    first = learnt(processes, "first")
    rows_of_another_federation_stay_away_until_their_owner_agrees(processes)
    people(150, 7, skies=5).write_csv(processes.table("south"))
    again(processes, *NAMES)
    with pytest.raises(Infeasible, match="another question came next before"):
        learnt(processes, "second")
    assert re.search("until its owner agrees to others.*--despite asked", processes.log("north").read_text())
    again(processes, "north", "west", options=("--despite", "asked"))
    assert learnt(processes, "second") != first
    files_that_cannot_be_read_keep_a_client_away(processes)


def rows_of_another_federation_stay_away_until_their_owner_agrees(processes: Processes) -> None:
    """Another support is another path of questions about the same people."""
    task = RulesTask(SCHEMA, replace(PLAN, support=0.3))
    base, clients = processes.folder.parent, processes.folder / "clients"
    init_federation(base / "other", task, {name: clients / f"{name}.pub" for name in NAMES})
    with pytest.raises(InvalidInput, match="class: an earlier federation asked these rows"):
        join(processes, base / "other")
    with pytest.raises(OutputFailed, match="not reached"):
        join(processes, base / "other", despite=("asked",))


def files_that_cannot_be_read_keep_a_client_away(processes: Processes) -> None:
    processes.end_all()
    state = processes.folder.parent / "state" / "federations"
    steps = sorted((state / "answered").rglob("*.step"))
    assert len({path.parent for path in steps}) == len(NAMES) + 1  # South's rows of before, too
    assert {stat.S_IMODE(path.stat().st_mode) for path in steps} == {0o600}
    for step in steps:
        step.write_bytes(b"")
    with pytest.raises(InvalidInput, match="bring it back as it was"):
        join(processes, processes.folder)
    assert any("bring it back" in log.read_text() for log in state.glob("north-*.jsonl"))


def join(processes: Processes, folder: Path, **more: Any) -> None:
    """Join as North in this process, while no other holds its key."""
    settings = ClientSettings(patience=0.01, yes=True, known=known_keys(processes.folder), **more)
    processes.end("north")
    join_federation(folder / "federation.toml", processes.table("north"), processes.key("north"), settings)
