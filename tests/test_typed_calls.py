"""A type checker sees what a person misspells: names of methods, kinds, settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CALLS = """
import mahrem as mh

release = mh.anonymize("table.csv", quasi=["age"], {wrong}, k=5)
print(release.holds)
"""
NAMES = """
import mahrem as mh
from mahrem import models

print(mh.demo_patients, mh.__version__, models.KAnonymity)
"""
NO_NAMES = ("mh.anonymise", "mh.offered", "models.KAnonimity", "models.counts")
WRONG = {
    "a method": 'method="mondrain"',
    "a kind of diversity": 'sensitive="d", l=2, l_kind="entropic"',
    "a format": 'format="excel"',
    "a setting": "kk=3",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of all calls at once: it takes seconds to start."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("calls")
    for place, wrong in enumerate(WRONG.values()):
        (folder / f"call_{place}.py").write_text(CALLS.format(wrong=wrong), encoding="utf-8")
    (folder / "call_right.py").write_text(CALLS.format(wrong='method="mosaic"'), encoding="utf-8")
    (folder / "names_right.py").write_text(NAMES, encoding="utf-8")
    for place, name in enumerate(NO_NAMES):
        (folder / f"name_{place}.py").write_text(f"{NAMES}print({name})\n", encoding="utf-8")
    files = sorted(str(path) for path in folder.glob("*.py"))
    root = Path(__file__).parent.parent  # its settings and its cache: what was checked is not checked again
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("place", range(len(WRONG)), ids=list(WRONG))
def test_what_is_misspelt_is_caught(checked: str, place: int) -> None:
    assert f"call_{place}.py" in checked


@pytest.mark.parametrize("place", range(len(NO_NAMES)), ids=NO_NAMES)
def test_a_name_that_no_room_offers_is_caught(checked: str, place: int) -> None:
    assert f"name_{place}.py" in checked


def test_what_is_right_passes(checked: str) -> None:
    assert "call_right.py" not in checked
    assert "names_right.py" not in checked
    assert "error:" in checked
