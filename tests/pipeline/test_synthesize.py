"""Synthetic releases: folders, reports without secrets, figures kept outside, early refusals."""

from __future__ import annotations

import json
import resource
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.errors import GuaranteeBroken, InvalidInput, InvalidParameter, MissingExtra
from mahrem.pipeline import redraw
from mahrem.release.folders import check_hashes

FACTS: dict[str, Any] = {
    "age": {"lower": 0, "upper": 99},
    "cost": {"lower": 0.0, "upper": 999.5},
    "sex": {"categories": ["f", "=m"]},
    "ill": {"categories": ["no", "yes"]},
}
DELTA = 1e-6
SECRET = 873.125  # a value of one person: it must never come out


def people(rows: int = 4000, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    ill = rng.random(rows) < age / 120
    cost = np.where(ill, 500.0, 50.0) + rng.normal(0, 20, rows)
    cost[0] = SECRET
    return pl.DataFrame(
        {"age": age, "cost": cost, "sex": rng.choice(["f", "=m"], rows), "ill": np.where(ill, "yes", "no")}
    )


@pytest.fixture
def book(tmp_path: Path) -> tuple[Path, Path]:
    data, ledger = tmp_path / "people.csv", tmp_path / "people.ledger"
    people().write_csv(data)
    mh.Ledger.create(ledger, data, epsilon=2, delta=1e-5, columns=FACTS)
    return data, ledger


@pytest.mark.parametrize("format_", ["csv", "parquet", "arrow", "xlsx"])
def test_a_release_folder_holds_data_report_settings_and_hashes(
    book: tuple[Path, Path], tmp_path: Path, format_: Any
) -> None:
    data, ledger = book
    folder = tmp_path / "release"
    release = mh.synthesize(
        data, ledger=ledger, epsilon=1, delta=DELTA, target="ill", rows=500, output=folder, format=format_
    )
    check_hashes(folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {f"data.{format_}", "report.html", "report.json", "synthesis.toml", "SHA256SUMS"}
    assert release.holds
    assert release.table.shape == (500, 4)
    assert set(release.table["sex"]) == {"f", "=m"}
    settings = tomllib.loads((folder / "synthesis.toml").read_text())
    assert settings["method"] == "marginals"
    assert settings["declared"]["age"]["bounds"] == ["0", "99"]
    report = json.loads((folder / "report.json").read_text())
    assert report["privacy_ledger"]["spent"]["epsilon"] <= 1 + 1e-9
    assert "seconds" not in report  # time depends on the data
    text = "".join(
        path.read_text() for path in folder.iterdir() if path.suffix in {".json", ".html", ".toml"}
    )
    assert str(SECRET) not in text


def test_the_page_is_drawn_again_in_every_language(book: tuple[Path, Path], tmp_path: Path) -> None:
    data, ledger = book
    folder = tmp_path / "release"
    mh.synthesize(data, ledger=ledger, epsilon=1, delta=DELTA, rows=50, output=folder)
    pages = {language: redraw(folder, language=language).read_text() for language in ("en", "tr", "de")}
    assert "No row belongs to a person" in pages["en"]
    assert "Keine Zeile gehört zu einer Person" in pages["de"]
    assert "diferansiyel mahremiyetle" in pages["tr"]
    assert all("group by group" not in page and "<script" not in page for page in pages.values())


def test_in_memory_the_table_comes_back_and_the_ledger_has_paid() -> None:
    ledger = mh.Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS)
    release = mh.synthesize(people(), ledger=ledger, epsilon=1, delta=DELTA, given={"ill": "yes"}, rows=200)
    assert set(release.table["ill"]) == {"yes"}
    assert release.table.schema == pl.Schema(
        {"age": pl.Int64(), "cost": pl.Float64(), "sex": pl.String(), "ill": pl.String()}
    )
    assert ledger.spent().epsilon == pytest.approx(1, abs=0.02)


def test_figures_against_real_rows_lie_outside_the_release_and_say_so(
    book: tuple[Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("sklearn")
    data, ledger = book
    folder, private = tmp_path / "release", tmp_path / "private"
    release = mh.synthesize(
        data,
        ledger=ledger,
        epsilon=2,
        delta=DELTA,
        target="ill",
        output=folder,
        quality=private,
        holdout=people(1500, seed=5),
        language="de",
    )
    found = release.quality
    assert found is not None
    figures = json.loads((private / "quality.json").read_text())
    assert figures["private"] is False
    page = (private / "quality.html").read_text()
    assert "nicht veröffentlichen" in page
    assert "Total variation" not in page
    assert private.stat().st_mode & 0o077 == 0
    assert "quality" not in (folder / "report.json").read_text()
    learnt = found.learning["logistic_regression"]
    assert learnt["synthetic_accuracy"] > learnt["real_accuracy"] - 0.05
    assert found.pairs["synthetic_mean"] < 0.15
    assert found.closest["nearer_to_real"] == pytest.approx(0.5, abs=0.08)  # 8 deviations of chance


def test_figures_can_tell_a_copy_and_a_bad_table() -> None:
    pytest.importorskip("sklearn")
    from mahrem.dp import Facts
    from mahrem.learning.synthesis import declare_domain, synthetic_quality
    from mahrem.table import ColumnDeclaration

    facts = Facts(columns={name: ColumnDeclaration(**said) for name, said in FACTS.items()})
    domain = declare_domain(facts, list(FACTS))
    real, holdout = people(2000), people(2000, seed=7)
    copied = synthetic_quality(real, real, domain, holdout=holdout)
    assert copied.closest["equal_to_real"] == 1
    assert copied.closest["nearer_to_real"] > 0.95
    assert copied.pairs["synthetic_mean"] == 0
    rng = np.random.default_rng(1)
    noise = real.with_columns(pl.col(name).shuffle(seed=int(rng.integers(99))) for name in real.columns)
    shuffled = synthetic_quality(real, noise, domain, holdout=holdout, target="ill")
    assert shuffled.propensity["synthetic"]["auc"] > 0.7 > shuffled.propensity["holdout"]["auc"]
    assert max(one["synthetic"] for one in shuffled.one_way.values()) < 1e-9
    assert shuffled.association["synthetic_max"] > 0.4
    with pytest.raises(InvalidInput, match="never saw"):
        synthetic_quality(real, noise, domain, holdout=real[:1000])


def test_a_table_with_decimal_commas_is_compared_as_it_was_read(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")

    def written(name: str, seed: int) -> Path:
        cost = pl.col("cost").cast(pl.String).str.replace(".", ",", literal=True)
        people(1500, seed=seed).with_columns(cost).write_csv(tmp_path / name, separator=";")
        return tmp_path / name

    data, holdout = written("data.csv", 1), written("holdout.csv", 5)
    ledger = mh.Ledger.temporary(epsilon=2, delta=1e-5, columns=FACTS)
    said: dict[str, Any] = {"ledger": ledger, "epsilon": 2, "delta": DELTA, "delimiter": ";", "decimal": ","}
    with pytest.raises(InvalidInput, match="never saw"):
        mh.synthesize(data, quality=True, holdout=data, **said)
    assert ledger.spent().epsilon == 0
    found = mh.synthesize(data, quality=True, holdout=holdout, **said).quality
    assert found is not None
    assert found.one_way["cost"]["synthetic"] < 0.2
    assert found.one_way["cost"]["holdout"] < 0.2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"method": "magic"}, "one of"),
        ({"rows": 0}, "at least 1"),
        ({"format": "pdf"}, "one of"),
        ({"language": "fr"}, "one of"),
        ({"given": {"sex": "x"}}, "not declared"),
        ({"given": {"age": (200, 300)}}, "nothing that is declared"),
        ({"constraints": ["age < cost"]}, "must read like"),
        ({"constraints": ["age <= cost"], "given": {"age": (50, 60), "cost": (0, 40)}}, "cannot be kept"),
        ({"constraints": ["cost = age + ill"]}, "needs numbers"),
        ({"holdout": people(100)}, "only for quality"),
        ({"quality": True, "holdout": people()}, "never saw"),
        ({"quality": True, "rows": 19}, "at least 20"),
        ({"target": "weight"}, "column to be synthesised"),
        ({"options": {"colour": 1}}, "does not know"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_is_spent(settings: dict[str, Any], match: str) -> None:
    ledger = mh.Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS)
    with pytest.raises((InvalidParameter, InvalidInput), match=match):
        mh.synthesize(people(), ledger=ledger, epsilon=1, delta=DELTA, **settings)
    assert ledger.spent().epsilon == 0


def test_a_sheet_that_cannot_be_written_is_refused_before_the_ledger_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = mh.Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS)
    sheet: dict[str, Any] = {"output": tmp_path / "release", "format": "xlsx"}
    with pytest.raises(InvalidParameter, match="1,048,575 rows"):
        mh.synthesize(people(100), ledger=ledger, epsilon=1, delta=DELTA, rows=1_100_000, **sheet)
    with pytest.raises(InvalidParameter, match="private: say rows"):
        mh.synthesize(people(100), ledger=ledger, epsilon=1, delta=DELTA, **sheet)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)  # what Python does for a module that is not there
    with pytest.raises(MissingExtra, match="excel"):
        mh.synthesize(people(100), ledger=ledger, epsilon=1, delta=DELTA, **sheet)
    assert ledger.spent().epsilon == 0


def test_figures_that_cannot_be_made_are_refused_before_the_ledger_pays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = mh.Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS)
    with pytest.raises(InvalidParameter, match="at least 20"):
        mh.synthesize(people(19), ledger=ledger, epsilon=1, delta=DELTA, quality=True)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match="learning"):
        mh.synthesize(people(100), ledger=ledger, epsilon=1, delta=DELTA, quality=True)
    assert ledger.spent().epsilon == 0


def test_one_column_of_odd_words_makes_a_release_with_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn")
    data, ledger = tmp_path / "words.csv", tmp_path / "words.ledger"
    pl.DataFrame({"word": ["--5", "7"] * 500}).write_csv(data)
    facts: dict[str, Any] = {"word": {"categories": ["--5", "7"]}}
    mh.Ledger.create(ledger, data, epsilon=1, delta=1e-5, columns=facts)
    said = ["synthesize", str(data), "--ledger", str(ledger), "--epsilon", "1", "-o", str(tmp_path / "made")]
    assert _run([*said, "--quality", str(tmp_path / "private")]) == 0
    assert "pairs of columns" not in capsys.readouterr().out
    assert (tmp_path / "private" / "quality.json").exists()


def test_an_occupied_folder_is_refused_before_the_ledger_pays(
    book: tuple[Path, Path], tmp_path: Path
) -> None:
    data, ledger = book
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_text("mine")
    wrong: list[dict[str, Any]] = [
        {"output": tmp_path / "there"},
        {"output": tmp_path / "r", "quality": tmp_path / "r" / "q"},
    ]
    for more in wrong:
        with pytest.raises(InvalidParameter):
            mh.synthesize(data, ledger=ledger, epsilon=1, delta=DELTA, **more)
    assert mh.Ledger.open(ledger).spent().epsilon == 0


def test_a_table_that_breaks_its_schema_is_never_written(
    book: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mahrem.learning.synthesis import MarginalsFit

    def bad(*_: Any, **__: Any) -> Any:
        yield pl.DataFrame({"age": [500], "cost": [1.0], "sex": ["f"], "ill": ["no"]})

    monkeypatch.setattr(MarginalsFit, "batches", bad)
    data, ledger = book
    with pytest.raises(GuaranteeBroken, match="1 cells"):
        mh.synthesize(data, ledger=ledger, epsilon=1, delta=DELTA, output=tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_the_command_line_does_the_same(
    book: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, ledger = book
    base = ["synthesize", str(data), "--ledger", str(ledger), "--epsilon", "1", "--rows", "300"]
    more = ["--may-miss", "cost", "--given", "age=18:30", "--constraint", "age <= cost", "--target", "ill"]
    assert _run([*base, *more, "-o", str(tmp_path / "one"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["holds"]
    assert said["rows"] == 300
    assert said["seconds"] > 0
    made = pl.read_csv(tmp_path / "one" / "data.csv")
    assert made["age"].is_between(18, 30).all()
    both = made.drop_nulls("cost")
    assert (both["age"] <= both["cost"]).all()
    assert _run([*base, "-o", str(tmp_path / "one")]) == 2  # exists
    assert _run([*base[:4], "--epsilon", "9", "-o", str(tmp_path / "two")]) == 5
    assert "nothing was computed" in capsys.readouterr().err
    assert _run([*base[:4], "--epsilon", "0.0001", "-o", str(tmp_path / "two")]) == 3
    assert "would do" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()


def test_an_audit_of_synthetic_rows_says_where_their_promise_is(
    book: tuple[Path, Path], tmp_path: Path
) -> None:
    data, ledger = book
    mh.synthesize(data, ledger=ledger, epsilon=1, delta=DELTA, rows=500, output=tmp_path / "release")
    with pytest.raises(InvalidParameter, match="synthetic rows"):
        mh.audit(tmp_path / "release")
    looked_at = mh.audit(tmp_path / "release", quasi=["age", "sex"], k=2)
    assert looked_at.report["rows"] == 500


def test_who_has_paid_is_told_so_when_the_disk_is_full_or_somebody_stops_it(
    book: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, ledger = book
    asked = ["synthesize", str(data), "--ledger", str(ledger), "--epsilon", "0.5", "--delta", "1e-6"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # no file may grow beyond it
    try:
        assert _run([*asked, "--rows", "20000", "-o", str(tmp_path / "full")]) == 74
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capsys.readouterr().err
    assert "File too large" in said
    assert "stays spent: epsilon=0.5" in said
    assert not (tmp_path / "full").exists()

    def stop(step: str) -> None:
        if step.startswith("sampling"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        mh.synthesize(data, ledger=ledger, epsilon=0.5, delta=DELTA, progress=stop)
    assert "stays spent: epsilon=0.5" in stopped.value.__notes__[0]
    assert _run([*asked, "--epsilon", "5", "-o", str(tmp_path / "dear")]) == 5
    assert "stays spent" not in capsys.readouterr().err  # nothing was paid
