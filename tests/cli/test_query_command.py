from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.cli._app import _run

Runs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    mh.demo_patients(500).write_parquet(tmp_path / "patients.parquet")

    def runs(*arguments: object) -> tuple[int, str, str]:
        code = _run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


NEW = ["ledger", "new", "L", "--data", "patients.parquet", "--epsilon", 1, "--delta", 1e-6]
NEW += ["--bounds", "age=0:100", "--categories", "sex=female,male", "--missing", "age=40"]
ASK = ["query", "patients.parquet", "--ledger", "L"]


def test_a_ledger_is_made_asked_and_shown(run: Runs) -> None:
    code, out, _ = run(*NEW)
    assert code == 0
    assert "epsilon=1" in out
    code, out, _ = run(*ASK, "mean(age) by sex", "--epsilon", 0.5)
    assert code == 0
    assert out.splitlines()[0].split() == ["sex", "value", "error"]
    assert "spent epsilon=0.5" in out
    code, out, _ = run("ledger", "show", "L")
    assert code == 0
    assert "epsilon=0.5 in 1 events" in out
    code, out, _ = run("ledger", "history", "L")
    assert "mean(age) by sex" in out
    code, out, _ = run("ledger", "history", "L", "--json")
    assert json.loads(out)[0]["epsilon"] == 0.5
    code, out, _ = run("ledger", "show", "L", "--json")
    assert json.loads(out)["remaining"]["epsilon"] == pytest.approx(0.5, abs=1e-4)


def test_what_does_not_fit_exits_with_five_and_prints_no_figure(run: Runs) -> None:
    run(*NEW)
    code, out, err = run(*ASK, "count()", "--epsilon", 2)
    assert (code, out) == (5, "")
    assert "does not fit" in err
    code, out, _ = run(*ASK, "count()", "--epsilon", 2, "--plan")
    assert code == 5
    assert "DOES NOT FIT" in out
    assert json.loads(run("ledger", "show", "L", "--json")[1])["events"] == 0


def test_a_plan_prints_error_bars_and_spends_nothing(run: Runs) -> None:
    run(*NEW)
    code, out, _ = run(*ASK, "sum(age)", "--epsilon", 0.5, "--plan", "--json")
    said = json.loads(out)
    assert code == 0
    assert not said["spent"]
    assert said["rows"][0]["error"] > 0
    assert run("ledger", "history", "L", "--json")[1].strip() == "[]"


def test_gaussian_answers_as_json(run: Runs) -> None:
    run(*NEW)
    code, out, _ = run(*ASK, "histogram(sex)", "--epsilon", 0.5, "--delta", 1e-8, "--json")
    said = json.loads(out)
    assert code == 0
    assert said["mechanism"] == "discrete-gaussian"
    assert [row["sex"] for row in said["rows"]] == ["female", "male"]


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ([*ASK, "meen(age)", "--epsilon", 0.1], 2, "^^^^"),
        ([*ASK, "mean(height_cm)", "--epsilon", 0.1], 2, "no public bounds"),
        ([*ASK, "mean(age)", "--epsilon", 0], 2, "epsilon"),
        (["query", "patients.parquet", "--ledger", "none", "count()", "--epsilon", 1], 2, "ledger new"),
        ([*NEW], 2, "there already"),
        ([*NEW[:2], "M", *NEW[3:], "--bounds", "age=7"], 2, "LOW:HIGH"),
        ([*NEW[:2], "M", *NEW[3:], "--bounds", "age=9:1"], 2, "below"),
        ([*NEW[:2], "M", *NEW[3:], "--bounds", "age=a:1"], 2, "must be a number"),
        ([*NEW[:2], "M", *NEW[3:], "--categories", "sex"], 2, "sex=f,m"),
        ([*NEW[:2], "M", *NEW[3:], "--relation", "near"], 2, "relation"),
    ],
)
def test_bad_usage_exits_with_two(run: Runs, arguments: list[object], code: int, reason: str) -> None:
    run(*NEW)
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert reason in err


def test_an_edited_ledger_exits_with_four(run: Runs, tmp_path: Path) -> None:
    run(*NEW)
    ledger = tmp_path / "L"
    ledger.write_bytes(ledger.read_bytes().replace(b'"epsilon":1.0', b'"epsilon":8.0'))
    for arguments in (["ledger", "show", "L"], [*ASK, "count()", "--epsilon", 0.1]):
        code, out, err = run(*arguments)
        assert (code, out) == (4, "")
        assert "line 1" in err
