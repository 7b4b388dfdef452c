from __future__ import annotations

from pathlib import Path

import pytest

from mahrem.experiments import Row, reproduce, write_rows
from mahrem.experiments import _stoldt2019 as paper
from mahrem.experiments._row import published_rows

pytestmark = pytest.mark.data


@pytest.fixture(scope="module", autouse=True)
def small(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()


@pytest.fixture(scope="module")
def histogram(small: None) -> list[Row]:  # noqa: ARG001 - needs the files
    return reproduce("stoldt2019", ["histogram", "runs"], quick=True)


def test_the_claims_are_in_the_package_and_stand_beside_the_published_method() -> None:
    claims = {row["against"]: float(row["ratio"]) for row in published_rows("stoldt2019_claims")}
    assert claims == {"mdav+": 0.826, "mdav*": 0.884, "kanonymeans": 0.97}


@pytest.mark.parametrize(
    ("dataset", "k", "percent"),
    [("Census", 3, 5.6922), ("Tarragona", 5, 22.4619), ("Cloud1", 10, 7.0539), ("Cloud2", 3, 1.2071)],
)
def test_classic_mdav_lands_on_the_values_of_the_literature(dataset: str, k: int, percent: float) -> None:
    assert paper._loss(dataset, k, "mdav", 0) == pytest.approx(percent, abs=0.001)


def test_every_run_of_the_histogram_is_in_one_bin(histogram: list[Row]) -> None:
    bins = [row.ours for row in histogram if row.metric == "runs_in_bin"]
    assert sum(count for count in bins if count is not None) == 20
    figures = {
        row.metric: row.ours or 0.0
        for row in histogram
        if row.method == "kanonymeans" and row.table == "histogram"
    }
    assert figures["smallest"] <= figures["mean"] <= figures["largest"]


def test_more_runs_never_have_a_larger_smallest_loss_than_the_pool(histogram: list[Row]) -> None:
    least = next(row.ours for row in histogram if row.metric == "smallest" and row.table == "histogram")
    found = [row for row in histogram if row.table == "runs" and row.method == "kanonymeans"]
    assert {row.setting["runs"] for row in found} == {5, 10}
    assert all((row.ours or 0.0) >= (least or 0.0) for row in found)


def test_the_tables_are_drawn(histogram: list[Row], tmp_path: Path) -> None:
    names = {path.name for path in write_rows(histogram, tmp_path)}
    assert {"stoldt2019-histogram.svg", "stoldt2019-runs.svg", "stoldt2019.csv"} <= names


def test_losses_do_not_change_from_call_to_call() -> None:
    first = paper._loss("SimC", 10, "kanonymeans", 0)
    paper._loss.cache_clear()
    assert paper._loss("SimC", 10, "kanonymeans", 0) == first


def test_ours_loses_less_than_mdav_plus_on_clustered_data() -> None:
    assert paper._loss("SimC", 20, paper.BEST, 2) < paper._loss("SimC", 20, "mdav+", 0)
