"""Saleh: the three tables, and what one anonymisation makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.errors import PrivacyWarning
from mahrem.metrics import EntropyLoss, measure_entropy
from mahrem.pipeline import Release, anonymize
from mahrem.table import Axis, Column, Leaves, Role, encode_quasi
from mahrem.table.columns import infer_kind
from mahrem.types import Integers

Recoding = Literal["groups", "intervals"]
SETS = ("mammographic", "adult", "housing")
MODELS: Mapping[str, Mapping[str, Any]] = {
    "optimized-k": {"method": "optimised-mondrian"},
    "k-anonymity": {},
    "l-diversity": {"l": 2},
    "t-closeness": {"t": 0.2, "t_kind": "kl"},
}
_ADULT = (
    "age",
    "workclass",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
_HOUSING = ("latitude", "longitude", "housing_median_age", "median_house_value", "median_income")
_MAMMOGRAPHIC = ("BI-RADS", "Age", "Shape", "Margin", "Density")


@dataclass(frozen=True)
class LearningTable:
    """A table of the source: its rows, what others may know of them, and what is to be predicted."""

    name: str
    frame: pl.DataFrame = field(repr=False)
    quasi: tuple[str, ...]
    target: str

    @property
    def codes(self) -> Integers:
        """The target as numbers."""
        codes: Integers = (self.frame[self.target].rank("dense").cast(pl.Int64) - 1).to_numpy()
        return codes


@dataclass(frozen=True)
class AnonymisedFigures:
    """What one anonymisation is like."""

    partitions: int  # as the method cut them
    classes: int  # rows that show the same
    entropy: EntropyLoss


@cache
def read_table(name: str) -> LearningTable:
    """Read one of the tables.

    Adult has all 48,842 rows, a question mark is a value like any other. Housing has three targets: near
    ocean, near bay and island are one. Mammographic has the 830 rows that are complete.
    """
    if name == "adult":
        parts = [pl.read_csv(find(part)) for part in ("adult_train", "adult_test")]
        return LearningTable(name, pl.concat(parts), _ADULT, "income")
    if name == "housing":
        sea = pl.col("ocean_proximity").is_in(["NEAR OCEAN", "NEAR BAY", "ISLAND"])
        frame = pl.read_csv(find("california_housing")).with_columns(
            ocean_proximity=pl.when(sea).then(pl.lit("NEAR OCEAN")).otherwise("ocean_proximity")
        )
        return LearningTable(name, frame, _HOUSING, "ocean_proximity")
    frame = pl.read_csv(find("mammographic_masses"), null_values="?").drop_nulls()
    return LearningTable("mammographic", frame, _MAMMOGRAPHIC, "Severity")


def anonymise(
    frame: pl.DataFrame,
    table: LearningTable,
    recoding: Recoding,
    settings: Mapping[str, Any],
    *,
    rest: str = "drop",
) -> Release:
    """Anonymise rows of a table as the source does, or with intervals and sets instead of learnt groups."""
    policy: dict[str, Any] = {
        "quasi": table.quasi,
        "sensitive": table.target,
        "rest": rest,
        "automatic": table.target if recoding == "groups" else None,
        "bounds": "exact",  # the source knows no grid
        "minimality_safe": False,  # nor this
        "accept": {"*": "a public benchmark"},
        **settings,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # that groups are learnt from the table is the point
        return anonymize(frame, html=False, **policy)


@cache
def measure_release(
    name: str, model: str, k: int, value: float | None, recoding: Recoding
) -> AnonymisedFigures:
    """Anonymise a whole table and measure it; ``value`` is the l or t, where it is not the usual one."""
    table = read_table(name)
    settings = {**MODELS[model], "k": k}
    if value is not None:
        settings["l" if model == "l-diversity" else "t"] = value
    release = anonymise(table.frame, table, recoding, settings)
    classes = partitions = int(release.report["utility"]["classes"])
    if recoding == "groups" or model == "optimized-k":
        # Several partitions may publish the same groups, and exact ends keep them apart; rows that leave a
        # partition as they are do not make it two.
        cut = anonymise(table.frame, table, "intervals", {"k": k} if model == "optimized-k" else settings)
        partitions = int(cut.report["utility"]["classes"])
    return AnonymisedFigures(partitions, classes, entropy_of(table, release))


def entropy_of(table: LearningTable, release: Release) -> EntropyLoss:
    """Measure the published table itself, row by row."""
    axes = [_axis(table.frame[name], release) for name in table.quasi]
    shown = {name: release.table[name].cast(pl.String) for name in table.quasi}
    return measure_entropy(axes, shown, np.arange(table.frame.height), table.codes)


def _axis(values: pl.Series, release: Release) -> Axis:
    tree = release.hierarchies.get(values.name)
    if tree is None:
        column = Column(name=values.name, role=Role.QUASI, kind=infer_kind(values))
        return encode_quasi(values, column)
    whole = values.cast(pl.Int64) if values.dtype.is_float() and _whole(values) else values
    return Axis(values.name, tree.codes(whole).astype(np.float64), Leaves(tree))


def _whole(values: pl.Series) -> bool:
    return bool((values.drop_nulls().round() == values.drop_nulls()).all())
