from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from mahrem.dp import Ledger
from mahrem.dp.accounting import Gaussian, Pure
from mahrem.dp.queries import answer_query
from mahrem.errors import BudgetExceeded, InvalidInput, InvalidParameter, PrivacyWarning, Tampered
from mahrem.table import ColumnDeclaration, Reading

COLUMNS = {"age": {"lower": 0, "upper": 100}, "sex": {"categories": ["f", "m"]}}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 30, 40] * 50, "sex": ["f", "m", "f"] * 50}).write_csv(path)
    return path


@pytest.fixture
def ledger(tmp_path: Path, table: Path) -> Ledger:
    return Ledger.create(tmp_path / "people.ledger", table, epsilon=1.0, columns=COLUMNS)


def path_of(ledger: Ledger) -> Path:
    assert ledger.path is not None
    return ledger.path


def test_a_total_of_one_pays_ten_times_a_tenth_and_not_once_more(ledger: Ledger) -> None:
    for _ in range(10):
        ledger.spend(Pure(0.1), what="count()")
    with pytest.raises(BudgetExceeded, match="nothing was computed"):
        ledger.spend(Pure(0.001), what="count()")
    assert Ledger.open(path_of(ledger)).spent().epsilon == pytest.approx(1.0)
    assert len(ledger.history()) == 10


def test_a_ledger_without_delta_refuses_gaussian_noise(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded, match="delta=0"):
        ledger.spend(Gaussian(100.0), what="x", delta=1e-9)


@pytest.mark.parametrize(("event", "delta"), [(Pure(0.5), 0.0), (Gaussian(1.0), 1e-6)])
def test_nobody_can_claim_less_than_an_event_costs(event: Pure | Gaussian, delta: float) -> None:
    ledger = Ledger.temporary(epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidParameter, match="less than the event costs"):
        ledger.spend(event, what="cheap", epsilon=0.1, delta=delta)
    assert ledger.spent().epsilon == 0


def test_another_table_of_the_same_database_file_is_other_data(tmp_path: Path) -> None:
    path = tmp_path / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 2 AS x")
    ledger = Ledger.create(tmp_path / "L", path, epsilon=1.0, reading=Reading(table="a"))
    answer_query(path, "count()", ledger=ledger, epsilon=0.1, reading=Reading(table="a"))
    with pytest.raises(InvalidInput, match="other data"):
        answer_query(path, "count()", ledger=ledger, epsilon=0.1, reading=Reading(table="b"))


def test_what_does_not_fit_is_refused_before_the_data_is_looked_at(
    ledger: Ledger, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mahrem.dp._sources.Data.tally", lambda *_: pytest.fail("the data was looked at"))
    with pytest.raises(BudgetExceeded):
        answer_query(table, "count()", ledger=ledger, epsilon=1.5)
    assert ledger.spent().epsilon == 0


SPENDER = """
import sys, time
from mahrem.dp import Ledger
from mahrem.dp.accounting import Pure
from mahrem.errors import BudgetExceeded
checked = Ledger._refuse_overspend
def slow(*given):  # so that the other process comes between reading and writing, if nothing keeps it out
    checked(*given)
    time.sleep(0.02)
Ledger._refuse_overspend = slow
ledger = Ledger.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
done = 0
for _ in range(12):
    try:
        ledger.spend(Pure(0.1), what="count()")
        done += 1
    except BudgetExceeded:
        pass
print(done)
"""


def test_two_processes_spending_at_once_never_exceed_the_total(ledger: Ledger) -> None:
    command = [sys.executable, "-c", SPENDER, str(path_of(ledger))]
    both = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    spent = [int(process.communicate(timeout=60)[0]) for process in both]
    assert sum(spent) == 10
    assert ledger.spent().epsilon == pytest.approx(1.0)
    assert [line["sequence"] for line in ledger.history()] == list(range(1, 11))


KILLED = """
import os, signal, sys
from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query
import mahrem.dp._sources as sources
sources.Data.tally = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
answer_query(sys.argv[2], "count()", ledger=Ledger.open(sys.argv[1]), epsilon=0.7)
"""


def test_a_kill_between_spend_and_answer_loses_no_accounting(ledger: Ledger, table: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(path_of(ledger)), str(table)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    again = Ledger.open(path_of(ledger))
    assert again.spent().epsilon == pytest.approx(0.7)
    with pytest.raises(BudgetExceeded):
        answer_query(table, "count()", ledger=again, epsilon=0.7)


def test_a_line_cut_short_by_a_crash_was_never_released_and_is_written_over(ledger: Ledger) -> None:
    ledger.spend(Pure(0.2), what="count()")
    path = path_of(ledger)
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:40])
    again = Ledger.open(path)
    assert again.spent().epsilon == pytest.approx(0.2)
    again.spend(Pure(0.3), what="count()")
    assert path.read_bytes().startswith(whole)
    assert Ledger.open(path).spent().epsilon == pytest.approx(0.5)


def _edited(content: bytes) -> dict[str, bytes]:
    lines = content.splitlines(keepends=True)
    return {
        "a smaller spend": content.replace(b'"epsilon":0.5', b'"epsilon":0.1'),
        "a larger total": content.replace(b'"epsilon":1.0', b'"epsilon":9.0'),
        "a line removed": lines[0] + lines[2],
        "the last line removed": b"".join(lines[:-1]),
        "lines swapped": lines[0] + lines[2] + lines[1],
        "a line doubled": content + lines[-1],
        "other spaces": content.replace(b'":', b'": '),
        "no JSON": b"nonsense\n",
        "half of the last line": content[: -len(lines[-1]) // 2],
        "nothing": b"",
    }


@pytest.mark.parametrize("what", _edited(b"\n\n\n"))
def test_an_edited_ledger_is_refused(ledger: Ledger, what: str) -> None:
    ledger.spend(Pure(0.5), what="a")
    ledger.spend(Pure(0.25), what="b")
    path = path_of(ledger)
    edited = _edited(path.read_bytes())[what]
    assert edited != path.read_bytes()
    path.write_bytes(edited)
    with pytest.raises(Tampered):
        Ledger.open(path)
    with pytest.raises(Tampered):
        ledger.spend(Pure(0.1), what="c")


def test_an_old_copy_put_back_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    path = path_of(ledger)
    ledger.spend(Pure(0.5), what="a")
    shutil.copy(path, tmp_path / "copy")
    ledger.spend(Pure(0.5), what="b")
    shutil.copy(tmp_path / "copy", path)
    with pytest.raises(Tampered, match="older than it was"):
        Ledger.open(path)


def test_a_ledger_without_its_key_or_with_another_is_refused(ledger: Ledger) -> None:
    key = path_of(ledger).with_name("people.ledger.key")
    key.write_bytes(bytes(32))
    with pytest.raises(Tampered):
        Ledger.open(path_of(ledger))
    key.unlink()
    with pytest.raises(InvalidParameter, match="key"):
        Ledger.open(path_of(ledger))


def test_a_ledger_is_never_written_over(ledger: Ledger, table: Path) -> None:
    before = path_of(ledger).read_bytes()
    with pytest.raises(InvalidParameter, match="there already"):
        Ledger.create(path_of(ledger), table, epsilon=5.0)
    assert path_of(ledger).read_bytes() == before


def test_the_ledger_of_another_file_is_refused_and_nothing_is_spent(ledger: Ledger, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    pl.DataFrame({"age": [1, 2], "sex": ["f", "m"]}).write_csv(other)
    with pytest.raises(InvalidInput, match="other data"):
        answer_query(other, "count()", ledger=ledger, epsilon=0.1)
    assert ledger.spent().epsilon == 0


def test_a_moved_file_is_still_known_and_a_changed_one_warns(
    ledger: Ledger, table: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.csv"
    shutil.copy(table, moved)
    answer_query(moved, "count()", ledger=ledger, epsilon=0.1)
    with table.open("a", encoding="utf-8") as stream:
        stream.write("77,f\n")
    with pytest.warns(PrivacyWarning, match="changed"):
        answer_query(table, "count()", ledger=ledger, epsilon=0.1)


def test_a_frame_is_known_by_its_content(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1.0, 2.0]})
    ledger = Ledger.create(tmp_path / "L", frame, epsilon=1.0)
    answer_query(pl.DataFrame({"age": [1.0, 2.0]}), "count()", ledger=ledger, epsilon=0.1)
    with pytest.raises(InvalidInput, match="other data"):
        answer_query(pl.DataFrame({"age": [1.0, 3.0]}), "count()", ledger=ledger, epsilon=0.1)


def test_neither_data_nor_a_plain_hash_of_it_stands_in_the_file(ledger: Ledger, table: Path) -> None:
    import hashlib

    content = path_of(ledger).read_text()
    assert hashlib.sha256(table.read_bytes()).hexdigest() not in content
    assert str(table) not in content
    assert path_of(ledger).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": 1e300}, "hides nobody"),
        ({"epsilon": 1e-320}, "nothing but noise"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": -1e-9}, "delta"),
        ({"epsilon": 1, "relation": "nearby"}, "relation"),
        ({"epsilon": 1, "rows_per_person": 3}, "subject"),
        ({"epsilon": 1, "rows": 0}, "rows"),
        ({"epsilon": 1, "columns": {"age": {"lower": 5, "upper": 1}}}, "below"),
        ({"epsilon": 1, "columns": {"age": {"lower": 5}}}, "both ends"),
        ({"epsilon": 1, "columns": {"age": {"lower": 0, "upper": float("inf")}}}, "finite"),
        ({"epsilon": 1, "columns": {"age": {"lower": 0, "upper": 9, "missing": 10}}}, "missing"),
        ({"epsilon": 1, "columns": {"age": {"missing": 10}}}, "bounds"),
        ({"epsilon": 1, "columns": {"sex": {"categories": []}}}, "categories"),
        ({"epsilon": 1, "columns": {"sex": {"categories": ["f", "f"]}}}, "categories"),
        ({"epsilon": 1, "columns": {"sex": {"values": ["f"]}}}, "not known"),
    ],
)
def test_settings_that_promise_nothing_are_refused(settings: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        Ledger.temporary(**settings)  # type: ignore[arg-type]


def test_a_delta_that_allows_a_whole_row_warns() -> None:
    with pytest.warns(PrivacyWarning, match="1/rows"):
        Ledger.temporary(epsilon=1.0, delta=0.01, rows=100)
    with pytest.warns(PrivacyWarning, match="next to nothing"):
        Ledger.temporary(epsilon=50.0)


def test_found_facts_are_kept_and_shown_in_the_history(ledger: Ledger) -> None:
    ledger.declare("income", ColumnDeclaration(lower=0, upper=8, origin="found"))
    again = Ledger.open(path_of(ledger))
    assert again.facts.bounds("income") == (0, 8)
    assert again.history()[0]["column"] == "income"


def test_the_data_sheet_says_everything_and_is_plain_data(ledger: Ledger) -> None:
    ledger.spend(Pure(0.25), what="count()")
    sheet = json.loads(json.dumps(ledger.data_sheet()))
    assert sheet["relation"] == "add-remove"
    assert sheet["total"] == {"epsilon": 1.0, "delta": 0.0}
    assert sheet["remaining"]["epsilon"] == pytest.approx(0.75)
    assert sheet["mechanisms"] == ["Pure"]
    assert sheet["public"]["columns"]["age"]["upper"] == 100
    assert "data" not in sheet


def test_a_ledger_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="mahrem ledger new"):
        Ledger.open(tmp_path / "none")


@pytest.mark.parametrize(
    "day", ["13/01/2024", "24-01-13", "01-13-2024", "1/2/24", "13.01.24", "13/01/2024 13:05"]
)
def test_days_whose_month_or_year_other_rows_decide_are_refused(day: str) -> None:
    with pytest.raises(InvalidParameter, match="YYYY-MM-DD"):
        Ledger.temporary(epsilon=1, columns={"day": {"categories": [day, "none"]}})
    Ledger.temporary(
        epsilon=1, columns={"day": {"categories": ["2024-01-13", "13.01.2025", "1/2", "1-2-345"]}}
    )


def test_columns_that_are_not_there_are_refused(table: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="agee"):
        Ledger.create(tmp_path / "L", table, epsilon=1, columns={"agee": {"lower": 0, "upper": 1}})
    assert not (tmp_path / "L.key").exists()


@pytest.mark.parametrize(
    "twice", [("f", "no"), ("1.1", "1.10"), ("1", "true"), ("08:00", "8:00:00"), ("NA", "b")]
)
def test_values_that_some_column_would_not_tell_apart_are_refused(twice: tuple[str, str]) -> None:
    with pytest.raises(InvalidParameter, match=r"one value where|mark a missing value"):
        Ledger.temporary(epsilon=1, columns={"group": {"categories": list(twice)}})
    Ledger.temporary(epsilon=1, columns={"group": {"categories": ["f", "m", "none"]}})
