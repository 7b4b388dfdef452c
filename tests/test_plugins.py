"""Another distribution adds a method through the public ways alone, and everything sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.entries import Entries
from mahrem.errors import InvalidParameter
from mahrem.partition import METHODS, Method
from web_server import serving

THEIRS = '''
from dataclasses import dataclass

import numpy as np

from mahrem.partition import Admits, Method, Partition, build_method
from mahrem.types import Points


@dataclass(frozen=True, kw_only=True)
class Halves:
    """Sorts rows by their first column; classes of about twenty."""

    wide: int = 20

    def __call__(self, points: Points, admits: Admits) -> Partition:
        return build_method("mondrian")(points, admits)


HALVES = Method(name="halves", home="their_halves:Halves", growth="n log n", rows_a_second=1e6)
'''


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution as an installer leaves it, on the path of every process."""
    folder = tmp_path / "site"
    facts = folder / "their_halves-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "their_halves.py").write_text(THEIRS)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-halves\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[mahrem.methods]\nhalves = their_halves:HALVES\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mahrem", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_method_of_others_is_seen_on_the_command_line_in_a_policy_and_in_compare(theirs: Path) -> None:
    mh.demo_patients(400).write_csv(theirs / "patients.csv")
    roles = ("--qi", "age,zip", "--sensitive", "diagnosis", "--rest", "drop")
    assert "halves" in run(theirs, "anonymize", "--help").stdout
    done = run(theirs, "anonymize", "patients.csv", *roles, "-k", "4", "--method", "halves", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((theirs / "out" / "report.json").read_text())["method"] == "halves"
    assert 'method = "halves"' in (theirs / "out" / "policy.toml").read_text()
    again = run(theirs, "anonymize", "patients.csv", "--policy", "out/policy.toml", "-o", "again")
    assert again.returncode == 0, again.stderr
    swept = run(theirs, "compare", "patients.csv", *roles, "--ks", "4", "--json")
    assert "halves" in {row["method"] for row in json.loads(swept.stdout)["results"]}


def test_a_method_of_others_is_on_the_page(theirs: Path) -> None:
    with serving(theirs / "state") as server:
        assert "halves" in server.client.get("/api/v1/about").json()["methods"]


@pytest.mark.usefixtures("theirs")
def test_the_contract_of_methods_can_be_run_on_it() -> None:
    code = "from mahrem.testing import check_method; check_method('halves'); print('kept')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stdout.strip() == "kept", done.stderr


def test_a_misspelt_method_names_those_of_others_too(theirs: Path) -> None:
    (theirs / "x.csv").write_text("age\n1\n2\n3\n")
    done = run(theirs, "anonymize", "x.csv", "--qi", "age", "-k", "2", "--method", "halfs", "-o", "out")
    assert done.returncode == 2
    assert "halves" in done.stderr


def test_ours_cannot_be_replaced_and_a_broken_one_says_whose_it_is(theirs: Path) -> None:
    facts = theirs / "site" / "their_halves-1.0.dist-info" / "entry_points.txt"
    facts.write_text("[mahrem.methods]\nmondrian = nowhere:X\nbroken = nowhere:X\n")
    code = "from mahrem.partition import METHODS; print(METHODS['mondrian'].home); METHODS['broken']"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "mahrem.partition._mondrian" in done.stdout
    assert "mahrem.methods: 'broken' of nowhere:X cannot be loaded" in done.stderr


def test_every_method_of_ours_is_where_its_entry_says_and_lifts_columns_if_it_says_so() -> None:
    for name, method in METHODS.items():
        factory = method.load()
        assert callable(factory)
        assert method.full_domain == bool(getattr(factory, "whole_table", False)), name


def test_an_entry_that_is_none_is_refused() -> None:
    empty = Entries("mahrem.nothing", Method, ())
    assert list(empty) == []
    with pytest.raises(KeyError):
        empty["x"]
    assert "x" not in empty
    assert issubclass(InvalidParameter, ValueError)
