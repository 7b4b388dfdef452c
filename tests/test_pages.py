"""Pages run from top to bottom as they are written: every command and every line of Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
# Each page, and what must be installed for it.
PAGES = {
    "README.md": (),
    "docs/start.md": (),
    "docs/start.de.md": (),
    "docs/start.tr.md": (),
    "docs/index.md": (),
    "docs/design.md": (),
    "docs/guide/apply.md": (),
    "docs/guide/audit.md": ("cryptography",),
    "docs/guide/coarsen.md": (),
    "docs/guide/gate.md": (),
    "docs/guide/hierarchies.md": (),
    "docs/guide/policies.md": (),
    "docs/guide/scikit-learn.md": ("sklearn", "altair"),
    "docs/guide/queries.md": ("opendp", "dp_accounting"),
    "docs/guide/synthesize.md": ("opendp", "dp_accounting", "torch", "sklearn"),
    "docs/guide/attack.md": (),
    "docs/guide/command-line.md": (),
    "docs/guide/compare.md": (),
    "docs/guide/contents.md": (),
    "docs/guide/extend.md": (),
    "docs/guide/hidden-cells.md": (),
    "docs/guide/memory.md": (),
    "docs/guide/perturb.md": (),
    "docs/guide/policy.md": (),
    "docs/guide/reading.md": (),
    "docs/guide/survey-risk.md": ("scipy",),
    "docs/theory/automatic-generalisation.md": ("sklearn",),
    "docs/theory/full-domain.md": (),
    "docs/theory/private-levels.md": ("opendp", "dp_accounting"),
    "docs/guide/training.md": ("opendp", "dp_accounting", "torch", "opacus", "sklearn"),
}
# Pages with blocks that are not run here, and why. Entries only ever leave this list.
NOT_RUN = {
    "docs/guide/audit-models.md": "trains models and their shadows for minutes",
    "docs/guide/federated.md": "several houses; tests/federated run its verbs between processes",
    "docs/guide/federated-hospitals.md": "the same",
    "docs/guide/federated-learning.md": "the same",
    "docs/guide/federated-shapes.md": "the same",
    "docs/guide/federated-vertical.md": "the same",
    "docs/guide/learning.md": "classifiers after every method and k: minutes",
    "docs/guide/pairs.md": "images and a network of the reader's",
    "docs/guide/private-regression.md": "the same",
    "docs/guide/report.md": "three reports with classifiers and attacks: above ten seconds",
    "docs/guide/reproduce.md": "minutes to hours; tests/experiments run each quickly",
    "docs/guide/series.md": "24 columns, of which the page spells two",
    "docs/guide/serve.md": "a server does not end",
    "docs/guide/spark.md": "a cluster; tests/spark start one",
}
SHELL, PYTHON, SHOWN = {"", "sh", "bash"}, {"python"}, {"text", "toml", "json"}
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEFORE = re.compile(r"^<!-- before: (.*) -->$", re.MULTILINE)  # what a page takes for granted: its tables
EXIT = re.compile(r"# exit code (\d+)")
ELSEWHERE = ("pip install ", "make ")  # other tests run these
LONGEST = 120  # seconds that one command may take
# One process for all blocks of a page: a line of JSON in is a block, a line out says that it ran.
READER = """
import json, sys
told, sys.stdout = sys.stdout, sys.stderr
names = {"__name__": "__main__"}
for line in sys.stdin:
    exec(compile(json.loads(line), "block", "exec"), names)
    print("done", file=told, flush=True)
"""


class Block(NamedTuple):
    kind: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page)]


def commands(text: str) -> Iterator[str]:
    """Give the commands of a shell block; one that goes on in the next line stays whole."""
    for line in re.split(r"(?<!\\)\n", text):
        if line.strip() and not line.startswith(("#", *ELSEWHERE)):
            yield line


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


class Reader:
    """Somebody who types a page into an empty folder."""

    def __init__(self, home: Path) -> None:
        self.folder, self.errors = home / "folder", home / "errors"
        self.folder.mkdir()
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        self.world = {**os.environ, "PATH": path, "MAHREM_STATE": str(home / "state")}
        self.python: subprocess.Popen[str] | None = None

    def type(self, command: str) -> None:
        found = EXIT.search(command)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.world,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert done.returncode == (int(found[1]) if found else 0), f"{command}\n{done.stdout}{done.stderr}"

    def run(self, code: str) -> None:
        if self.python is None:
            with self.errors.open("w", encoding="utf-8") as errors:
                self.python = subprocess.Popen(
                    ["python", "-c", READER],
                    cwd=self.folder,
                    env=self.world,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
        assert self.python.stdin is not None
        assert self.python.stdout is not None
        self.python.stdin.write(json.dumps(code) + "\n")
        self.python.stdin.flush()
        said = self.python.stdout.readline()
        assert said == "done\n", f"{code}\n{self.errors.read_text(encoding='utf-8')}"

    def close(self) -> None:
        if self.python is not None:
            self.python.communicate(timeout=LONGEST)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    somebody = Reader(tmp_path)
    yield somebody
    somebody.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_a_page_runs_from_top_to_bottom(
    page: str, reader: Reader, missing_part: Callable[[str], None]
) -> None:
    for part in PAGES[page]:
        if find_spec(part) is None:
            missing_part(f"{page} needs {part}")
    for command in BEFORE.findall(read(page)):
        reader.type(command)
    for block in blocks(read(page)):
        if block.kind in SHELL:
            for command in commands(block.text):
                reader.type(command)
        elif block.kind in PYTHON:
            reader.run(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_every_block_is_run_or_says_that_it_is_only_shown(page: str) -> None:
    found = blocks(read(page))
    assert {block.kind for block in found} <= SHELL | PYTHON | SHOWN
    assert 2 * len(found) == len(re.findall(r"^\s*```", read(page), re.MULTILINE)), "a fence is lost"


def test_no_page_with_blocks_is_forgotten() -> None:
    written = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert {page for page in written if blocks(read(page))} - set(PAGES) == set(NOT_RUN)


def test_a_reader_notices_what_does_not_run(tmp_path: Path, reader: Reader) -> None:
    reader.type("exit 3  # exit code 3")
    reader.type("test \\\n    -d .")
    with pytest.raises(AssertionError, match="exit 3"):
        reader.type("exit 3")
    reader.run("frame = 1")
    reader.run("frame += 1; print(frame)")
    assert (tmp_path / "errors").read_text(encoding="utf-8") == "2\n"
    with pytest.raises(AssertionError, match="NameError"):
        reader.run("nobody")


def test_the_readme_says_once_how_to_install() -> None:
    lines = re.findall(r"^pip install .*$", read("README.md"), re.MULTILINE)
    assert lines == ["pip install mahrem"]


def test_links_of_the_readme_hold_on_a_package_index() -> None:
    ours = re.compile(
        r"https://(?:github\.com/mahrem/mahrem/blob|raw\.githubusercontent\.com/mahrem/mahrem)/main/(.+)"
    )
    links = re.findall(r"\]\(([^)]+)\)", read("README.md"))
    assert links
    for link in links:
        found = ours.fullmatch(link)
        assert found, f"{link} is relative to the repository"
        assert (ROOT / found[1].partition("#")[0]).is_file(), f"{link} leads nowhere"
