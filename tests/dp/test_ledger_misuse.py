"""Ways to get a second budget, or an answer nobody paid for: each is refused, or said aloud."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mahrem.dp import Ledger
from mahrem.dp.accounting import Pure, rho_for
from mahrem.dp.queries import answer_query
from mahrem.errors import BudgetExceeded, InvalidParameter, OutputFailed, PrivacyWarning, Tampered


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 30, 40] * 50}).write_csv(path)
    return path


@pytest.fixture
def ledger(tmp_path: Path, table: Path) -> Ledger:
    return Ledger.create(tmp_path / "L", table, epsilon=1.0)


@pytest.mark.usefixtures("ledger")
def test_the_size_of_the_file_is_not_in_the_ledger(tmp_path: Path) -> None:
    header = json.loads((tmp_path / "L").read_text().splitlines()[0])
    for noted in header["body"]["data"].values():
        assert isinstance(noted, str)  # a keyed hash, never a count of bytes, which counts rows
        assert len(noted) == 64


def test_a_copy_beside_a_ledger_is_no_second_budget(ledger: Ledger, tmp_path: Path) -> None:
    for name in ("L", "L.key"):
        shutil.copy(tmp_path / name, tmp_path / name.replace("L", "M"))
    ledger.spend(Pure(0.9), what="count()")
    with pytest.raises(Tampered, match="older than it was"):
        Ledger.open(tmp_path / "M")


def test_a_cheaper_line_from_a_copy_used_elsewhere_does_not_fit_in(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("L", "L.key"):
        shutil.copy(tmp_path / name, tmp_path / name.replace("L", "M"))
    ledger.spend(Pure(0.7), what="dear")
    ledger.spend(Pure(0.1), what="last")
    state = os.environ["MAHREM_STATE"]
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "another machine"))
    Ledger.open(tmp_path / "M").spend(Pure(0.01), what="cheap")
    monkeypatch.setenv("MAHREM_STATE", state)
    dear, cheap = ((tmp_path / name).read_bytes().splitlines(keepends=True) for name in ("L", "M"))
    (tmp_path / "L").write_bytes(dear[0] + cheap[1] + dear[2])  # every seal and every number is right
    with pytest.raises(Tampered, match="line 3"):
        Ledger.open(tmp_path / "L")


def test_a_second_ledger_for_data_that_have_paid_warns(ledger: Ledger, table: Path, tmp_path: Path) -> None:
    Ledger.create(tmp_path / "unspent", table, epsilon=1.0)
    ledger.spend(Pure(0.1), what="count()")
    with pytest.warns(PrivacyWarning, match="another ledger"):
        Ledger.create(tmp_path / "second", table, epsilon=1.0)
    (tmp_path / "L").unlink()
    with pytest.warns(PrivacyWarning, match="another ledger"):
        Ledger.create(tmp_path / "third", table, epsilon=1.0)


@pytest.mark.usefixtures("ledger")
def test_a_key_that_others_can_read_warns(tmp_path: Path) -> None:
    assert (tmp_path / "L.key").stat().st_mode & 0o077 == 0
    (tmp_path / "L.key").chmod(0o640)
    with pytest.warns(PrivacyWarning, match="chmod 600"):
        Ledger.open(tmp_path / "L")


@pytest.mark.usefixtures("ledger")
def test_a_key_without_its_ledger_is_not_used_again(table: Path, tmp_path: Path) -> None:
    (tmp_path / "L").unlink()
    with pytest.raises(InvalidParameter, match="put the ledger back"):
        Ledger.create(tmp_path / "L", table, epsilon=1.0)


@pytest.mark.parametrize("claimed", [float("nan"), float("inf"), -1.0, 0.0])
def test_nobody_can_claim_to_spend_nothing(claimed: float) -> None:
    ledger = Ledger.temporary(epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidParameter, match="epsilon"):
        ledger.spend(Pure(0.5), what="free", epsilon=claimed)
    assert ledger.history() == []


def test_a_file_exchanged_while_a_spend_waits_is_noticed(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(tmp_path / "L", tmp_path / "copy")
    lock = fcntl.flock

    def exchanged(stream: Any, kind: int) -> None:
        if kind == fcntl.LOCK_EX:
            shutil.copy(tmp_path / "copy", tmp_path / "fresh")
            (tmp_path / "fresh").replace(tmp_path / "L")
        lock(stream, kind)

    monkeypatch.setattr(fcntl, "flock", exchanged)
    with pytest.raises(Tampered, match="exchanged"):
        ledger.spend(Pure(0.5), what="count()")


def test_a_machine_that_cannot_remember_says_so(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "file"))
    with pytest.warns(PrivacyWarning, match="MAHREM_STATE"):
        ledger.spend(Pure(0.5), what="count()")
    assert ledger.spent().epsilon == 0.5


def test_threads_sharing_a_ledger_never_exceed_it(ledger: Ledger) -> None:
    def spend(_: int) -> bool:
        try:
            ledger.spend(Pure(0.1), what="count()")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(24))) == 10
    assert ledger.spent().epsilon == pytest.approx(1.0)


def test_a_disk_that_is_full_releases_nothing(
    ledger: Ledger, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr("mahrem.dp._sources.Data.tally", lambda *_: pytest.fail("the data was looked at"))
    with pytest.raises(OutputFailed, match="nothing was released"):
        answer_query(table, "count()", ledger=ledger, epsilon=0.5)


KILLED = """
import os, signal, sys
from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query
import mahrem.dp._store as store
ledger = Ledger.open(sys.argv[1])
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "before":
    store.os.fsync = die
else:
    store.set_mark = die
print(answer_query(sys.argv[2], "count()", ledger=ledger, epsilon=0.7).value, flush=True)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_around_the_sync_prints_nothing_and_the_ledger_goes_on(
    ledger: Ledger, table: Path, tmp_path: Path, when: str
) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "L"), str(table), when]
    done = subprocess.run(command, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
    spent = Ledger.open(tmp_path / "L").spent().epsilon
    assert spent == pytest.approx(0.7) or (when == "before" and spent == 0)
    ledger.spend(Pure(0.3), what="count()")
    assert Ledger.open(tmp_path / "L").spent().epsilon == pytest.approx(spent + 0.3)


@pytest.mark.parametrize("composition", ["filter", "zcdp", "sum"])
def test_a_ledger_refuses_by_the_rule_it_was_made_with(composition: str, table: Path, tmp_path: Path) -> None:
    Ledger.create(tmp_path / "M", table, epsilon=2.0, delta=1e-6, composition=composition)
    ledger = Ledger.open(tmp_path / "M")
    assert ledger.data_sheet()["composition"] == composition
    paid = 0
    with pytest.raises(BudgetExceeded):
        for _ in range(200):
            ledger.spend(Pure(0.05), what="count()")
            paid += 1
    most = {"sum": 40, "zcdp": math.floor(rho_for(2.0, 5e-7) / (0.05**2 / 2))}  # pure DP is epsilon**2/2-zCDP
    if composition in most:
        assert paid == most[composition]
    else:  # one order instead of all: what is lost is less than a hundredth
        assert most["sum"] < 0.99 * most["zcdp"] <= paid <= most["zcdp"] + 1
    assert ledger.spent().epsilon <= 2.0 * (1 + 1e-9)


def test_a_ledger_for_a_fixed_plan_takes_that_plan_and_nothing_else(table: Path, tmp_path: Path) -> None:
    Ledger.create(tmp_path / "P", table, epsilon=2.0, delta=1e-6, composition="pld")
    ledger = Ledger.open(tmp_path / "P")
    with pytest.raises(InvalidParameter, match="fix the plan first"):
        ledger.spend(Pure(0.05), what="count()")
    with pytest.raises(BudgetExceeded):
        ledger.fix([Pure(0.05)] * 400)
    plan = [Pure(0.05)] * 70 + [Pure(0.1)] * 2
    ledger.fix(plan)
    with pytest.raises(InvalidParameter, match="cannot be changed"):
        ledger.fix(plan)
    for _ in range(70):
        ledger.spend(Pure(0.05), what="count()")
    with pytest.raises(BudgetExceeded, match="fixed plan"):
        ledger.spend(Pure(0.05), what="count()")
    Ledger.open(tmp_path / "P").spend(Pure(0.1), what="count()")
    with pytest.raises(BudgetExceeded, match="fixed plan"):
        ledger.spend(Pure(0.05), what="count()")
    assert ledger.spent().epsilon < 2.0
    with pytest.raises(InvalidParameter, match="as they come"):
        Ledger.temporary(epsilon=1).fix(plan)
