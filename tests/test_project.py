"""The house keeps its own rules."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import mahrem
from mahrem.cli._app import COMMANDS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = sorted(module.name for module in pkgutil.iter_modules(mahrem.__path__) if module.ispkg)
INNER_ROOMS = sorted(
    ".".join(path.parent.relative_to(mahrem.__path__[0]).parts)
    for path in Path(mahrem.__path__[0]).rglob("__init__.py")
    if len(path.relative_to(mahrem.__path__[0]).parts) > 2
)
MOST_NAMES = 40  # of a room; what has more is several rooms, or families with modules of their own
MOST_FILES = 40


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[ ]", text)[0].lower().replace("_", "-") for text in requirements}


@pytest.mark.parametrize("room", [*ROOMS, *INNER_ROOMS])
def test_every_room_says_what_it_offers_and_offers_it(room: str) -> None:
    module = importlib.import_module(f"mahrem.{room}")
    assert module.__doc__
    assert len(module.__all__) == len(set(module.__all__))
    assert len(module.__all__) <= MOST_NAMES
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_no_room_has_more_files_than_one_can_see() -> None:
    folders = {path.parent for path in Path(mahrem.__path__[0]).rglob("*.py")}
    assert {
        folder.name: count for folder in folders if (count := len([*folder.glob("*.py")])) > MOST_FILES
    } == {}


@pytest.mark.parametrize("name", mahrem.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(mahrem, name).__doc__


def test_importing_mahrem_pulls_in_nothing_heavy() -> None:
    heavy = (
        "mahrem.arrays",
        "polars",
        "pandas",
        "pyarrow",
        "scipy",
        "narwhals",
        "typer",
        "rich",
        "jinja2",
        "duckdb",
        "sklearn",
        "torch",
        "opendp",
        "dp_accounting",
    )
    probe = f"import sys, mahrem; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_developers_install_is_what_the_package_needs() -> None:
    listed = {
        line.strip().lower()
        for line in (ROOT / "requirements-dev.txt").read_text().splitlines()
        if line and line[0] != "#"
    }
    project = PROJECT["project"]
    needed = names(project["dependencies"])
    for extra, requirements in project["optional-dependencies"].items():
        needed |= names(requirements) if extra != "all" else set()
    for group in PROJECT["dependency-groups"].values():
        needed |= names(group)
    assert needed <= listed
    pinned = names((ROOT / "constraints.txt").read_text().splitlines())
    assert listed <= pinned


def test_torch_is_pinned_exactly() -> None:
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().splitlines()


def test_the_layers_name_every_room() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (layers,) = (contract for contract in contracts if contract.get("containers") == ["mahrem"])
    assert layers["exhaustive"] is True
    named = {room.strip() for line in layers["layers"] for room in line.split("|")}
    assert set(ROOMS) <= named


NAMED_FILE = re.compile(r"`((?:[a-z_]+/)*_?[a-z]\w*\.(?:py|toml))`")


@pytest.mark.parametrize("page", ["docs/design.md", "CONTRIBUTING.md"])
def test_files_that_the_pages_about_the_house_name_are_there(page: str) -> None:
    places = (ROOT, ROOT / "src" / "mahrem")
    named = [name for name in NAMED_FILE.findall((ROOT / page).read_text("utf-8")) if "yours" not in name]
    assert len(named) > 20
    whole = [name for name in named if "/" in name]  # one without a folder is beside the one named before
    assert [name for name in whole if not any((place / name).is_file() for place in places)] == []


def test_the_design_draws_the_rooms_of_the_contracts() -> None:
    """Every room within that has a contract has a line, which names all rooms of the contract."""
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    drawn = dict(re.findall(r"^\| `([a-z/_]+)` \| (.+) \|$", text, flags=re.MULTILINE))
    for contract in PROJECT["tool"]["importlinter"]["contracts"]:
        (container,) = contract.get("containers", ["mahrem"])
        within = {room.strip() for line in contract.get("layers", []) for room in line.split("|")}
        rooms = {room for room in within if not room.startswith("_")}
        if container == "mahrem":
            assert rooms <= set(re.findall(r"\w+", text.split("```")[1]))
        else:
            line = drawn[container.removeprefix("mahrem.").replace(".", "/")]
            assert rooms <= set(re.findall(r"\w+", line))


ANONYMIZE = (
    *("anonymize", "patients.csv", "--qi", "age,sex,zip", "--sensitive", "diagnosis", "--rest", "drop"),
    *("-k", "5", "-o", "release"),
)


@pytest.mark.parametrize(
    ("verb", "most", "used"),
    # Whoever looks at every cell of a table reads texts where they lie, through Arrow.
    [
        (("--version",), 40, []),
        (("--help",), 64 + len(set(COMMANDS.values())), []),  # each has its module
        ((*ANONYMIZE, "--no-html"), 150, ["numpy", "polars", "pyarrow"]),
        (ANONYMIZE, 195, ["numpy", "polars", "pyarrow"]),
        (("demo", "-o", "demo"), 205, ["numpy", "polars", "pyarrow"]),
    ],
)
def test_a_verb_loads_only_what_it_uses(
    tmp_path: Path, verb: tuple[str, ...], most: int, used: list[str]
) -> None:
    mahrem.demo_patients(300).drop("name").write_csv(tmp_path / "patients.csv")
    probe = """
import sys
from mahrem.cli import main
try:
    main()
finally:
    heavy = ("numba", "numpy", "polars", "pyarrow", "pandas", "scipy", "sklearn")
    heavy = [name for name in heavy if name in sys.modules]
    print(sum(name.split(".")[0] == "mahrem" for name in sys.modules), *heavy, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", probe, *verb], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    count, *heavy = done.stderr.splitlines()[-1].split()
    assert int(count) <= most
    assert heavy == used


# They still look into a private module of another room. Entries only ever leave this list.
LOOKING_INSIDE = {"experiments/_dp_series.py", "experiments/_federated_shapes.py", "metrics/_utility.py"}


# Deeds that tell nobody what a thing is: settings, results, reports and findings have names of their own.
DEEDS = {"said", "told", "made", "found"}


def test_no_module_looks_into_a_private_module_of_another_room() -> None:
    looking: set[str] = set()
    for place, (modules, _) in _sources().items():
        own = ".".join(("mahrem", *place.split("/")[:-1]))
        for module in modules:
            room, private, _ = module.partition("._")
            if private and not (own == room or own.startswith(f"{room}.")):
                looking.add(place)
    assert looking <= LOOKING_INSIDE


def test_no_name_tells_only_that_something_was_said_or_found() -> None:
    named = {
        place: {name for name in names if name.strip("_") in DEEDS}
        for place, (_, names) in _sources().items()
    }
    assert {place: names for place, names in named.items() if names} == {}


@cache
def _sources() -> dict[str, tuple[set[str], set[str]]]:
    """Give by file the modules of ours that it imports, and every name in it: one walk for both."""
    root = ROOT / "src" / "mahrem"
    sources: dict[str, tuple[set[str], set[str]]] = {}
    for path in sorted(root.rglob("*.py")):
        modules: set[str] = set()
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules.update(_imported(node))
            names.update(_named(node))
        sources[path.relative_to(root).as_posix()] = modules, names
    return sources


def _named(node: ast.AST) -> list[str]:
    """Give the names in a node: of a variable, parameter, keyword, attribute, function, class or import."""
    names = (getattr(node, field, None) for field in ("id", "arg", "attr", "name", "asname"))
    return [name for name in names if isinstance(name, str)]


def _imported(node: ast.AST) -> list[str]:
    """Name the modules of ours that a statement imports; a name that begins with _ may be one too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.startswith("mahrem.")]
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("mahrem"):
        return []
    inside = [f"{node.module}.{alias.name}" for alias in node.names if re.match(r"_[a-z]", alias.name)]
    return [node.module or "", *inside]
