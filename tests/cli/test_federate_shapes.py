"""``mahrem federate simulate --shape``, as typed."""

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
    monkeypatch.chdir(tmp_path)
    mh.demo_patients(400).write_csv("patients.csv")
    usual = ["patients.csv", "--target", "smoker", "--columns", "age,sex,insurance,cost", "--rounds", "1"]

    def runs(*arguments: object) -> tuple[int, str, str]:
        code = _run(["federate", "simulate", *usual, "-o", "run", *(str(argument) for argument in arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


@pytest.mark.parametrize("shape", ["vertical", "split", "u-shaped", "gossip", "transfer"])
def test_every_shape_prints_one_document_and_leaves_a_run(shape: str, run: Runs) -> None:
    code, out, err = run("--shape", shape, "--json")
    assert code == 0
    assert err.startswith("round 1 of 1: accuracy 0.")
    said = json.loads(out)
    assert said["shape"] == shape
    assert said["difference"] == pytest.approx(
        said["figures"]["accuracy"] - said["central"]["accuracy"], abs=1e-5
    )
    assert said["bytes"]["up"] > 0
    assert json.loads(Path("run/summary.json").read_text())["rounds"] == 1


def test_people_get_a_table_with_one_place_beside_it(run: Runs) -> None:
    code, out, err = run("--shape", "vertical", "--quiet")
    assert (code, err) == (0, "")
    assert "in one place" in out
    assert "rows that align" in out
    code, _, err = run("--shape", "gossip")
    assert code == 2
    assert "--force" in err
    assert run("--shape", "gossip", "--force", "--model", "logistic")[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ["--shape", "star"],
        ["--shape", "split", "--model", "logistic"],
        ["--shape", "split", "--anonymize", "k=3"],
        ["--shape", "gossip", "--by", "sex"],
        ["--shape", "gossip", "--clients", "1"],
        ["--shape", "gossip", "--byte-budget", "9"],
        ["--shape", "transfer", "--clients", "9"],
        ["--shape", "vertical", "--rate", "-1"],
        ["--shape", "vertical", "--support", "0.5"],
    ],
)
def test_what_does_not_go_with_a_shape_is_said_and_leaves_nothing(wrong: list[str], run: Runs) -> None:
    code, out, err = run(*wrong)
    assert (code, out) == (2, "")
    assert err.startswith("mahrem: ")
    assert not Path("run").exists()
