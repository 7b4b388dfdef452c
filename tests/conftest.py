"""What tests of several rooms need."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from postgres_server import postgres  # noqa: F401 - a fixture


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each room took, so that a slow one is seen at once."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder, _, rest = report.nodeid.partition("/")
                room = rest.split("/")[0] if "/" in rest else "the house itself"
                seconds["doctests" if folder == "src" else room] += report.duration
    terminalreporter.write_sep("=", "seconds per room")
    for room, spent in seconds.most_common():
        terminalreporter.write_line(f"{spent:7.1f}  {room}")
