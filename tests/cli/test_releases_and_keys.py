"""``mahrem key``, ``mahrem releases``, and what is printed first."""

from __future__ import annotations

import json
import stat
import warnings
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.errors import PrivacyWarning
from mahrem.release.folders import difference, mark_release, remembered_releases

ROLES = ["--qi", "age,sex", "--sensitive", "disease", "-k", "2"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    path = tmp_path / "people.csv"
    pl.DataFrame(
        {
            "age": [20 + place % 40 for place in range(80)],
            "sex": ["f", "m"] * 40,
            "disease": ["flu", "hiv", "cold", "flu"] * 20,
        }
    ).write_csv(path)
    return path


def made(table: Path, name: str, *more: str) -> Path:
    folder = table.with_name(name)
    assert _run(["anonymize", str(table), *ROLES, "-o", str(folder), "--quiet", "--no-html", *more]) == 0
    return folder


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hospital.key"
    assert _run(["key", str(path)]) == 0
    key = path.read_bytes()
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert _run(["key", str(path)]) == 2
    assert path.read_bytes() == key
    assert _run(["key", str(tmp_path / "other.key"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["bytes"] == 32


def test_a_key_that_is_not_there_names_the_command_that_makes_one(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["--qi", "age", "--sensitive", "disease", "--pseudonym", "sex=no.key", "-k", "2", "-o", "r"]
    assert _run(["anonymize", str(table), *said]) == 2
    assert "mahrem key FILE" in capsys.readouterr().err


def test_drafts_and_withdrawn_releases_raise_no_warning(table: Path) -> None:
    first = made(table, "first")
    with pytest.warns(PrivacyWarning, match="also in an earlier release"):
        made(table, "second")
    mark_release(first, "withdrawn")
    mark_release(table.with_name("second"), "draft")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(table, "third")
    mark_release(first, "published")
    with pytest.warns(PrivacyWarning, match="mark"):
        made(table, "fourth")
    states = {Path(release.folder).name: release.state for release in remembered_releases()}
    assert states == {"first": "published", "second": "draft", "third": "made", "fourth": "made"}


def test_a_draft_that_is_replaced_counts_again(table: Path) -> None:
    first = made(table, "first")
    mark_release(first, "draft")
    made(table, "first", "--force")
    assert [release.state for release in remembered_releases()] == ["made"]


def test_releases_are_listed_marked_and_compared(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["releases"]) == 0
    assert "no release is remembered" in capsys.readouterr().out
    first = made(table, "first")
    assert _run(["releases", "mark", str(first), "draft"]) == 0
    second = made(table, "second", "-k", "5")
    capsys.readouterr()
    assert _run(["releases", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["releases"]
    assert {(Path(one["folder"]).name, one["state"], one["k"]) for one in listed} == {
        ("first", "draft", 2),
        ("second", "made", 5),
    }
    assert _run(["releases", "diff", str(first), str(second), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == difference(first, second)
    assert found["settings"]["k"] == [2, 5]
    assert "k-anonymity" in found["promises"]
    assert found["figures"]["gcp"][0] < found["figures"]["gcp"][1]
    assert found["columns"] == {}
    assert _run(["releases", "diff", str(first), str(first)]) == 0
    assert "no difference" in capsys.readouterr().out
    assert _run(["releases", "mark", str(first), "gone"]) == 2
    assert _run(["releases", "withdraw", str(table.with_name("nowhere"))]) == 2
    assert _run(["releases", "withdraw", str(first), "--json"]) == 0


def test_five_figures_come_first_and_classes_are_the_same_in_an_audit(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = table.with_name("release")
    assert _run(["anonymize", str(table), *ROLES, "-o", str(folder), "--no-html"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("holds")
    figures = printed.split("\nfigure ")[1].split("more figures")[0].splitlines()[1:]
    names = ["rows", "classes", "loss (GCP, 0 none to 1 all)", "suppressed rows", "highest risk"]
    assert [line.rsplit("  ", 1)[0].strip() for line in figures if line] == names
    classes = next(line for line in figures if line.startswith("classes"))
    assert _run(["audit", str(folder)]) == 0
    audited = capsys.readouterr().out
    assert (
        classes.split()[-1]
        == next(line for line in audited.splitlines() if line.startswith("classes")).split()[-1]
    )
    assert _run(["audit", str(folder), "--verbose"]) == 0
    assert "mean class size" in capsys.readouterr().out


def test_advice_is_about_the_k_that_was_asked_and_says_what_ran(table: Path) -> None:
    from mahrem.report import comparison_advice

    found = mh.compare(table, quasi=["age", "sex"], rest="drop", methods=["mondrian"], ks=[2, 5], k=5)
    texts = [str(note) for note in comparison_advice(found.as_dict())]
    assert texts[0] == "At k=2, 5 these methods were run: mondrian."
    assert "For k=5, which was asked for:" in texts
    stopped = {**found.as_dict(), "left_out": {"mosaic": "budget"}, "asked": 7}
    texts = [str(note) for note in comparison_advice(stopped)]
    assert texts[1:] == ["Not run, so not compared: mosaic.", "Nothing is advised for k=7: no run had it."]
    (none,) = comparison_advice({**found.as_dict(), "results": []})
    assert none.code == "advice.none_ran"
