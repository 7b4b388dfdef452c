"""All risk figures of a k=5 release of Adult, beside ten lines of NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judges import AtLeast
from mahrem.estimates import journalist_risk, k_map, marketer_risk, population_uniques, prosecutor_risk
from mahrem.metrics import unique_share
from mahrem.partition import Mondrian

pytestmark = pytest.mark.data


def test_risk_of_adult_equals_a_ten_line_reference(benchmark_data: Path) -> None:
    frame = pl.read_csv(benchmark_data / "adult.csv").select("age", "education-num", "hours-per-week")
    points = frame.to_numpy().astype(np.float64)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    everyone = Mondrian()(points, AtLeast(5))
    sample = np.random.default_rng(4).random(len(points)) < 0.3  # the release; Adult is its population
    people = np.bincount(everyone.labels)
    sizes = np.bincount(everyone.labels[sample], minlength=len(people))

    rows, shown = int(sizes.sum()), sizes > 0
    per_row = np.repeat(1 / sizes[shown], sizes[shown])
    in_population = np.repeat(1 / people[shown], sizes[shown])
    prosecutor = prosecutor_risk(sizes, threshold=0.09)
    assert prosecutor.at_risk == pytest.approx((per_row > 0.09).mean())
    assert prosecutor.highest == per_row.max()
    assert prosecutor.average == pytest.approx(per_row.mean())
    journalist = journalist_risk(sizes, population=people, threshold=0.09)
    assert journalist.at_risk == pytest.approx((in_population > 0.09).mean())
    assert journalist.highest == in_population.max() <= 1 / 5
    assert journalist.average == pytest.approx(max(shown.sum() / people[shown].sum(), in_population.mean()))
    assert marketer_risk(sizes, population=people) == pytest.approx(in_population.mean())
    assert k_map(sizes, people) == people[shown].min() >= 5
    assert unique_share(sizes) == (sizes == 1).sum() / rows
    whole = prosecutor_risk(people, threshold=0.2)
    assert whole.at_risk == 0.0
    assert whole.highest <= 0.2
    assert population_uniques(people, 10 * len(points)).uniques == 0.0


def test_uniqueness_of_adult_is_estimated_from_a_sample_of_it(benchmark_data: Path) -> None:
    # Seed 4. The truth is known: Adult is the population. Estimates are rough, not wild.
    frame = pl.read_csv(benchmark_data / "adult.csv")
    columns = ["age", "education", "marital-status", "race", "sex", "hours-per-week"]
    truth = int((frame.group_by(columns).len()["len"] == 1).sum())
    for fraction in (0.05, 0.3):
        sample = frame.sample(fraction=fraction, seed=4).group_by(columns).len()["len"].to_numpy()
        found = population_uniques(sample.astype(np.int64), frame.height)
        assert found.uniques == pytest.approx(truth, rel=0.3)
