"""Examples run as they are."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(
    path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    if "spark" in path.stem:
        request.getfixturevalue("one_at_a_time")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
