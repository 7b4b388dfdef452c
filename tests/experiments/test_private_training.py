"""Private training on benchmark data, with tiny budgets: that it runs and keeps its promise."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from mahrem.experiments import reproduce  # noqa: E402 - after the extra was found

torch.set_num_threads(1)


@pytest.mark.data
def test_a_few_private_steps_already_read_digits(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()
    told: list[str] = []
    rows = reproduce("dp-mnist", ["quick"], quick=True, progress=told.append)
    ours = {row.metric: row.ours for row in rows if row.method == "dp-sgd (ours)"}
    assert 2.9 < (ours["epsilon"] or 0) <= 3
    assert (ours["accuracy in %"] or 0) > 50
    assert {row.published for row in rows if row.ours is None} == {96.6, 96.8, 98.1, 98.7}
    assert any("epsilon so far" in text for text in told)


@pytest.mark.data
def test_a_private_forecast_runs_at_every_epsilon(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()
    rows = reproduce("dp-load", quick=True)
    found = {(row.method, row.setting.get("epsilon")): row.ours for row in rows}
    assert set(found) >= {("lstm, private", 1.0), ("lstm, private", 8.0), ("lstm, not private", None)}
    assert all(value is not None and 0 < value < 6 for value in found.values())
