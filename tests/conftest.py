"""What tests of several rooms need."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def missing_part() -> Callable[[str], None]:
    """Skip for a part that is not there; in CI that is a failure."""

    def stop(what: str) -> None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what}; in CI every part must be there")
        pytest.skip(what)

    return stop


@pytest.fixture(scope="session")
def benchmark_data(missing_part: Callable[[str], None]) -> Path:
    """The folder with benchmark files."""
    folder = Path(os.environ.get("MAHREM_DATA", "") or "nowhere")
    if not folder.is_dir():
        missing_part("MAHREM_DATA names no folder with benchmark files")
    return folder
