"""A total at the end of a file is no person: it can be passed over, and the hint says how."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.table import Reading, open_source

Run = Callable[..., tuple[int, str, str]]
PEOPLE = pl.DataFrame(
    {"ort": ["Köln", "Bonn"] * 10, "alter": [30 + n % 4 for n in range(20)], "zahl": [1] * 20}
)


def file_with_total(tmp_path: Path, word: str, ending: str = "csv") -> Path:
    """Write a table whose last row adds up the others."""
    path = tmp_path / f"table.{ending}"
    total = pl.DataFrame({"ort": [word], "alter": [None], "zahl": [20]}, schema=PEOPLE.schema)
    whole = pl.concat([PEOPLE, total])
    if ending == "csv":
        whole.write_csv(path)
    elif ending == "xlsx":
        whole.write_excel(path)
    else:
        whole.write_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_the_last_rows_of_a_file_are_passed_over(tmp_path: Path, ending: str) -> None:
    source = open_source(file_with_total(tmp_path, "Summe", ending), Reading(skip_last=1))
    assert source.rows == 20
    assert source.take(["ort"])["ort"].to_list() == PEOPLE["ort"].to_list()
    assert source.scan(["ort"]).collect().height == 20


@pytest.mark.parametrize("word", ["Summe", "Total", "Toplam"])
def test_the_hint_names_what_leaves_the_total_out(tmp_path: Path, word: str, run: Run) -> None:
    path = file_with_total(tmp_path, word)
    code, said, _ = run("inspect", path)
    assert code == 0
    assert "--skip-last 1" in said
    assert "--skip-last" not in run("inspect", path, "--skip-last", 1)[1]
    hint = next(hint for hint in mh.inspect(path).hints if hint.code == "content.hint.total")
    assert "skip_last=1" in str(hint)
    roles = ("--qi", "alter", "--insensitive", "ort,zahl", "-k", 2, "--no-html")
    assert run("anonymize", path, "-o", tmp_path / "out", "--skip-last", 1, *roles)[0] == 0
    shown = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert shown.height == 20
    assert word not in shown["ort"].to_list()


def test_a_policy_keeps_what_was_said(tmp_path: Path, run: Run) -> None:
    path = file_with_total(tmp_path, "Summe")
    assert run("inspect", path, "--skip-last", 1, "--policy-out", tmp_path / "p.toml")[0] == 0
    assert "skip_last = 1" in (tmp_path / "p.toml").read_text(encoding="utf-8")
    assert mh.anonymize(path, policy=tmp_path / "p.toml", html=False).report["rows"] == 20


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="skip_last=21 must leave a row"):
        open_source(file_with_total(tmp_path, "Summe"), Reading(skip_last=21))
    with pytest.raises(InvalidParameter, match="about the end of a file"):
        open_source(PEOPLE, Reading(skip_last=1))
    with pytest.raises(InvalidParameter, match="skip_last=-1"):
        Reading(skip_last=-1)
