"""Tables for private synthesis, coded once into at most 16 bins a column: the same rows and bins for all.

Bins and values are taken as public here, as every published comparison does: what is compared is how well a
method spends its budget, not how well somebody declares columns. Numbers are cut so that bins hold about as
many rows each, values that are a bin by themselves apart; of words the rare ones share a bin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis import coarse_groups
from mahrem.table import ColumnDeclaration
from mahrem.types import Integers

BINS = 16
HELD_OUT = 0.3  # of the rows, where a set has no test file of its own
_DIABETES = (
    "race gender age admission_type_id discharge_disposition_id admission_source_id time_in_hospital "
    "medical_specialty num_lab_procedures num_procedures num_medications number_outpatient number_emergency "
    "number_inpatient diag_1 number_diagnoses A1Cresult metformin glipizide insulin change diabetesMed "
    "readmitted"
)
# File, target, columns (all but those after a minus sign).
_SETS = {
    "adult": ("adult_train", "income", "- fnlwgt education"),
    "nursery": ("nursery", "class", "-"),
    "bank": ("bank_marketing", "y", "-"),
    "california": ("california_housing", "ocean_proximity", "-"),
    "diabetes": ("diabetes_130us", "readmitted", _DIABETES),
}
TABLE_SETS = tuple(_SETS)


@dataclass(frozen=True)
class TableSet:
    """A table in bins: rows to learn from and rows that nobody sees."""

    name: str
    target: str
    train: pl.DataFrame = field(repr=False)
    test: pl.DataFrame = field(repr=False)
    sizes: dict[str, int] = field(repr=False)

    @property
    def declared(self) -> dict[str, ColumnDeclaration]:
        """The bins, as a ledger declares them."""
        return {
            name: ColumnDeclaration(categories=tuple(str(place) for place in range(size)))
            for name, size in self.sizes.items()
        }

    def head(self, rows: int) -> TableSet:
        """Give the first rows of both parts."""
        return replace(self, train=self.train.head(rows), test=self.test.head(rows))

    def codes(self, table: pl.DataFrame) -> Integers:
        """Give bins as ``(n, d)`` whole numbers."""
        return table.select(pl.col(list(self.sizes)).cast(pl.Int64)).to_numpy()


@cache
def table_set(name: str) -> TableSet:
    """Read a set and put it into bins."""
    if name not in _SETS:
        raise InvalidParameter(f"set={name!r} must be one of {', '.join(_SETS)}")
    file, target, listed = _SETS[name]
    frame = _read(file)
    test = _read("adult_test") if name == "adult" else None
    columns = (
        [one for one in frame.columns if one not in listed.split()] if listed[0] == "-" else listed.split()
    )
    whole = frame.select(columns) if test is None else pl.concat([frame, test]).select(columns)
    coded = pl.DataFrame([_bins(whole[column]) for column in columns])
    if test is None:
        held = np.random.default_rng(0).random(whole.height) < HELD_OUT
    else:
        held = np.arange(whole.height) >= frame.height
    words = coded.with_columns(pl.all().cast(pl.String))
    sizes = {column: int(coded[column].max()) + 1 for column in columns}  # type: ignore[arg-type]
    return TableSet(name, target, words.filter(pl.Series(~held)), words.filter(pl.Series(held)), sizes)


def _read(file: str) -> pl.DataFrame:
    return pl.read_csv(find(file), infer_schema_length=None)


def _bins(column: pl.Series) -> pl.Series:
    """Put values into bins; what is missing has one of its own."""
    number = column.dtype.is_numeric()
    values = column if number else column.cast(pl.String).fill_null("")
    known = values.drop_nulls().value_counts().sort(column.name)
    counts = known["count"].to_numpy().astype(np.float64)
    room = BINS - int(values.null_count() > 0)
    for most in range(room, 0, -1):  # values that are a bin by themselves may cut others apart
        group = coarse_groups(counts, deviation=0.0, ordered=number, most=most, least=0.0).group
        if group.max() < room:
            break
    bins = values.replace_strict(known[column.name], pl.Series(group), default=int(group.max()) + 1)
    return bins.cast(pl.Int64).alias(column.name)
