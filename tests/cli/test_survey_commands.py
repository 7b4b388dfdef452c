"""Hidden cells, changed values, risk and other tools' projects from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame(mh.demo_patients(200)).select("age", "sex", "zip")
    people.with_columns(pl.lit(12.5).alias("weight")).write_csv("survey.csv")
    return "survey.csv"


def test_cells_are_hidden_and_both_readings_told(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = [survey, "--qi", "age,sex,zip", "-k", "3", "--set", "age,sex=4", "--rest", "drop", "-o", "out"]
    assert _run(["suppress", *line, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["fewest"]["exact"] for each in told["sets"]] == [3, 4]
    assert _run(["suppress", *line]) == 2  # the folder is there
    assert _run(["suppress", *line, "--force"]) == 0
    assert "share of cells hidden" in capsys.readouterr().out


def test_values_are_changed_and_no_k_is_promised(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = [survey, "--qi", "age,sex", "--rest", "drop", "-o", "out"]
    assert _run(["perturb", *line, "--step", "age=noise:share=0.5", "--step", "sex=pram"]) == 0
    told = capsys.readouterr().out
    assert "record_linkage" in told
    assert "k is not promised" in told
    assert _run(["perturb", *line, "--step", "age"]) == 2


def test_risk_is_measured_and_called_private(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["risk", survey, "--qi", "age,sex", "--weight", "weight"]) == 0
    assert "not for publication" in capsys.readouterr().out
    assert _run(["risk", survey, "--qi", "age,sex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 200
    assert _run(["risk", survey, "--qi", "age", "--weight", "sex"]) == 2


def test_a_script_is_read_and_what_is_not_understood_is_said(
    survey: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert survey
    Path("mask.R").write_text(
        "s <- createSdcObj(d, keyVars=c('age'))\ns <- globalRecode(s)\ns <- kAnon(s, k=4)\n"
    )
    assert _run(["policies", "--from", "mask.R"]) == 0
    told = capsys.readouterr().out
    assert "# not understood: globalRecode" in told
    assert "k = 4" in told
    assert _run(["policies", "--from", "mask.R", "-o", "policy"]) == 0
    assert Path("policy/policy.toml").is_file()
    assert _run(["policies", "--from", "mask.R", "--template"]) == 2
    assert _run(["policies", "-o", "policy"]) == 2
