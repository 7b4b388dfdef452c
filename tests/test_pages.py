"""Pages run from top to bottom as they are written: every command and every line of Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
# What must be installed for a page; the others need nothing.
NEEDS = {
    "docs/guide/audit.md": ("cryptography",),
    "docs/guide/federated.md": ("cryptography",),
    "docs/guide/federated-learning.md": ("torch",),
    "docs/guide/private-regression.md": ("opendp", "dp_accounting", "torch", "sklearn"),
    "docs/guide/scikit-learn.md": ("sklearn", "altair"),
    "docs/guide/queries.md": ("opendp", "dp_accounting"),
    "docs/guide/synthesize.md": ("opendp", "dp_accounting", "torch", "sklearn"),
    "docs/guide/survey-risk.md": ("scipy",),
    "docs/theory/automatic-generalisation.md": ("sklearn",),
    "docs/theory/private-levels.md": ("opendp", "dp_accounting"),
    "docs/guide/training.md": ("opendp", "dp_accounting", "torch", "opacus", "sklearn"),
}
# Why a block may say that it is not run, and how often each is said. The counts only ever fall.
REASONS = {
    "cluster": "tests/spark start a cluster and run the same calls",
    "houses": "between several houses; test_guides.py of tests/federated follows two such pages line by line",
    "minutes": "it trains, attacks or reproduces for minutes; the verbs have quick tests",
    "own": "it begins with images, networks or series of the reader's own",
    "server": "a server does not end; tests/web start one",
}
NOT_RUN = {"cluster": 3, "houses": 7, "minutes": 17, "own": 8, "server": 2}
SHELL, PYTHON = {"", "sh", "bash"}, {"python"}
SHOWN = {"text", "toml", "json", "yaml", "sql"}  # files; of dbt's, test_dbt_package.py runs the commands
CONSOLE = {"console"}  # lines of several parties, and what they are told
FOLLOWED = {"docs/guide/federated-hospitals.md", "docs/guide/federated-vertical.md"}  # by test_guides.py
BLOCK = re.compile(r"(?:^<!-- not run: ([a-z]+) -->\n)?^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEFORE = re.compile(r"^<!-- before: (.*) -->$", re.MULTILINE)  # what a page takes for granted: its tables
NAMES = re.compile(r"^<!-- names: (.*) -->$", re.MULTILINE)  # and names that its Python takes for granted
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
    excuse: str  # why it is not run; empty where it is
    kind: str
    text: str

    @property
    def runs(self) -> bool:
        return not self.excuse and self.kind in SHELL | PYTHON


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page)]


def commands(text: str) -> Iterator[str]:
    """Give the commands of a shell block; one that goes on in the next line stays whole."""
    for line in re.split(r"(?<!\\)\n", text):
        if line.strip() and not line.startswith(("#", *ELSEWHERE)):
            yield line


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


PAGES = [
    "README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]
RUN = [page for page in PAGES if any(block.runs for block in blocks(read(page)))]


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


@pytest.mark.parametrize("page", RUN, ids=lambda page: Path(page).stem)
def test_a_page_runs_from_top_to_bottom(
    page: str, reader: Reader, missing_part: Callable[[str], None]
) -> None:
    for part in NEEDS.get(page, ()):
        if find_spec(part) is None:
            missing_part(f"{page} needs {part}")
    for command in BEFORE.findall(read(page)):
        reader.type(command)
    for code in NAMES.findall(read(page)):
        reader.run(code)
    for block in blocks(read(page)):
        if block.runs and block.kind in PYTHON:
            reader.run(block.text)
        elif block.runs:
            for command in commands(block.text):
                reader.type(command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    found = blocks(read(page))
    assert {block.kind for block in found} <= SHELL | PYTHON | SHOWN | CONSOLE
    assert 2 * len(found) == len(re.findall(r"^\s*```", read(page), re.MULTILINE)), "a fence is lost"
    assert {block.excuse for block in found} <= {"", *REASONS}
    assert not [block for block in found if block.excuse and block.kind in SHOWN], "it is only shown anyway"
    for block in found:
        if block.kind in CONSOLE:
            assert bool(block.excuse) == (page not in FOLLOWED)
    assert len(re.findall("<!-- not run", read(page))) == sum(bool(block.excuse) for block in found)


def test_few_blocks_are_not_run_and_none_is_added() -> None:
    found = [block for page in PAGES for block in blocks(read(page))]
    assert Counter(block.excuse for block in found if block.excuse) == NOT_RUN
    assert sum(block.runs for block in found) >= 66


@pytest.mark.parametrize("page", sorted(FOLLOWED))
def test_what_several_houses_type_is_followed_by_another_test(page: str) -> None:
    """Lines of a console are run there, between processes; elsewhere they are only shown."""
    guides = (ROOT / "tests" / "federated" / "flower" / "test_guides.py").read_text(encoding="utf-8")
    assert f'follow("{Path(page).name}"' in guides


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_every_row_of_a_table_stands_below_its_head(page: str) -> None:
    """An empty line ends a table: rows behind it are shown as they are typed."""
    prose = re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\|\n)+", prose, re.MULTILINE):
        assert re.match(r".*\n\|[\s:|-]+\|\n", table), table.partition("\n")[0]


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
