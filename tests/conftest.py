"""What tests of several rooms need."""

from __future__ import annotations

import csv
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import hypothesis
import numpy as np
import pytest

from mahrem.types import Points
from postgres_server import postgres  # noqa: F401 - a fixture
from spark_cluster import one_at_a_time, spark_cluster, spark_session  # noqa: F401 - fixtures


def pytest_configure() -> None:
    """Let nothing hang on how tests are started, or on what else the machine does."""
    # A busy machine is no fault of an example.
    hypothesis.settings.register_profile("patient", hypothesis.settings(), deadline=None)
    hypothesis.settings.load_profile("patient")
    # A shell that starts tests in the background has them ignore ctrl-C, and some press it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests on Spark first: one worker then does them all, and none waits for the other's cluster."""
    clusters = {"spark_session", "spark_cluster", "one_at_a_time"}
    items.sort(key=lambda item: clusters.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test is a new user: nobody was released before."""
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path_factory.getbasetemp() / f"state-{uuid4().hex}"))


@pytest.fixture(scope="session")
def missing_part() -> Callable[[str], None]:
    """Skip for a part that is not there; in CI that is a failure."""

    def stop(what: str) -> None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what}; in CI every part must be there")
        pytest.skip(what)

    return stop


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process; gives its exit code and what it said on both channels."""
    from mahrem.cli._app import _run

    def runs(*arguments: object) -> tuple[int, str, str]:
        code = _run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


@pytest.fixture(scope="session")
def benchmark_data(missing_part: Callable[[str], None]) -> Path:
    """The folder with benchmark files."""
    folder = Path(os.environ.get("MAHREM_DATA", "") or "nowhere")
    if not folder.is_dir():
        missing_part("MAHREM_DATA names no folder with benchmark files")
    return folder


@pytest.fixture(scope="session")
def adult(benchmark_data: Path) -> Points:
    """Adult, 30,162 rows without a gap: the five columns of the literature, scaled to [0, 1]."""
    names = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
    with (benchmark_data / "adult_train.csv").open(encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if "?" not in row.values()]
    points = np.array([[float(row[name]) for name in names] for row in kept])
    return (points - points.min(axis=0)) / np.ptp(points, axis=0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each room took, so that a slow one is seen at once."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and not isinstance(report, pytest.SubtestReport):
                folder, _, rest = report.nodeid.partition("::")[0].partition("/")  # parameters have slashes
                room = rest.split("/")[0] if "/" in rest else "the house itself"
                seconds["doctests" if folder == "src" else room] += report.duration
    terminalreporter.write_sep("=", "seconds per room")
    for room, spent in seconds.most_common():
        terminalreporter.write_line(f"{spent:7.1f}  {room}")
