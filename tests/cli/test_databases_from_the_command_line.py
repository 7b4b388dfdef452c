from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.table import Reading, open_source
from mahrem.table.writing import write_database

ROLES = ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "--rest", "drop", "-k", "4", "--no-html"]


@pytest.fixture(autouse=True)
def private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))


@pytest.mark.postgres
def test_a_table_goes_from_postgresql_to_postgresql(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_database(mh.demo_patients(300), postgres, "patients", replace=True)
    arguments = ["anonymize", postgres, "--table", "patients", *ROLES, "-o", str(tmp_path / "out"), "--json"]
    assert _run([*arguments, "--to", postgres, "--to-table", "published"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"] == 300
    password = postgres.split(":")[2].split("@", maxsplit=1)[0]
    everything = said.out + said.err + "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert password not in everything
    published = open_source(postgres, Reading(table="published")).take(["age", "sex", "zip", "diagnosis"])
    assert published.height == 300
    assert mh.audit(published, quasi=["age", "sex", "zip"], k=4).holds
    assert _run(["audit", postgres, "--table", "published", "--qi", "age,sex,zip", "-k", "4"]) == 0
    assert (
        _run(
            ["audit", postgres, "--query", "select age, sex from published limit 1", "--qi", "age", "-k", "4"]
        )
        == 1
    )


def test_a_query_of_a_duckdb_file_is_anonymised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hospital.duckdb"
    write_database(mh.demo_patients(300), str(path), "patients")
    query = "select age, sex, zip, diagnosis from patients where age >= 18"
    arguments = ["anonymize", str(path), "--query", query, *ROLES, "-o", str(tmp_path / "out")]
    assert _run([*arguments, "--to", str(tmp_path / "public.duckdb"), "--format", "parquet", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    with duckdb.connect(str(tmp_path / "public.duckdb"), read_only=True) as connection:
        assert connection.execute("select count(*) from anonymised").fetchone() == (rows,)
    assert pl.read_parquet(tmp_path / "out" / "data.parquet").height == rows


@pytest.mark.parametrize("word", ["query", "sql"])
def test_a_ledger_and_its_answers_may_be_about_a_query(
    word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, ledger = str(tmp_path / "hospital.duckdb"), str(tmp_path / "L")
    write_database(mh.demo_patients(300), path, "patients")
    asked = "select age from patients where age >= 18"
    new = ["ledger", "new", ledger, "--data", path, "--epsilon", "1", f"--{word}", asked]
    assert _run([*new, "--quiet"]) == 0
    question = ["query", path, "count()", "--ledger", ledger, "--epsilon", "0.25", "--json"]
    assert _run([*question, f"--{word}", asked]) == 0
    assert json.loads(capsys.readouterr().out)["spent"]
    assert mh.query(path, "count()", ledger=ledger, epsilon=0.25, **{word: asked}).spent
    assert _run([*question, f"--{word}", "select age from patients"]) == 2  # another data set


def test_two_words_for_one_query_are_refused() -> None:
    ledger = mh.Ledger.temporary(epsilon=1)
    with pytest.raises(mh.errors.InvalidParameter, match="query and sql were both given"):
        mh.query("nothing.duckdb", "count()", ledger=ledger, epsilon=1, sql="select 1", query="select 1")
    with pytest.raises(mh.errors.InvalidParameter, match="setting='separator' is not known"):
        mh.query("nothing.csv", "count()", ledger=ledger, epsilon=1, separator=";")
    assert ledger.remaining().epsilon == 1
