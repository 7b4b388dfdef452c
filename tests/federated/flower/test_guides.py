"""Guides of federations, run as they stand: server and clients are real processes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer

from federation_processes import PATIENCE, free_port, load_flower
from mahrem.cli._app import _run
from mahrem.cli.federating import federate_verbs
from mahrem.federated import Federation, ShapeTask, SharedModel
from mahrem.federated.shapes import learn_vertical_trees
from mahrem.federated.wire import LocalGrid, Seal

GUIDES = Path(__file__).parents[3] / "docs" / "guide"
LINE = re.compile(r"^(\w+)\$ mahrem (.*?)( &)?(?:\s+# exit code (\d+))?$")
LEAVES = re.compile(r"^(\w+)\$ kill %1$")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    jobs: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)  # the first of each party

    def leave(self, party: str) -> None:
        self.jobs[party].terminate()
        assert self.jobs.pop(party).wait(timeout=PATIENCE) == 0

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
        self.jobs.setdefault(party, self.running[-1])
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
    made = Houses(tmp_path, free_port(), capsys)
    try:
        yield made
    finally:
        for process in reversed(made.running):
            process.terminate()
        for process in made.running:
            process.wait(timeout=20)


def follow(guide: str, houses: Houses) -> str:
    """Do what a guide says, line by line; gives all that was printed."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    lines = [line for block in CONSOLE.findall(text) for line in block.splitlines()]
    assert len(lines) > 12
    for line in lines:
        if left := LEAVES.match(line):
            houses.leave(left[1])
            continue
        found = LINE.match(line)
        assert found, line
        houses.do(found[1], found[2], int(found[4] or 0), stays=bool(found[3]))
    return "\n".join(houses.said)


def test_three_hospitals_come_from_nothing_to_a_prediction_and_a_report(houses: Houses) -> None:
    base = houses.base
    for seed, party in enumerate(("coordinator", "north", "south", "west")):
        (base / party).mkdir()
        patients(120, seed).write_csv(base / party / "patients.csv")
    raw = patients(120, 3).with_columns(pl.col("sex").str.head(1).str.to_uppercase(), pl.col("days") * 24)
    raw.write_csv(base / "west" / "raw.csv")
    patients(2000, 7).write_csv(base / "coordinator" / "public.csv")
    patients(300, 8).write_csv(base / "coordinator" / "test.csv")
    patients(50, 9).drop("readmitted").write_csv(base / "north" / "new.csv")
    said = follow("federated-hospitals.md", houses)
    assert "missing: west" in said
    assert "2 faults" in said
    run = base / "coordinator" / "run"
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


def shared_people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, blood, boxes = rng.integers(18, 95, rows), rng.normal(5, 1, rows).round(2), rng.integers(0, 20, rows)
    back = np.where(age / 10 + blood + boxes / 2 + rng.normal(0, 1, rows) > 16, "yes", "no")
    columns = {"nr": rng.permutation(10 * rows)[:rows], "age": age, "blood": blood, "boxes": boxes}
    return pl.DataFrame({**columns, "readmitted": back})


def test_trees_over_three_houses_columns_are_those_of_the_simulation(houses: Houses) -> None:
    whole, base = shared_people(300, 0), houses.base
    tables = {
        "clinic": ("patients", "age", "readmitted"),
        "lab": ("blood", "blood"),
        "pharmacy": ("sales", "boxes"),
    }
    parts = {}
    for seed, (party, (file, *columns)) in enumerate(tables.items()):
        (base / party).mkdir()
        parts[party] = whole.select("nr", *columns).sample(fraction=0.95, shuffle=True, seed=seed)
        parts[party].write_csv(base / party / f"{file}.csv")
    (base / "coordinator").mkdir()
    shared_people(2000, 7).drop("nr").write_csv(base / "coordinator" / "public.csv")
    new = shared_people(100, 9).drop("nr")
    new.drop("readmitted").write_csv(base / "clinic" / "new.csv")
    whole.select("nr", "age").head(80).write_csv(base / "clinic" / "newcomers.csv")
    said = follow("federated-vertical.md", houses)
    assert "model kept by" in said
    model = SharedModel.from_bytes((base / "clinic" / "model.npz").read_bytes())
    simulated = simulated_trees(base / "coordinator" / "study" / "federation.toml", parts)
    for name, held in simulated.arrays.items():
        assert np.array_equal(held, model.arrays[name])
    predicted = pl.read_csv(base / "clinic" / "predicted.csv")["prediction"]
    assert predicted.to_list() == simulated.predict(new).tolist()
    assert (predicted == new["readmitted"]).mean() > 0.7
    assert not list((base / "coordinator" / "run").glob("model*"))  # the server has none
    newcomers = pl.read_csv(base / "clinic" / "readmissions.csv")
    known = newcomers.with_columns(place=pl.int_range(pl.len())).drop_nulls("prediction")
    everywhere = set(parts["lab"]["nr"]) & set(parts["pharmacy"]["nr"])
    assert known["nr"].to_list() == [one for one in newcomers["nr"].to_list() if one in everywhere]
    assert known["prediction"].to_list() == simulated.predict(whole[known["place"].to_list()]).tolist()
    assert f"{known.height}, for clinic" in said


def simulated_trees(file: Path, parts: Mapping[str, pl.DataFrame]) -> SharedModel:
    """Learn by the same plan in this process, under another key."""
    task = Federation.read(file).task
    assert isinstance(task, ShapeTask)
    members = {name: task._client(name, part, Seal(bytes(32)), tuple(parts)) for name, part in parts.items()}
    learn_vertical_trees(LocalGrid(members), task.plan.plan(), task.schema.classes)  # type: ignore[arg-type]
    return members["clinic"].model()


PAGES = ("federated.md", "federated-learning.md", "federated-shapes.md")
SHOWN = re.compile(r"^(?:\w*)\$ mahrem (federate .*?)(?:\s+# .*)?$", re.MULTILINE)
MAKES = {"key", "schema", "init"}  # what needs no server is done, of the others the options are read


def commands(page: str) -> list[list[str]]:
    """Give the commands of a page's blocks that no guide above walks through."""
    text = (GUIDES / page).read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(line) for block in CONSOLE.findall(text) for line in SHOWN.findall(block)]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_the_reference_are_those_of_the_command_line(page: str, houses: Houses) -> None:
    found = commands(page)
    assert found
    for name in ("north", "south", "west", "east"):
        assert _run(["federate", "key", f"given-{name}"]) == 0
        Path(f"given-{name}.pub").rename(f"{name}.pub")
    patients(300, 1).rename({"readmitted": "income"}).write_csv("public.csv")
    Path("network.py").write_text(
        "import torch\n\n\ndef make(inputs, classes):\n    return torch.nn.Linear(inputs, classes)\n"
    )
    assert _run(["federate", "schema", "public.csv", "--target", "income", "-o", "schema.toml"]) == 0
    verbs = typer.main.get_command(federate_verbs).commands
    for number, words in enumerate(found):
        verb = verbs[words[1]]
        verb.make_parser(verb.context_class(verb)).parse_args(words[2:])  # refuses options that are none
        if words[1] in MAKES:
            places = {"study": f"study-{number}"} if words[1] == "init" else {"schema.toml": f"{number}.toml"}
            code, told = _run([places.get(word, word) for word in words]), houses.capsys.readouterr()
            assert code == 0, f"{shlex.join(words)}\n{told.out}{told.err}"
