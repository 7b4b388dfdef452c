"""The data of the papers as points: Adult, Diabetes, the microaggregation sets, and the two that are made."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.metrics import standardised
from mahrem.types import Floats, Points

ADULT = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")
# The source does not say which columns it used; these are all counts of the table that are numbers.
DIABETES = (
    "time_in_hospital",
    "num_lab_procedures",
    "num_procedures",
    "num_medications",
    "number_outpatient",
    "number_emergency",
    "number_inpatient",
    "number_diagnoses",
)
PUBLIC = {
    "Census": "census_casc",
    "EIA": "eia_numeric",
    "Tarragona": "tarragona",
    "Cloud1": "cloud1",
    "Cloud2": "cloud2",
}
MADE = ("SimU", "SimC")
MADE_ROWS, MADE_COLUMNS, MADE_CLUSTERS, MADE_SPREAD, MADE_SEED = 1000, 10, 20, 0.05, 2019


@cache
def adult() -> Points:
    """Give the 30,162 training rows without a question mark, five columns scaled to [0, 1]."""
    frame = pl.read_csv(find("adult_train"), null_values="?").drop_nulls()
    return _scaled(frame.select(ADULT).to_numpy().astype(np.float64))


@cache
def diabetes() -> Points:
    """Give the 101,766 hospital stays, eight numeric columns scaled to [0, 1]."""
    frame = pl.read_csv(find("diabetes_130us"), columns=list(DIABETES))
    return _scaled(frame.select(DIABETES).to_numpy().astype(np.float64))


@cache
def microdata(name: str) -> Floats:
    """Give a set of the microaggregation literature, columns standardised with the sample deviation.

    SimU is uniform in the unit cube; SimC has 20 round Gaussian clusters (deviation 0.05 in every column)
    around uniform centres, each row from a cluster chosen at random. Both have 1,000 rows, 10 columns and a
    fixed seed: the source's own files are not public.
    """
    rng = np.random.default_rng(MADE_SEED)
    shape = (MADE_ROWS, MADE_COLUMNS)
    if name == "SimU":
        return standardised(rng.random(shape))
    if name == "SimC":
        centres = rng.random((MADE_CLUSTERS, MADE_COLUMNS))
        cluster = rng.integers(MADE_CLUSTERS, size=MADE_ROWS)
        return standardised(centres[cluster] + MADE_SPREAD * rng.standard_normal(shape))
    return standardised(pl.read_csv(find(PUBLIC[name])).to_numpy().astype(np.float64))


def _scaled(values: Floats) -> Points:
    low, high = values.min(axis=0), values.max(axis=0)
    return np.ascontiguousarray((values - low) / (high - low))
