from __future__ import annotations

import csv
import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import ColumnNotFound, Infeasible, InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import RulesSimulation, RunFolder, TableSharing, simulate, split_table
from mahrem.learning.rules import RuleList, cba

LOOSE = RulesPlan(sum="plain", support=0.05, confidence=0.4)


def people(rows: int = 240, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sky, wind, day = rng.integers(0, 3, rows), rng.integers(0, 4, rows), rng.integers(0, 2, rows)
    wet = (sky + wind + (rng.random(rows) < 0.15)) % 2
    words = {"sky": sky, "wind": wind, "day": day, "class": np.where(wet, "wet", "dry")}
    return pl.DataFrame(words).cast(pl.String).with_columns(age=pl.Series(rng.normal(40, 9, rows).round(1)))


def state(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / "state.json").read_text())
    return said


def test_a_simulation_writes_a_run_folder_that_says_everything(tmp_path: Path) -> None:
    told: list[str] = []
    folder = tmp_path / "run"
    frame = people()
    said = simulate(
        frame,
        "class",
        folder,
        RulesSimulation(plan=LOOSE, sharing=TableSharing(clients=4, test=0), bins="none"),
        tell=told.append,
    )
    assert {entry.name for entry in folder.iterdir()} == {
        "state.json",
        "model.json",
        "model.txt",
        "rounds.csv",
        "summary.json",
        "traffic.csv",
        "traffic.svg",
        "clients.svg",
    }
    model = RuleList.from_json((folder / "model.json").read_text())
    whole = frame.cast(pl.String)
    assert model == cba(whole.drop("class"), whole["class"], LOOSE.cba)
    assert said["equals_central"] is True
    assert (folder / "model.txt").read_text() == f"{model}\n"
    rounds = list(csv.DictReader((folder / "rounds.csv").read_text().splitlines()))
    assert [row["round"] for row in rounds] == [str(number + 1) for number in range(len(rounds))]
    assert len(told) == len(rounds) == said["exchanges"] == sum(said["questions"].values())
    assert sum(int(row["bytes_up"]) for row in rounds) == said["bytes"]["up"]
    assert sum(int(row["bytes_down"]) for row in rounds) == said["bytes"]["down"]
    by_client = list(csv.DictReader((folder / "traffic.csv").read_text().splitlines()))
    for row in rounds:
        mine = [one for one in by_client if one["round"] == row["round"]]
        assert sum(int(one["bytes_up"]) for one in mine) == int(row["bytes_up"])
        assert len(mine) == int(row["clients"])
    assert state(folder)["state"] == "finished"
    assert (folder / "traffic.svg").read_text().startswith("<svg")
    stored = json.loads((folder / "summary.json").read_text())
    assert {**stored, "folder": str(folder)} == said


@pytest.mark.parametrize("how", ["plain", "masked", "one-shot"])
def test_every_way_of_learning_can_be_simulated(tmp_path: Path, how: str) -> None:
    plan = RulesPlan(how="one-shot", sum="plain") if how == "one-shot" else RulesPlan(sum=how, support=0.1)
    said = simulate(
        people(),
        "class",
        tmp_path / how,
        RulesSimulation(plan=plan, sharing=TableSharing(clients=3, split="skewed")),
    )
    assert said["exact"] == (how != "one-shot")
    assert said["equals_central"] == (how != "one-shot")
    assert 0 <= said["accuracy"] <= 1
    assert said["raw_bytes"] > said["model_bytes"] > 0


def test_homomorphic_sums_can_be_simulated(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    try:
        import tenseal  # noqa: F401 - is it there?
    except ImportError:
        request.getfixturevalue("missing_part")("TenSEAL is not installed")
    said = simulate(
        people(), "class", tmp_path / "run", RulesSimulation(plan=RulesPlan(sum="homomorphic", support=0.3))
    )
    assert said["equals_central"] is True


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 9), st.sampled_from(["iid", "skewed", "by"]))
def test_every_row_goes_to_one_client(rows: int, clients: int, split: Any) -> None:
    frame = people(rows).with_row_index("id")
    by = "wind" if split == "by" else None
    chosen = "iid" if by else split
    parts = split_table(frame, "class", clients=clients, split=chosen, by=by)
    ids = sorted(number for part in parts.values() for number in part["id"])
    assert ids == list(range(rows))
    assert list(parts) == sorted(parts)
    assert len(parts) == (frame["wind"].n_unique() if by else clients)


def test_a_skewed_split_gives_clients_different_classes(tmp_path: Path) -> None:
    parts = split_table(people(), "class", clients=4, split="skewed")
    assert any(part["class"].n_unique() == 1 for part in parts.values())
    said = simulate(
        people(),
        "class",
        tmp_path / "run",
        RulesSimulation(plan=LOOSE, sharing=TableSharing(clients=4, split="skewed")),
    )
    assert said["equals_central"] is True


def test_one_class_only_and_clients_without_rows_are_survived(tmp_path: Path) -> None:
    one = people().with_columns(pl.lit("dry").alias("class"))
    said = simulate(one, "class", tmp_path / "one", RulesSimulation(plan=LOOSE))
    assert said["equals_central"] is True
    few = simulate(
        people(3),
        "class",
        tmp_path / "few",
        RulesSimulation(plan=LOOSE, sharing=TableSharing(clients=6, test=0)),
    )
    assert few["rows"] == 3
    assert few["equals_central"] is True


def test_bad_input_is_said_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(ColumnNotFound):
        simulate(people(), "klass", folder, RulesSimulation())
    with pytest.raises(ColumnNotFound):
        simulate(people(), "class", folder, RulesSimulation(sharing=TableSharing(by="house")))
    with pytest.raises(InvalidInput, match="rows=0"):
        simulate(people(4).clear(), "class", folder, RulesSimulation())
    for bad in ({"clients": 0}, {"split": "odd"}, {"test": 1.5}):
        with pytest.raises(InvalidParameter):
            TableSharing(**bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        RulesSimulation(bins="odd")
    assert not folder.exists()


def test_a_failed_run_says_why_and_its_folder_can_be_used_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(Infeasible, match="clients=2"):
        simulate(
            people(),
            "class",
            folder,
            RulesSimulation(plan=RulesPlan(sum="plain", least_clients=5), sharing=TableSharing(clients=2)),
        )
    assert state(folder)["state"] == "failed"
    assert "clients=2" in state(folder)["why"]
    simulate(people(), "class", folder, RulesSimulation(plan=LOOSE))
    assert state(folder)["state"] == "finished"
    with pytest.raises(InvalidParameter, match="force=True"):
        simulate(people(), "class", folder, RulesSimulation(plan=LOOSE))
    simulate(people(), "class", folder, RulesSimulation(plan=LOOSE), force=True)


def test_the_state_tells_a_stopped_run_from_one_that_goes_on_and_one_that_died(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = RunFolder.create(folder, LOOSE)
    with pytest.raises(KeyboardInterrupt), run.recording():
        raise KeyboardInterrupt
    assert state(folder)["state"] == "stopped"
    said = {**state(folder), "state": "running", "process": os.getppid()}  # its number is another's by now
    (folder / "state.json").write_text(json.dumps(said))
    run = RunFolder.create(folder, LOOSE)
    with pytest.raises(InvalidParameter, match="still goes on"):
        RunFolder.create(folder, LOOSE, force=True)
    run.let_go()
    RunFolder.create(folder, LOOSE)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("do not touch")
    with pytest.raises(InvalidParameter, match="no run of ours"):
        RunFolder.create(other, LOOSE, force=True)


def test_a_bug_in_a_run_is_written_without_its_text(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", LOOSE)
    with pytest.raises(ValueError, match="a cell"), run.recording():
        raise ValueError("a cell")
    assert state(tmp_path / "run")["why"] == "ValueError"


def test_a_full_disk_is_said_in_the_words_of_the_system(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # no file may grow beyond it
    try:
        with pytest.raises(OutputFailed, match="File too large"):
            RunFolder.create(tmp_path / "run", LOOSE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
