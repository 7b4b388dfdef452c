"""What methods lower is what the report says: the loss of published cells, for every kind of column."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.drafts._method import admission, partition_rows
from mahrem.drafts._prepare import prepare
from mahrem.partition.mosaic._repaired import Bench
from mahrem.release.decisions import cell_costs, policy_from

ROWS = 240
RNG = np.random.default_rng(5)
TABLE = pl.DataFrame(
    {
        "age": RNG.integers(18, 95, ROWS),
        "cost": np.round(RNG.gamma(2, 400, ROWS), 2),
        "born": [date(1990, 1, 1) + timedelta(days=int(day)) for day in RNG.integers(0, 4000, ROWS)],
        "zip": [f"{code:05d}" for code in RNG.integers(1000, 1400, ROWS)],
        "job": [f"job {number}" for number in RNG.integers(0, 9, ROWS)],
        "grade": [("low", "middle", "high", "top")[number] for number in RNG.integers(0, 4, ROWS)],
        "place": [f"p{number}" for number in RNG.integers(0, 8, ROWS)],
        "ill": [f"d{number}" for number in RNG.integers(0, 5, ROWS)],
    }
)
TREE = pl.DataFrame([[f"p{n}", f"q{n // 2}", f"r{n // 4}", "*"] for n in range(8)], orient="row")
ALL = ["age", "cost", "born", "zip", "job", "grade", "place"]
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"bounds": "exact"},
    {"top": {"age": 80}, "bottom": {"age": 25}},
    {"grid": {"age": 7, "born": "year"}},
    {"bands": {"age": 10}},
    {"at_least": {"zip": 2, "place": 1}},
    {"prefix": {"zip": 3}},
    {"round": {"cost": 100}},
    {"weights": {"age": 3.0, "job": 0.5, "zip": 0.0}},
    {"suppress": ["job"]},
    {"cells": "centroid"},
    {"cells": "midpoint"},
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trees") / "place.csv"
    TREE.write_csv(path, include_header=False, separator=";")
    return str(path)


def optimised(table: pl.DataFrame, settings: dict[str, Any]) -> float:
    """What repair counts of mosaic's classes, as a share of the worst."""
    policy = policy_from(None, {**settings, "method": "mosaic"}, whole=True)
    prepared = prepare(table, policy)
    judge = admission(prepared)
    found = partition_rows(prepared, policy, "mosaic", {}, judge)
    bench = Bench(prepared.points(), judge, cell_costs(prepared.axes, policy))
    weights = sum(policy.weights.get(name, 1.0) for name in policy.quasi)
    return bench.total(found.labels, found.classes) / table.height / weights


@pytest.mark.parametrize("said", SETTINGS, ids=str)
def test_the_loss_that_is_lowered_is_the_loss_that_is_reported(said: dict[str, Any], tree: str) -> None:
    settings = {
        "quasi": ALL,
        "rest": "drop",
        "kind": {"zip": "code"},
        "order": {"grade": ["low", "middle", "high", "top"]},
        "hierarchy": {"place": tree},
        "k": 4,
        **said,
    }
    report = mh.anonymize(TABLE, method="mosaic", html=False, **settings).report
    assert optimised(TABLE, settings) == pytest.approx(report["utility"]["gcp"], abs=1e-9)


def test_repair_after_any_method_loses_less_and_is_refused_where_cells_must_not_overlap() -> None:
    settings = {"quasi": ["age", "zip", "job"], "rest": "drop", "k": 4, "html": False}
    for method in ("mondrian", "u-mondrian", "mdav"):
        plain, mended = (
            mh.anonymize(TABLE, method=method, repair=repair, **settings).report["utility"]["gcp"]
            for repair in (False, True)
        )
        assert mended < plain
    with pytest.raises(mh.errors.InvalidParameter, match="repair"):
        mh.anonymize(TABLE, method="flash", repair=True, **settings)


def test_seconds_end_what_can_end_early_and_are_refused_elsewhere() -> None:
    settings: dict[str, Any] = {"quasi": ["age", "zip", "job"], "rest": "drop", "k": 4, "html": False}
    plain, once, mended = (
        mh.anonymize(TABLE, method="mondrian", **settings, **more).report["utility"]["gcp"]
        for more in ({}, {"repair": True, "seconds": 0}, {"repair": True, "seconds": 60})
    )
    assert mended < once < plain  # one round is taken in any case, and the next not begun
    short, long = (
        mh.anonymize(TABLE, method="mosaic", seconds=seconds, **settings).report["utility"]["gcp"]
        for seconds in (0, 60)
    )
    assert long < short
    with pytest.raises(mh.errors.InvalidParameter, match="seconds"):
        mh.anonymize(TABLE, method="mondrian", seconds=5, **settings)
    with pytest.raises(mh.errors.InvalidParameter, match="seconds is said twice"):
        mh.anonymize(TABLE, method="mosaic", seconds=5, options={"seconds": 5}, **settings)


def test_a_comparison_gives_seconds_to_methods_that_take_them() -> None:
    rows = mh.compare(
        TABLE, quasi=["age", "job"], rest="drop", methods=["mondrian", "mosaic"], ks=[4], seconds=0
    ).rows
    assert [row["holds"] for row in rows] == [True, True]


def test_words_alone_and_every_one_of_them_missing_somewhere_are_priced() -> None:
    table = TABLE.select("job", "grade").with_columns(
        pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("job")).alias("job")
    )
    settings = {"quasi": ["job", "grade"], "rest": "drop", "k": 40}
    report = mh.anonymize(table, method="mosaic", html=False, **settings).report
    assert report["utility"]["gcp"] <= 1.0
