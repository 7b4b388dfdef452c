"""Messages speak the language of whoever calls: keywords in Python, options on the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import spell_option
from mahrem.errors import MahremError, options_spelled, spelled

SOURCE = Path(mh.__file__).parent
OPTION = re.compile(r"(?:^|[\s(:'\"])--[a-z]")
# Whole commands of the shell, and colours of a style sheet.
EXCEPTIONS = ("mahrem federate run --resume", "var(--")


def constants(tree: ast.AST) -> Iterator[ast.Constant]:
    """Give every text that may become part of a message: no docstrings, nothing inside ``either``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "either":
            continue
        if isinstance(node, ast.keyword) and node.arg == "spelling":  # how a setting is spelled as an option
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        yield from constants(node)


def test_no_message_outside_the_command_line_names_an_option() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{text.lineno}: {text.value!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in {"cli", "web"}
        if path.name != "_pdf.py"  # it starts a browser, which has options of its own
        for text in constants(ast.parse(path.read_text(encoding="utf-8")))
        if OPTION.search(str(text.value)) and not any(known in str(text.value) for known in EXCEPTIONS)
    ]
    assert found == []


def test_every_kind_of_value_is_spelled_both_ways() -> None:
    said = {
        ("force", True): ("force=True", "--force"),
        ("rest", "drop"): ("rest='drop'", "--rest drop"),
        ("learn_from", None): ("learn_from", "--learn-from"),
        ("null", "TOKEN"): ("null='TOKEN'", "--null TOKEN"),
        ("shadows", 16): ("shadows=16", "--shadows 16"),
        ("encoding", "a b"): ("encoding='a b'", "--encoding 'a b'"),
        ("quasi", ("a", "b")): ("quasi=('a', 'b')", "--qi a,b"),
    }
    assert {key: spelled(*key) for key in said} == {key: python for key, (python, _) in said.items()}
    with options_spelled(spell_option):
        assert {key: spelled(*key) for key in said} == {key: options for key, (_, options) in said.items()}
        assert spelled("kind", {"a b": "code"}) == "--kind 'a b=code'"
        assert spelled("weights", {"age": 2}) == "--weight age=2"
    assert spelled("kind", {"a b": "code"}) == "kind={'a b': 'code'}"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [1, 1, 2, 2], "sex": ["f", "m", "f", "m"]}).write_csv(path)
    return path


def test_the_same_mistake_is_told_in_both_languages(
    people: Path, tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    target = tmp_path / "release"
    mh.anonymize(people, quasi=["age"], rest="drop", k=2, output=target, html=False)
    mistakes = {
        ("rest='drop'", "--rest drop"): ({"quasi": ["age"]}, ["--qi", "age"]),
        ("force=True", "--force"): (
            {"quasi": ["age"], "rest": "drop"},
            ["--qi", "age", "--rest", "drop"],
        ),
        ("kind={'sex': 'categorical'}", "--kind sex=categorical"): (
            {"quasi": ["sex"], "rest": "drop", "kind": {"sex": "numeric"}},
            ["--qi", "sex", "--rest", "drop", "--kind", "sex=numeric"],
        ),
    }
    for (python, option), (settings, words) in mistakes.items():
        with pytest.raises(MahremError) as caught:
            mh.anonymize(people, k=2, output=target, html=False, **settings)
        assert python in str(caught.value)
        assert "--" not in str(caught.value)
        code, _, err = run("anonymize", people, "-k", "2", "-o", target, "--no-html", *words)
        assert (code, option in err, python in err) == (2, True, False)
    with pytest.raises(MahremError, match="force=True"):  # the command line is over
        mh.anonymize(people, quasi=["age"], rest="drop", k=2, output=target)
