"""``mahrem attack`` on the run folder of a federation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import (
    RulesSimulation,
    ShapeRun,
    ShapeSimulation,
    TableSharing,
    WeightsSimulation,
    simulate,
)
from mahrem.federated.runs._attack import _parted
from mahrem.federated.weights import LearningPlan, Protections

Run = Callable[..., tuple[int, str, str]]


def coins(rows: int, seed: int) -> pl.DataFrame:
    """Give rows whose class is a coin: whoever knows it has learnt it by heart."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "height": rng.normal(170, 12, rows).round(2),
            "weight": rng.normal(70, 12, rows).round(2),
            "town": rng.choice(["ash", "elm", "oak"], rows),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    coins(300, 1).write_csv(place / "in.csv")
    coins(300, 2).write_csv(place / "out.csv")
    by_heart = LearningPlan(rounds=6, epochs=60, rate=0.1, batch=8, hidden=(64,))
    noisy = LearningPlan(rounds=2, hidden=(4,), protections=Protections(clip=0.1, noise=5.0))
    trees = LearningPlan(model="boosting", rounds=2, depth=2, sum="masked")
    for name, plan in (("by-heart", by_heart), ("noisy", noisy), ("trees", trees)):
        simulate(
            coins(300, 1),
            "ill",
            place / name,
            WeightsSimulation(plan=plan, sharing=TableSharing(clients=2, test=0.01)),
        )
    simulate(
        coins(300, 1),
        "ill",
        place / "rules",
        RulesSimulation(plan=RulesPlan(support=0.1), sharing=TableSharing(clients=2)),
    )
    return place


def tables(home: Path) -> list[object]:
    return ["--original", home / "in.csv", "--holdout", home / "out.csv"]


def test_a_run_folder_says_what_can_be_attacked_in_it(run: Run, home: Path) -> None:
    for name in ("by-heart", "trees", "rules"):
        code, out, _ = run("attack", home / name)
        assert code == 0
        assert "it needs rows of the clients" in out
        assert "gradient inversion: " in out
    assert "saw sums of all clients only" in " ".join(run("attack", home / "trees")[1].split())


def test_a_network_that_learnt_by_heart_is_caught(run: Run, home: Path) -> None:
    code, out, _ = run("attack", home / "by-heart", *tables(home), "--shadows", "2", "--json")
    report = json.loads(out)
    findings = {finding["attack"]: finding for finding in report["findings"]}
    assert code == 0
    assert findings["membership by loss"]["alarming"]
    assert findings["few shadows"]["area"] > 0.6
    assert findings["attribute inference"]["details"]["column"] == "town"
    assert (report["members"], report["run"]["state"], report["run"]["clients"]) == (300, "finished", 2)
    assert run("attack", home / "by-heart", *tables(home), "--quiet", "--fail-above", "0.01")[0] == 1


def test_the_promise_of_a_private_run_stands_beside(run: Run, home: Path) -> None:
    code, out, _ = run("attack", home / "noisy", *tables(home))
    assert code == 0
    assert "claimed epsilon=" in out
    assert "the promise allows" in out
    assert "claimed epsilon=" in run("attack", home / "noisy")[1]


def test_rules_and_trees_are_asked_as_well(run: Run, home: Path) -> None:
    for name in ("rules", "trees"):
        code, out, _ = run("attack", home / name, *tables(home), "--json")
        assert code == 0
        assert json.loads(out)["findings"][0]["trials"] == 300


def test_a_run_that_did_not_finish_is_attacked_by_its_checkpoint(
    run: Run, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(home / "by-heart", tmp_path / "half")
    for name in ("model.npz", "summary.json"):
        (tmp_path / "half" / name).unlink()
    (tmp_path / "half" / "state.json").write_text('{"state": "stopped"}', encoding="utf-8")
    code, out, _ = run("attack", tmp_path / "half", *tables(home))
    assert code == 0
    assert out.startswith("half: stopped, mlp, 6 rounds;")


def test_a_simulation_knows_its_own_hold_out(run: Run, tmp_path: Path) -> None:
    whole = coins(400, 5)
    whole.write_csv(tmp_path / "whole.csv")
    coins(400, 6).write_csv(tmp_path / "other.csv")
    plan = LearningPlan(rounds=2, hidden=(8,))
    anonymise = {"quasi": ["height", "town"], "k": 3}
    simulate(
        whole,
        "ill",
        tmp_path / "net",
        WeightsSimulation(plan=plan, sharing=TableSharing(clients=2, test=0.3), anonymise=anonymise),
    )
    simulate(
        whole,
        "ill",
        tmp_path / "rules",
        RulesSimulation(plan=RulesPlan(support=0.1), sharing=TableSharing(clients=2, test=0.25)),
    )
    noisy = replace(plan, protections=Protections(clip=0.1, noise=5.0))
    vetted = replace(plan, protections=Protections(held_out=0.5))
    for name, one in (("noisy", noisy), ("vetted", vetted)):
        simulate(
            whole,
            "ill",
            tmp_path / name,
            WeightsSimulation(plan=one, sharing=TableSharing(clients=2, test=0.3, held_out=0.25)),
        )
    shapes: tuple[str, ...] = ("vertical", "gossip")
    for shape in shapes:
        simulate(whole, "ill", tmp_path / shape, ShapeSimulation(ShapeRun.usual(shape, rounds=1), 0.1))
    sizes_of = {"net": (280, 120), "rules": (300, 100), "vertical": (360, 40), "gossip": (360, 40)}
    sizes_of |= {"noisy": (280, 120), "vetted": (210, 120)}
    for name, sizes in sizes_of.items():
        code, out, _ = run("attack", tmp_path / name, "--original", tmp_path / "whole.csv", "--json")
        assert code == 0
        assert (json.loads(out)["members"], json.loads(out)["holdout"]) == sizes
    for name in sizes_of:
        code, out, err = run("attack", tmp_path / name, "--original", tmp_path / "other.csv")
        assert (code, out) == (2, "")
        assert "not the table they were taken from" in err


def test_rows_without_a_class_are_left_out_as_the_simulation_did(run: Run, tmp_path: Path) -> None:
    numbered = pl.int_range(pl.len())
    whole = coins(400, 5).with_columns(pl.when(numbered % 8 > 0).then("ill"), also=pl.col("ill"))
    whole.write_csv(tmp_path / "whole.csv")  # a column more that holds nothing but classes
    named: dict[str, Any] = {"columns": ("height", "town")}
    plan = LearningPlan(rounds=1, hidden=(4,))
    simulate(
        whole,
        "ill",
        tmp_path / "net",
        WeightsSimulation(plan=plan, sharing=TableSharing(clients=2, test=0.2)),
        **named,
    )
    simulate(
        whole,
        "ill",
        tmp_path / "rules",
        RulesSimulation(plan=RulesPlan(support=0.1), sharing=TableSharing(clients=2, test=0.2)),
        **named,
    )
    for name in ("net", "rules"):
        code, out, _ = run("attack", tmp_path / name, "--original", tmp_path / "whole.csv", "--json")
        assert code == 0
        assert (json.loads(out)["members"], json.loads(out)["holdout"]) == (280, 70)


def test_a_simulation_without_rows_to_judge_by_asks_for_a_hold_out(run: Run, tmp_path: Path) -> None:
    coins(100, 5).write_csv(tmp_path / "whole.csv")
    simulate(
        coins(100, 5),
        "ill",
        tmp_path / "rules",
        RulesSimulation(plan=RulesPlan(support=0.1), sharing=TableSharing(clients=2, test=0)),
    )
    code, _, err = run("attack", tmp_path / "rules", "--original", tmp_path / "whole.csv")
    assert code == 2
    assert "--holdout" in err


def test_the_rows_found_again_are_those_that_were_kept(tmp_path: Path) -> None:
    whole = coins(400, 5)
    shared = TableSharing(clients=2, test=0.3, seed=9)
    simulate(
        whole,
        "ill",
        tmp_path / "net",
        WeightsSimulation(plan=LearningPlan(rounds=1, hidden=(4,)), sharing=shared),
    )
    inside, outside = _parted(tmp_path / "net", whole)
    learning, judged = shared.part(whole)
    assert inside.equals(learning)
    assert outside.equals(judged)
    vetted = LearningPlan(rounds=1, hidden=(4,), protections=Protections(held_out=0.5))
    simulate(whole, "ill", tmp_path / "vetted", WeightsSimulation(plan=vetted, sharing=shared))
    inside, outside = _parted(tmp_path / "vetted", whole)
    assert inside.equals(shared.part_held_out(learning)[0])  # not those the server vets by
    assert outside.equals(judged)


def test_a_run_folder_without_a_model_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"state": "stopped"}', encoding="utf-8")
    code, _, err = run("attack", tmp_path)
    assert code == 2
    assert "without a common model" in err


def test_what_does_not_fit_exits_with_2(run: Run, home: Path, tmp_path: Path) -> None:
    inside, outside = home / "in.csv", home / "out.csv"
    wrong: list[list[object]] = [
        ["by-heart", "--holdout", outside],
        ["by-heart", "--original", outside],
        ["by-heart", "--original", inside, "--holdout", inside],
        ["by-heart", "--original", inside, "--holdout", outside, "--population", inside],
        ["by-heart", "--original", inside, "--holdout", outside, "--second", inside],
        ["by-heart", "--original", inside, "--holdout", outside, "--reference", inside],
        ["by-heart", "--qi", "town"],
        ["trees", "--original", inside, "--holdout", outside, "--shadows", "2"],
        ["rules", "--original", inside, "--holdout", outside, "--shadows", "2"],
        ["rules", "--original", home / "trees" / "rounds.csv", "--holdout", outside],
    ]
    for name, *rest in wrong:
        code, out, err = run("attack", home / str(name), *rest)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
    for name, file in (("by-heart", "model.npz"), ("rules", "model.json")):
        shutil.copytree(home / name, tmp_path / name)
        (tmp_path / name / file).write_bytes(b"\xff{")
        assert run("attack", tmp_path / name)[0] == 2
