from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._print import stages

ROLES = ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "--rest", "drop", "-k", "5", "--no-html"]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    mh.demo_patients(400).write_csv(tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


@pytest.fixture
def release(run: Run, patients: Path, tmp_path: Path) -> Path:
    assert run("anonymize", patients, *ROLES, "-o", tmp_path / "release")[0] == 0
    return tmp_path / "release"


def test_attack_says_what_was_found_in_plain_words(run: Run, release: Path, patients: Path) -> None:
    code, out, _ = run("attack", release, "--original", patients)
    assert code == 0
    assert "linkage (knowing 3): " in out
    assert "baseline" in out
    assert "membership: no population was given" in out


def test_attack_gives_json(run: Run, release: Path, patients: Path) -> None:
    code, out, _ = run("attack", release, "--original", patients, "--json")
    assert code == 0
    found = json.loads(out)
    assert {"attack", "rate", "baseline", "interval", "trials", "meaning"} <= found["findings"][0].keys()


def test_attack_fails_above_a_threshold_when_asked(run: Run, patients: Path) -> None:
    raw = ["attack", patients, "--qi", "age,sex,zip", "--original", patients, "--quiet"]
    assert run(*raw)[0] == 0
    assert run(*raw, "--fail-above", "0.2")[0] == 1
    assert run(*raw, "--fail-above", "1")[0] == 0


@pytest.mark.parametrize(
    ("break_it", "code"), [("data.csv", 4), ("SHA256SUMS", 4), ("policy.toml", 4), ("release.recipe", 4)]
)
def test_a_release_without_hashes_or_with_other_data_exits_with_4(
    run: Run, release: Path, patients: Path, break_it: str, code: int
) -> None:
    (release / break_it).unlink()
    assert run("attack", release)[0] == code
    assert run("apply", release, patients, "-o", release.parent / "next")[0] == code


@pytest.mark.parametrize(
    "arguments", [("nowhere.csv",), ("{patients}",), ("{patients}", "--qi", "agee"), ("{folder}",)]
)
def test_usage_errors_exit_with_2(
    run: Run, patients: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    said = [text.format(patients=patients, folder=tmp_path) for text in arguments]
    assert run("attack", *said)[0] == 2


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_apply_makes_a_release_that_audits_true(run: Run, release: Path, tmp_path: Path) -> None:
    mh.demo_patients(300, seed=4).write_csv(tmp_path / "later.csv")
    code, out, _ = run("apply", release, tmp_path / "later.csv", "-o", tmp_path / "next")
    assert code == 0
    assert "holds" in out
    assert "show nothing" in out
    assert run("audit", tmp_path / "next")[0] == 0
    limited = run("apply", release, tmp_path / "later.csv", "-o", tmp_path / "x", "--suppression-limit", 0)
    assert limited[0] == 3
    assert not (tmp_path / "x").exists()


def test_apply_refuses_another_schema(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    code, _, error = run("apply", release, tmp_path / "other.csv", "-o", tmp_path / "x")
    assert code == 2
    assert "another schema" in error


def test_policies_are_listed_printed_and_used(run: Run, patients: Path, tmp_path: Path) -> None:
    code, out, _ = run("policies")
    assert code == 0
    assert "minimum-cell-11" in out
    code, out, _ = run("policies", "minimum-cell-11")
    assert "k = 11" in out
    assert run("policies", "nothing")[0] == 2
    said = ["--policy", "minimum-cell-11", "--qi", "age,zip", "--rest", "drop", "--no-html", "--json"]
    code, out, _ = run("anonymize", patients, *said, "-o", tmp_path / "r")
    assert code == 0
    assert json.loads(out)["promises"][0]["wanted"] == 11


def test_a_dry_run_prints_what_to_expect_and_writes_nothing(run: Run, patients: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    code, out, _ = run("anonymize", patients, *ROLES, "--dry-run")
    assert code == 0
    assert "nothing was written" in out
    assert "memory" in out
    code, out, _ = run("anonymize", patients, *ROLES, "--dry-run", "--json")
    assert json.loads(out)["dry_run"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_without_an_output_is_a_usage_error(run: Run, patients: Path) -> None:
    code, _, error = run("anonymize", patients, *ROLES)
    assert code == 2
    assert "--dry-run" in error


def test_open_ends_and_jitter_can_be_said(run: Run, patients: Path, tmp_path: Path) -> None:
    said = ["--top", "age=80", "--bottom", "age=20", "--jitter", "0.1", "--seed", "3"]
    assert run("anonymize", patients, *ROLES, *said, "-o", tmp_path / "r")[0] == 0
    text = (tmp_path / "r" / "data.csv").read_text()
    assert ", inf]" in text
    assert "[-inf, " in text
    assert run("anonymize", patients, *ROLES, "--top", "age=x", "-o", tmp_path / "s")[0] == 2
    assert run("anonymize", patients, *ROLES, "--jitter", "0.9", "-o", tmp_path / "s")[0] == 2


def test_formulas_come_out_as_text_in_csv_and_untouched_in_parquet(run: Run, tmp_path: Path) -> None:
    notes = ["=cmd()", "-5", "@x", "+1.5", "plain"]
    frame = pl.DataFrame({"age": [30 + n % 7 for n in range(50)], "note": notes * 10})
    frame.write_csv(tmp_path / "in.csv")
    said = ["anonymize", tmp_path / "in.csv", "--qi", "age", "--insensitive", "note", "-k", "5", "--no-html"]
    assert run(*said, "-o", tmp_path / "text")[0] == 0
    with (tmp_path / "text" / "data.csv").open(encoding="utf-8", newline="") as file:
        written = {row["note"] for row in csv.DictReader(file)}
    assert written == {"'=cmd()", "-5", "'@x", "+1.5", "plain"}
    assert run(*said, "-o", tmp_path / "text", "--force", "--format", "parquet")[0] == 0
    assert set(pl.read_parquet(tmp_path / "text" / "data.parquet")["note"]) == set(notes)


def test_a_person_who_watches_sees_the_stage_and_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with stages(quiet=False) as progress:
        progress("reading [a]")
    assert "reading [a] …" in screen.getvalue()
    assert "0:00:00" in screen.getvalue()


def test_time_is_foretold_by_earlier_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mahrem.release.folders import earlier_seconds, record_run

    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    assert earlier_seconds("mondrian", 10**6, 4) is None
    said = {"method": "mondrian", "quasi": ["a", "b"]}
    for seconds in (1.0, 2.0, 30.0):
        record_run(tmp_path, None, {"policy": said, "rows": 2**17, "seconds": seconds})
    record_run(tmp_path, None, {"policy": said, "rows": 50, "seconds": 99.0})
    (tmp_path / "state" / "runs" / "0.json").write_text("{")
    assert earlier_seconds("mondrian", 2**17, 4) == pytest.approx(4.0)
    assert earlier_seconds("mosaic", 2**17, 4) is None
