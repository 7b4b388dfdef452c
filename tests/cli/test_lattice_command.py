"""``mahrem lattice``: what it prints, writes and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.cli._app import main

SAID = ["--qi", "age,sex", "--rest", "drop", "-k", "5"]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "patients.csv"
    mh.demo_patients(300).write_csv(path)
    return str(path)


def ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_nodes_that_hold_are_listed_the_best_first(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("lattice", table, *SAID) == 0
    shown = capsys.readouterr().out
    assert "nodes hold; loss: ncp" in shown
    assert "age: levels 0 to" in shown


def test_one_node_is_judged_with_its_reasons(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("lattice", table, *SAID, "--node", "age=0") == 1
    shown = capsys.readouterr().out
    assert "k-anonymity" in shown
    assert "one step below and above" in shown
    assert ended("lattice", table, *SAID, "--node", "age=0", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["holds"] is False
    assert document["why"][0]["rows_at_most"] % 5 == 0


def test_every_node_is_written_once(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "nodes.csv")
    assert ended("lattice", table, *SAID, "-o", target) == 0
    assert ended("lattice", table, *SAID, "-o", target) == 2
    assert "exists" in capsys.readouterr().err
    assert ended("lattice", table, *SAID, "-o", target, "--force", "-q") == 0


@pytest.mark.parametrize("typed", ["age", "age=x", "=1", "agee=1", "age=99"])
def test_misspelt_nodes_are_refused(typed: str, table: str) -> None:
    assert ended("lattice", table, *SAID, "--node", typed) == 2
