"""Pairs and made-up images on MNIST, days of a household, sanitised votes: their tables, and small runs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from mahrem.experiments import Row, reproduce
from mahrem.experiments import _dp_series as series


def test_a_window_ends_before_the_hour_it_foretells() -> None:
    days = np.arange(48.0).reshape(2, 24)
    rows, truth = series._windows(days)
    assert rows.shape == (24, 13)
    assert rows[0].tolist() == [*range(12), 12]
    assert truth[0] == 12
    assert (rows[:, -2] + 1 == truth).all()


def figures(rows: list[Row]) -> dict[tuple[str, str], float]:
    return {(row.method, row.metric): row.ours or 0.0 for row in rows}


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_small_run_of_series_gives_every_figure() -> None:
    found = figures(reproduce("dp-series", quick=True))
    error = "forecast error"
    assert found["real days", error] < found["the last hour again", error]
    assert found["real days", "mean of an hour, error"] == 0
    assert {"lstm", "lstm, not private"} < {method for method, _ in found}


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_small_run_of_pairs_gives_every_figure() -> None:
    found = figures(reproduce("dp-pairs", ["pairs"], quick=True))
    assert {method for method, _ in found} == {"pixels", "private", "not private"}
    assert all(0.5 < value <= 1 for (_, metric), value in found.items() if "AUC" in metric)


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_small_run_of_made_up_images_gives_figures_and_pictures() -> None:
    rows = reproduce("dp-synthetic-images", ["epsilon-10"], quick=True)
    found = figures(rows)
    for method in ("vae", "gan"):
        assert found[method, "epsilon"] == pytest.approx(10, rel=0.01)
        assert 5 < found[method, "accuracy in %"] <= 100
    pictures = [row.picture for row in rows if row.picture]
    assert [picture[1:4] for picture in pictures] == [b"PNG", b"PNG"]
