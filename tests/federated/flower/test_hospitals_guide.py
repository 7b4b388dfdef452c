"""The guide of three hospitals, run as it stands: server and clients are real processes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from federation_processes import PATIENCE, free_port, load_flower
from mahrem.cli._app import _run

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "federated-hospitals.md"
LINE = re.compile(r"^(\w+)\$ mahrem (.*?)( &)?(?:\s+# exit code (\d+))?$")


def patients(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, days = rng.integers(18, 95, rows), rng.integers(1, 30, rows)
    back = rng.random(rows) < 1 / (1 + np.exp(-(age + 2 * days - 85) / 6))
    sex = rng.choice(["female", "male"], rows)
    return pl.DataFrame({"age": age, "sex": sex, "days": days, "readmitted": np.where(back, "yes", "no")})


@dataclass
class Houses:
    """Folders of the parties, and what runs in them."""

    base: Path
    port: int
    capsys: pytest.CaptureFixture[str]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def do(self, party: str, words: str, code: int, *, stays: bool) -> None:
        words = words.replace("127.0.0.1:9443", f"127.0.0.1:{self.port}")
        home = self.base / party
        if not stays:
            os.chdir(home)
            found = _run(shlex.split(words))
            told = self.capsys.readouterr()
            assert found == code, f"{party}$ {words}\n{told.out}{told.err}"
            self.said.append(told.out + told.err)
            return
        command = [sys.executable, "-m", "mahrem", *shlex.split(words)]
        log = home / f"{len(self.running)}.log"
        with log.open("wb") as file:
            self.running.append(subprocess.Popen(command, cwd=home, stderr=file, stdout=file))
        end = time.monotonic() + PATIENCE
        while not re.search("listening|connected", log.read_text()):
            assert self.running[-1].poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)


@pytest.fixture
def houses(
    tmp_path: Path,
    missing_part: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Houses]:
    load_flower(missing_part)
    monkeypatch.chdir(tmp_path)
    for seed, party in enumerate(("coordinator", "north", "south", "west")):
        (tmp_path / party).mkdir()
        patients(120, seed).write_csv(tmp_path / party / "patients.csv")
    raw = patients(120, 3).with_columns(pl.col("sex").str.head(1).str.to_uppercase(), pl.col("days") * 24)
    raw.write_csv(tmp_path / "west" / "raw.csv")
    patients(2000, 7).write_csv(tmp_path / "coordinator" / "public.csv")
    patients(300, 8).write_csv(tmp_path / "coordinator" / "test.csv")
    patients(50, 9).drop("readmitted").write_csv(tmp_path / "north" / "new.csv")
    made = Houses(tmp_path, free_port(), capsys)
    try:
        yield made
    finally:
        for process in reversed(made.running):
            process.terminate()
        for process in made.running:
            process.wait(timeout=20)


def test_every_command_of_the_guide_does_what_it_says(houses: Houses) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    lines = [
        line for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]
    assert len(lines) > 12
    for line in lines:
        found = LINE.match(line)
        assert found, line
        houses.do(found[1], found[2], int(found[4] or 0), stays=bool(found[3]))
    said = "\n".join(houses.said)
    assert "missing: west" in said
    assert "2 faults" in said
    run = houses.base / "coordinator" / "run"
    assert pl.read_csv(houses.base / "north" / "predicted.csv").height == 50
    accuracy = pl.read_csv(run / "learning.csv")["accuracy"][-1]
    assert accuracy > 0.8
    assert "Üyeler" in (houses.base / "coordinator" / "rapor.html").read_text()
    assert (run / "report.json").is_file()
    client = houses.running.pop()
    client.terminate()
    assert client.wait(timeout=PATIENCE) == 0  # a clean leave
    houses.do("coordinator", "federate status study", 1, stays=False)
    assert re.search(r"west +offline", houses.said[-1])
