"""What a finished run is good for: predictions of every kind of model, a report in every language, a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mahrem.errors import ColumnNotFound, InvalidInput
from mahrem.federated import (
    LearningPlan,
    Protections,
    RulesPlan,
    RulesSimulation,
    SharedModel,
    WeightsSimulation,
    predict_rows,
    report_run,
    simulate,
)
from mahrem.federated.runs import read_run
from mahrem.learning.rules import RuleList, as_cells
from mahrem.words import LANGUAGES

KINDS = ("rules", "one-shot", "logistic", "mlp", "boosting")


def people(count: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 90, count), rng.choice(["clerk", "smith", "nurse"], count)
    old = (age > 50) ^ (rng.random(count) < 0.05)
    return pl.DataFrame({"age": age, "job": job, "old": np.where(old, "yes", "no")})


TABLE, NEW = people(600, 1), people(120, 2)


def simulation(kind: str) -> Any:
    if kind == "rules":
        return RulesSimulation(plan=RulesPlan(sum="masked", support=0.05))
    if kind == "one-shot":
        return RulesSimulation(plan=RulesPlan(how="one-shot", sum="plain", support=0.05))
    few = (
        {"rounds": 3, "cell_epsilon": 0.0} if kind == "boosting" else {"rounds": 12}
    )  # 600 rows drown in noise
    return WeightsSimulation(plan=LearningPlan(model=kind, rate=0.2, sum="masked", **few))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("runs")
    for kind in KINDS:
        simulate(TABLE, "old", base / kind, simulation(kind))
    return {kind: base / kind for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_asked_about_new_rows(runs: dict[str, Path], kind: str) -> None:
    found = predict_rows(runs[kind], NEW, proba=True, target="old")
    assert found.table.columns == ["prediction", "p(no)", "p(yes)"]
    assert found.table.height == NEW.height == sum(found.counts.values())
    likely = found.table.select("p(no)", "p(yes)").to_numpy()
    assert np.allclose(likely.sum(axis=1), 1)
    assert found.accuracy is not None
    assert found.accuracy > 0.85
    assert found.findings == ()
    again = predict_rows(runs[kind], NEW.reverse(), proba=True).table.reverse()
    # A row's answer depends on that row alone, but for how a product of matrices in 32 bits is rounded.
    assert again["prediction"].equals(found.table["prediction"])
    assert np.allclose(
        again.select("p(no)", "p(yes)").to_numpy(), likely, rtol=0, atol=1e-6
    )  # weights of 32 bits
    file = next(path for path in runs[kind].glob("model.*") if path.suffix in {".npz", ".json"})
    assert predict_rows(file, NEW, proba=True).table.equals(found.table)
    model = RuleList.from_json(file.read_text()) if file.suffix == ".json" else SharedModel.load(runs[kind])
    for frame in (NEW, NEW.to_pandas(), pd.DataFrame(NEW.to_dict(as_series=False))):
        assert list(model.predict(frame)) == found.table["prediction"].to_list()
        assert np.array_equal(model.predict_proba(frame), likely)


def test_rules_read_numbers_as_they_were_binned(runs: dict[str, Path]) -> None:
    model = RuleList.from_json((runs["rules"] / "model.json").read_text())
    cells = model.cells(NEW)
    slow = []
    for row in cells.iter_rows(named=True):
        said = (rule.right for rule in model.rules if all(row[name] == cell for name, cell in rule.left))
        slow.append(next(said, model.default))
    assert slow == model.predict(NEW).tolist()
    assert model.cells(cells).equals(as_cells(cells))  # what is in bins stays there


def test_rows_that_do_not_fit_are_said_or_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    strange = NEW.with_columns(job=pl.lit("Clerk"))
    assert [each.code for each in predict_rows(runs["mlp"], strange).findings] == ["spelling"]
    with pytest.raises(ColumnNotFound):
        predict_rows(runs["boosting"], NEW.drop("age"))
    with pytest.raises(ColumnNotFound):
        predict_rows(runs["rules"], NEW.drop("age"))
    for nothing in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInput):
            predict_rows(nothing, NEW)
    with pytest.raises(InvalidInput, match="rows=0"):
        predict_rows(runs["mlp"], NEW.clear())


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_a_report_says_the_same_in_every_language(
    runs: dict[str, Path], language: str, tmp_path: Path
) -> None:
    for kind in KINDS:
        found = report_run(runs[kind], output=tmp_path / f"{kind}.html", language=language)
        page = found.page.read_text()
        assert f'<html lang="{language}">' in page
        assert "<script" not in page
        assert all(member["name"] in page for member in found.content["members"])
        plain = json.loads(found.plain.read_text())
        assert plain == json.loads(json.dumps(found.content))
        hidden = kind != "one-shot"
        assert plain["protections"][0] == {"code": "masked" if hidden else "plain"}
        assert ("collusion" in {line["code"] for line in plain["server"]}) == hidden


def test_attacks_stand_in_the_report(runs: dict[str, Path]) -> None:
    content = report_run(runs["logistic"], members=TABLE).content
    (loss,) = (found for found in content["attacks"] if found["attack"] == "membership-by-loss")
    assert loss["rate"] is not None
    untried = report_run(runs["logistic"]).content["attacks"]
    assert all(found["rate"] is None and found["skipped"] for found in untried)


def test_noise_and_vetting_are_told(tmp_path: Path) -> None:
    noisy = LearningPlan(model="logistic", rounds=2, protections=Protections(clip=1, epsilon=8))
    simulate(TABLE, "old", tmp_path / "noisy", WeightsSimulation(plan=noisy))
    content = report_run(tmp_path / "noisy").content
    said = {line["code"] for line in content["protections"] + content["server"]}
    assert {"noise_client", "noisy"} <= said
    assert "rows" not in said
    with pytest.raises(InvalidInput, match="holds no run that ended"):
        report_run(tmp_path)


def test_a_folder_tells_how_its_run_stands(runs: dict[str, Path], tmp_path: Path) -> None:
    stands = read_run(runs["mlp"])
    assert stands is not None
    assert (stands["state"], stands["round"], stands["rounds"]) == ("finished", 12, 12)
    assert stands["bytes"] > 0
    assert read_run(tmp_path) is None
    lost = tmp_path / "lost"
    lost.mkdir()
    state = {"state": "running", "exchanges": 3, "changed": "2026-01-01T00:00:00+00:00", "process": 2**22 + 1}
    (lost / "state.json").write_text(json.dumps(state))
    stands = read_run(lost)
    assert stands is not None
    assert stands["state"] == "lost"  # its process is gone
