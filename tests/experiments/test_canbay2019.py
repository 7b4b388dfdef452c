from __future__ import annotations

from pathlib import Path

import pytest

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.experiments import PAPERS, Row, reproduce
from mahrem.experiments._row import published_rows

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def relaxed(benchmark_data: Path) -> list[Row]:
    assert benchmark_data.is_dir()
    return reproduce("canbay2019", ["4.15", "4.9", "4.14"], quick=True)


def test_relaxed_classes_and_dm_are_the_printed_ones_to_the_unit(relaxed: list[Row]) -> None:
    fixed = [row for row in relaxed if row.metric in {"classes", "dm", "normal", "outliers"}]
    assert len(fixed) == 2 * 2 * 3 + 2 * 5 * 4
    assert [row for row in fixed if row.difference != 0] == []


def test_the_honest_total_stands_beside_the_published_convention(relaxed: list[Row]) -> None:
    (honest,) = {row.ours for row in relaxed if row.metric == "dm_all" and row.setting["k"] == 5}
    # 6031 classes of 5 rows and one of 7: all 30,162 rows
    assert honest == 6031 * 25 + 7 * 7
    true = {row.metric: row.ours for row in relaxed if row.table == "4.9" and row.metric.endswith("_true")}
    assert true == {"normal_true": 280, "outliers_true": 32}


def test_strict_mondrian_with_the_rule_of_the_source_is_printed_to_the_unit(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()
    rows = [row for row in reproduce("canbay2019", ["4.7"], quick=True) if row.method == "mondrian"]
    assert {row.setting["k"] for row in rows} == {5, 50}
    assert all(row.exact for row in rows)


@pytest.mark.parametrize(("table", "method"), [("4.7", "u-mondrian (ours)"), ("6.7", "u-canon (ours)")])
def test_ours_loses_no_more_than_the_print(benchmark_data: Path, table: str, method: str) -> None:
    assert benchmark_data.is_dir()
    rows = [row for row in reproduce("canbay2019", [table], quick=True) if row.method == method]
    losses = [row for row in rows if row.metric == "gcp_sum"]
    assert len(losses) == 2
    assert all(row.difference is not None and row.difference <= 0 for row in losses)


def test_canon_with_random_vantage_points_is_within_five_percent(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()
    rows = [row for row in reproduce("canbay2019", ["5.1"], quick=True) if row.method == "canon"]
    for row in rows:
        if row.metric == "gcp_sum":
            assert row.published is not None
            assert abs(row.difference or 0) <= 0.05 * row.published


def test_what_needs_a_cluster_is_said_and_counted_where_there_is_no_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    rows = reproduce("canbay2019", ["7.1", "7.6"])
    assert [(row.published, row.ours) for row in rows] == [(5, None), (10, None)]
    assert all("Spark" in row.note for row in rows)


def test_every_printed_line_has_its_table() -> None:
    tables = {
        row["table"] for name in ("summary", "iterations") for row in published_rows(f"canbay2019_{name}")
    }
    assert set(PAPERS["canbay2019"].tables) == tables


def test_an_unknown_paper_or_table_is_refused_before_anything_runs() -> None:
    with pytest.raises(InvalidParameter, match="canbay2019"):
        reproduce("canbay2018")
    with pytest.raises(InvalidParameter, match=r"4\.15"):
        reproduce("canbay2019", ["4.8"])


def test_missing_data_is_said_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    from mahrem.experiments import _sets

    monkeypatch.delenv("MAHREM_DATA", raising=False)
    _sets.adult.cache_clear()
    try:
        with pytest.raises(InvalidInput, match="MAHREM_DATA"):
            _sets.adult()
    finally:
        _sets.adult.cache_clear()
