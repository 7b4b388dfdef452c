from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.cli import main
from mahrem.errors import InvalidInput, InvalidParameter, Tampered
from mahrem.pipeline import redraw, redraw_two
from mahrem.release.folders import difference
from mahrem.words import LANGUAGES, load_catalogue

SAID = {"quasi": ["age", "zip", "height_cm", "weight_kg"], "sensitive": "diagnosis", "rest": "drop", "k": 5}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    mh.anonymize(mh.demo_patients(400), output=tmp_path / "release", fraction=0.2, **SAID)
    return tmp_path / "release"


def told(folder: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return content


def test_the_report_holds_what_the_page_shows_and_no_value_of_the_data(release: Path) -> None:
    report = told(release)
    assert {"risk", "relations", "red_team", "utility", "columns"} <= set(report)
    text = json.dumps({key: report[key] for key in ("risk", "relations", "red_team")})
    patients = mh.demo_patients(400)
    assert not any(value in text for value in patients["diagnosis"].unique())
    assert not any(value in text for value in patients["zip"].drop_nulls().unique())


def test_linkage_stays_below_the_promise(release: Path) -> None:
    findings = told(release)["red_team"]["findings"]  # type: ignore[index,call-overload]
    linked = [one for one in findings if one["attack"] == "linkage" and one["interval"]]
    assert linked
    assert all(one["interval"][0] <= 1 / 5 for one in linked)
    assert {one["attack"] for one in findings} >= {"homogeneity", "skewness", "downcoding", "singling-out"}


def test_successes_of_few_people_are_not_counted_out(release: Path) -> None:
    for one in told(release)["red_team"]["findings"]:  # type: ignore[index,call-overload]
        assert one["successes"] is None or one["successes"] == 0 or one["successes"] >= 5
        assert (one["successes"] is None) == ("below" in one)


def test_homogeneity_is_found_where_it_is_and_gone_with_diversity() -> None:
    ages = np.repeat(np.arange(40), 10)
    ill = np.where(ages < 20, "flu", np.where(np.arange(400) % 2 == 0, "gout", "asthma"))
    table = pl.DataFrame({"age": ages, "ill": ill})
    plain = mh.anonymize(table, quasi="age", sensitive="ill", k=5).report["red_team"]["findings"]
    diverse = mh.anonymize(table, quasi="age", sensitive="ill", k=5, l=2).report["red_team"]["findings"]
    rates = [
        next(one["rate"] for one in found if one["attack"] == "homogeneity") for found in (plain, diverse)
    ]
    assert rates == [0.5, 0.0]


def test_correlations_are_those_of_the_table() -> None:
    rng = np.random.default_rng(7)
    first = rng.normal(0, 1, 500)
    table = pl.DataFrame({"a": first, "b": first + rng.normal(0, 0.5, 500), "s": -first})
    found = mh.anonymize(
        table, quasi=["a", "b"], sensitive="s", k=2, accept={"*": "to tell rows apart"}
    ).report["relations"]
    pairs = {tuple(pair["columns"]): pair for pair in found}
    assert pairs["a", "b"]["before"] == pytest.approx(np.corrcoef(table["a"], table["b"])[0, 1], abs=0.006)
    assert pairs["a", "s"]["before"] == -1.0
    assert abs(pairs["a", "b"]["before"] - pairs["a", "b"]["after"]) < 0.1


def test_columns_that_single_people_out_are_named() -> None:
    keys = [f"key {place}" for place in range(200)]
    table = pl.DataFrame({"key": keys, "sex": np.arange(200) % 2, "ward": np.arange(200) % 3})
    accept = {"key": "what is asked here"}
    report = mh.anonymize(table, quasi=["key", "sex", "ward"], k=5, accept=accept).report
    found = report["risk"]["unique_columns"]
    assert found["sets"] == [{"columns": ["key"], "share": 1.0}]
    assert found["complete"]


def test_a_brief_report_says_nothing_of_the_original() -> None:
    report = mh.anonymize(mh.demo_patients(200), html=False, **SAID).report
    assert not {"relations", "red_team"} & set(report)
    assert "before" not in report["risk"]


def test_a_target_tells_what_is_left_for_learning() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    ages = rng.integers(18, 90, 400)
    table = pl.DataFrame({"age": ages, "height": rng.integers(150, 200, 400), "old": (ages > 50).astype(str)})
    report = mh.anonymize(
        table, quasi=["age", "height"], sensitive="old", k=5, html=False, target="old"
    ).report
    learnt = report["learning"]
    assert 0 <= learnt["entropy_loss"] <= 1
    before, after = learnt["scores"]["logistic_regression"]["accuracy"]
    assert before > 0.9
    assert after > 0.6


@pytest.mark.parametrize(("language", "word"), [("tr", "raporu"), ("de", "Bericht zur")])
def test_a_report_is_redrawn_in_another_language_and_the_folder_stays_whole(
    release: Path, language: str, word: str
) -> None:
    data = (release / "data.csv").read_bytes()
    page = redraw(release, language=language)
    assert word in page.read_text(encoding="utf-8")
    assert (release / "data.csv").read_bytes() == data
    assert mh.audit(release).holds, "hashes follow the new page"
    assert {path.name for path in release.parent.iterdir()} == {"release"}


def test_a_redrawn_page_can_go_elsewhere(release: Path, tmp_path: Path) -> None:
    before = (release / "SHA256SUMS").read_text(encoding="utf-8")
    page = redraw(release, output=tmp_path / "again.html")
    assert page.read_text(encoding="utf-8") == (release / "report.html").read_text(encoding="utf-8")
    assert (release / "SHA256SUMS").read_text(encoding="utf-8") == before


def test_nothing_is_drawn_from_a_changed_release(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidParameter, match="language"):
        redraw(release, language="xx")
    with pytest.raises(InvalidInput, match="not a folder"):
        redraw(release / "nowhere")
    (release / "data.csv").write_text("age\n1\n", encoding="utf-8")
    with pytest.raises(Tampered):
        redraw(release)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(release), "--language", "tr"])
    assert ended.value.code == 4
    assert "data.csv" in capsys.readouterr().err
    (release / "SHA256SUMS").unlink()
    with pytest.raises(Tampered, match="SHA256SUMS"):
        redraw(release)


def test_the_command_redraws(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(release), "--language", "tr"])
    assert ended.value.code == 0
    assert "report.html" in capsys.readouterr().out
    page = (release / "report.html").read_text(encoding="utf-8")
    assert re.search(r'<html lang="tr">', page)


def test_the_audit_prints_every_figure_of_risk(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(release), "--fraction", "0.1", "--threshold", "0.09", "--verbose"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for words in ("highest risk", "average risk", "rows above risk 0.09", "marketer", "journalist", "zayatz"):
        assert words in shown


def test_a_page_shows_the_data_sheet_of_a_ledger(release: Path, tmp_path: Path) -> None:
    pytest.importorskip("dp_accounting")
    mh.demo_patients(100).write_csv(tmp_path / "patients.csv")
    ledger = mh.Ledger.create(tmp_path / "L", tmp_path / "patients.csv", epsilon=2.0)
    mh.query(tmp_path / "patients.csv", "count()", ledger=ledger, epsilon=0.5)
    page = redraw(release, ledger=tmp_path / "L", output=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Private answers about the same data" in page
    assert "ε = 0.5" in page
    assert "ε = 1.5" in page
    assert redraw(release, ledger=ledger).parent == release
    assert mh.audit(release).holds, "hashes follow the new page"


def test_example_cells_are_published_ones_and_common(release: Path) -> None:
    table = pl.read_csv(release / "data.csv", infer_schema=False)
    for name, column in told(release)["columns"].items():  # type: ignore[attr-defined]
        for cell in column.get("examples", ()):
            rows = int((table[name] == cell).sum())
            counted = table.filter(pl.col(name) != "*")[name].value_counts()
            rarer = counted.filter(pl.col("count") > rows).height
            assert rows >= 5
            assert rarer < 3
    assert told(release)["columns"]["age"]["examples"]  # type: ignore[index,call-overload]


def test_middles_are_not_told_as_ranges(tmp_path: Path) -> None:
    folder = tmp_path / "middle"
    mh.anonymize(mh.demo_patients(300), output=folder, cells="midpoint", **SAID)
    assert "examples" not in told(folder)["columns"]["age"]  # type: ignore[index,call-overload]


def test_the_source_is_named_on_a_page_of_ones_own_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    mh.demo_patients(300).write_csv(tmp_path / "patients-of-may.csv")
    folder = tmp_path / "release"
    mh.anonymize(tmp_path / "patients-of-may.csv", output=folder, **SAID)
    assert "patients-of-may" not in (folder / "report.html").read_text(encoding="utf-8")
    own = redraw(folder, output=tmp_path / "own.html", source=True).read_text(encoding="utf-8")
    assert "patients-of-may.csv" in own
    assert re.search(r"key</dt><dd>[0-9a-f]{64}<", own)
    with pytest.raises(InvalidParameter, match="not in the release"):
        redraw(folder, source=True)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "elsewhere"))
    with pytest.raises(InvalidParameter, match="not made on this machine"):
        redraw(folder, output=tmp_path / "own.html", source=True)


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_two_releases_are_drawn_side_by_side(release: Path, tmp_path: Path, language: str) -> None:
    other = tmp_path / "<i>other"
    mh.anonymize(mh.demo_patients(400), output=other, fraction=0.2, **{**SAID, "k": 9})
    page = tmp_path / "page.html"
    assert redraw_two(release, other, output=page, language=language) == difference(release, other)
    text, words = page.read_text(encoding="utf-8"), load_catalogue(language)
    assert "&lt;i&gt;other" in text
    assert "<i>other" not in text
    asked = [words.say("front.reached", wanted=k, reached=reached) for k, reached in _reached(release, other)]
    assert all(sentence in text for sentence in asked)
    assert "<script" not in text
    assert "utility." not in text
    (other / "data.csv").write_text("changed")
    with pytest.raises(Tampered):
        redraw_two(release, other, output=page)


def _reached(*folders: Path) -> list[tuple[int, int]]:
    return [
        (one["wanted"], one["reached"])
        for folder in folders
        for one in told(folder)["promises"]  # type: ignore[attr-defined]
        if one["model"] == "k-anonymity"
    ]
