"""Private tables compared: figures are there, runs are bounded and taken up again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mahrem.errors import InvalidParameter
from mahrem.experiments import _dp_tables as tables
from mahrem.experiments import reproduce
from mahrem.experiments._table_sets import BINS, TABLE_SETS, table_set

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("benchmark_data")]


@pytest.mark.parametrize("name", TABLE_SETS)
def test_every_set_has_few_bins_and_rows_that_nobody_sees(name: str) -> None:
    held = table_set(name)
    assert all(2 <= size <= BINS for size in held.sizes.values())
    assert held.target in held.sizes
    for part in (held.train, held.test):
        codes = held.codes(part)
        assert codes.min() == 0
        assert (codes.max(axis=0) < list(held.sizes.values())).all()
    assert 0.2 < held.test.height / (held.train.height + held.test.height) < 0.4


def test_figures_are_made_once_and_then_taken_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("opendp")

    def run() -> dict[tuple[str, str], float | None]:
        rows = reproduce("dp-tables", ["nursery"], quick=True, only=["tree", "independent"], folder=tmp_path)
        return {(row.method, row.metric): row.ours for row in rows}

    found = run()
    assert found["tree", "pairs off by"] is not None
    assert 0 < found["tree", "pairs off by"] < 0.1
    assert found["independent", "triples off by"] > found["independent", "pairs off by"]  # type: ignore[operator]
    monkeypatch.setattr(tables, "measured", lambda _: pytest.fail("it was run again"))
    assert run() == found


def test_a_run_that_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    task = tables.TableTask("nursery", "ours", 1.0, quick=False)
    assert "stopped" in tables._run(task, 0.01, tmp_path)["note"]
    assert "stopped" in (tmp_path / task.file).read_text()


def test_bounds_are_refused_where_they_say_nothing() -> None:
    with pytest.raises(InvalidParameter, match="no long runs"):
        reproduce("dp-load", seconds=3)
    with pytest.raises(InvalidParameter, match="only"):
        reproduce("dp-tables", ["nursery"], only=["magic"])


def test_the_error_of_a_workload_is_the_mean_over_its_tables() -> None:
    real = np.array([[0, 0, 0], [1, 1, 0]])
    made = np.array([[0, 1, 0], [1, 0, 0]])
    assert tables.workload_error(real, made, [2, 2, 2], 2) == pytest.approx(1 / 3)
