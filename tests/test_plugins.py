"""Another distribution adds a method, a model, a figure and a language through the public ways alone."""

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
from typing import ClassVar

import numpy as np

from mahrem.metrics import Metric
from mahrem.models import ModelEntry, PrivacyModel, model_setting
from mahrem.partition import Admits, Method, Partition, build_method
from mahrem.readers import number
from mahrem.types import Points
from mahrem.words import Language


@dataclass(frozen=True, kw_only=True)
class Halves:
    """Sorts rows as Mondrian does."""

    wide: int = 20

    def __call__(self, points: Points, admits: Admits) -> Partition:
        return build_method("mondrian")(points, admits)


@dataclass(frozen=True)
class Mixed(PrivacyModel):
    """No value makes up more than ``gamma`` of a class."""

    gamma: float
    name: ClassVar[str] = "gamma-mixed"
    monotone: ClassVar[bool] = True
    rising: ClassVar[bool] = False

    @property
    def wanted(self):
        return self.gamma

    @property
    def least_rows(self):
        return 2

    def level(self, counts):
        largest = np.zeros(counts.groups)
        np.maximum.at(largest, counts.group, counts.count)
        return largest / np.maximum(counts.totals, 1)

    def holds(self, counts):
        return self.level(counts) <= self.gamma


def spread(sizes):
    """The largest class over the smallest."""
    return float(sizes.max() / sizes.min()) if len(sizes) else 0.0


HALVES = Method(name="halves", home="their_halves:Halves", growth="n log n", rows_a_second=1e6)
MIXED = ModelEntry(
    name="gamma-mixed",
    home="their_halves:Mixed",
    figure=model_setting(
        "gamma", number.within(0, 1), "X", example=0.9, words={"en": "Largest share of one value in a class."}
    ),
    words={"en": ("gamma-mixed", "No value makes up more than gamma of a group.")},
)
SPREAD = Metric(
    name="spread", home="their_halves:spread", words={"en": ("Spread of sizes", "Largest over smallest.")}
)
SPANISH = Language(name="es", home="their_halves_words:es.toml")
'''
SPANISH = """
[format]
name = "Español"
decimal = ","
thousands = "."
percent = "{number} %"
and = "{first} y {last}"

[word]
title = "Informe"
"""


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution as an installer leaves it, on the path of every process."""
    folder = tmp_path / "site"
    facts = folder / "their_halves-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "their_halves.py").write_text(THEIRS)
    (folder / "their_halves_words").mkdir()
    (folder / "their_halves_words" / "__init__.py").write_text("")
    (folder / "their_halves_words" / "es.toml").write_text(SPANISH, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-halves\nVersion: 1.0\n")
    kinds = {"methods": "halves = HALVES", "models": "gamma-mixed = MIXED"}
    kinds |= {"metrics": "spread = SPREAD", "languages": "es = SPANISH"}
    lines = (f"[mahrem.{kind}]\n{line.replace('= ', '= their_halves:')}\n" for kind, line in kinds.items())
    (facts / "entry_points.txt").write_text("".join(lines))
    inherited = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{inherited}" if inherited else str(folder))
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


def test_a_model_a_figure_and_a_language_of_others_are_seen_wherever_ours_are(theirs: Path) -> None:
    mh.demo_patients(600).write_csv(theirs / "patients.csv")
    roles = ("--qi", "age,zip", "--sensitive", "diagnosis", "--rest", "drop", "-k", "4")
    shown = run(theirs, "anonymize", "--help").stdout
    assert "--gamma" in shown
    assert "Largest share of one value in a class." in shown
    assert "gamma = 0.9" in run(theirs, "policies", "--template").stdout
    made = run(
        theirs,
        "anonymize",
        "patients.csv",
        *roles,
        "--gamma",
        "0.8",
        "--language",
        "es",
        "--verbose",
        "-o",
        "out",
    )
    assert made.returncode == 0, made.stderr
    assert "gamma-mixed" in made.stdout
    assert "spread" in made.stdout
    report = json.loads((theirs / "out" / "report.json").read_text())
    assert [promise["model"] for promise in report["promises"]] == ["k-anonymity", "gamma-mixed"]
    assert report["utility"]["spread"] >= 1
    page = (theirs / "out" / "report.html").read_text(encoding="utf-8")
    assert 'lang="es"' in page
    for words in ("Informe", "No value makes up more than gamma of a group.", "Spread of sizes"):
        assert words in page
    assert "gamma = 0.8" in (theirs / "out" / "policy.toml").read_text()
    again = run(theirs, "anonymize", "patients.csv", "--policy", "out/policy.toml", "-o", "again", "-q")
    assert again.returncode == 0, again.stderr
    held = run(theirs, "audit", "out/data.csv", "--qi", "age,zip", "--sensitive", "diagnosis:gamma=0.01")
    assert held.returncode == 1
    swept = run(theirs, "compare", "patients.csv", *roles, "--gamma", "0.8", "--methods", "halves", "--json")
    rows = json.loads(swept.stdout)["results"]
    assert all(row["spread"] is None or row["spread"] >= 1 for row in rows)
    assert any(row["spread"] for row in rows)


def test_what_others_add_is_on_the_page(theirs: Path) -> None:
    with serving(theirs / "state") as server:
        about = server.client.get("/api/v1/about").json()
        assert "halves" in about["methods"]
        assert "es" in about["languages"]
        project = server.project()
        place = f"/api/v1/projects/{project}"
        page = server.client.get(f"/projects/{project}/promises").text
        assert 'name="gamma"' in page
        assert 'value="halves"' in page
        assert "Español" in page
        promises = {"k": 4, "gamma": 0.9, "method": "halves", "language": "es"}
        answer = server.client.put(f"{place}/promises", json=promises)
        assert answer.status_code == 200, answer.text
        done = server.run(project, "run/anonymize")
        assert (done["state"], done["error"]) == ("done", None)
        report = server.client.get(f"/api/v1/jobs/{done['id']}/result").json()["report"]
        assert "gamma-mixed" in {promise["model"] for promise in report["promises"]}
        assert "spread" in report["utility"]
        assert server.client.put(f"{place}/promises", json={"gamma": 3}).status_code == 422


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
    assert "mahrem.partition.cutting._mondrian" in done.stdout
    assert "mahrem.methods: 'broken' of nowhere:X cannot be loaded" in done.stderr


def test_every_method_of_ours_is_where_its_entry_says_and_lifts_columns_if_it_says_so() -> None:
    for name, method in METHODS.items():
        factory = method.load()
        assert callable(factory)
        assert (method.full_domain or method.hides) == bool(getattr(factory, "whole_table", False)), name


def test_an_entry_that_is_none_is_refused() -> None:
    empty = Entries("mahrem.nothing", Method, ())
    assert list(empty) == []
    with pytest.raises(KeyError):
        empty["x"]
    assert "x" not in empty
    assert issubclass(InvalidParameter, ValueError)
