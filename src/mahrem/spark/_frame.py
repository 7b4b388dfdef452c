"""A distributed table as the planner sees it: quasi-identifiers on their axes, and leaves."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.spark._plan import CutPlan
from mahrem.table import Axis, Domain, Words
from mahrem.types import Floats

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn

CLASS, LEAF = "__class", "__leaf"
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")  # kinds begin with
RESERVED = re.compile(r"__(class|leaf|best|key|person|(k__)?[a-z]+\d+)", re.IGNORECASE)  # columns of ours


@dataclass(frozen=True)
class PlacedColumn:
    """A quasi-identifier of a distributed table: the column that holds positions on its axis.

    ``name`` is the column that is published, ``column`` holds the positions (numbers; null or NaN is
    missing), which is the same column for numbers.
    """

    name: str
    column: str
    domain: Domain = field(repr=False)
    incomplete: bool = False  # words that some rows miss

    def axis(self, positions: Floats) -> Axis:
        """Give some of the rows as an axis."""
        return Axis(self.name, positions, self.domain)

    def beside_its_ends(self, positions: Floats) -> Axis:
        """Give some of the rows with all values that the column names, or both of its ends."""
        if isinstance(self.domain, Words):
            every = np.arange(float(len(self.domain.labels)))
        else:
            every = np.array(self.axis(np.zeros(0)).span if len(positions) else [])
        gap = [np.nan] if self.incomplete else []
        return self.axis(np.concatenate([positions, every, gap]))


def column(name: str) -> SparkColumn:
    """Give a column by its name, whatever signs it holds."""
    from pyspark.sql import functions

    return functions.col(f"`{name.replace('`', '``')}`")


def position(quasi: PlacedColumn) -> SparkColumn:
    """Give positions with null where one is missing; there is one zero."""
    from pyspark.sql import functions

    number = column(quasi.column).cast("double") + 0.0
    return functions.when(~functions.isnan(number), number)


def scaled(quasi: PlacedColumn) -> SparkColumn:
    """Give positions in [0, 1], missing values at -1, just as :meth:`Axis.scaled` does."""
    from pyspark.sql import functions

    low, high = quasi.axis(np.zeros(0)).span
    number = position(quasi)
    if low == high:
        place = functions.lit(0.0)
    elif math.isinf(high - low):
        place = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    else:
        place = (number - float(low)) / (float(high) - float(low))
    return functions.when(number.isNull(), functions.lit(-1.0)).otherwise(place)


def labelled_schema(cells: Sequence[str], carried: Sequence[Any]) -> Any:
    """Give the schema of a labelled table: its class, cells as text, then what is carried along."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    text = [StructField(name, StringType()) for name in cells]
    return StructType([StructField(CLASS, LongType()), *text, *carried])


def sendable(table: pa.Table) -> pa.Table:
    """Give an Arrow table that Spark reads as it stands; cast its columns to what they were.

    Text comes in the kind that every reader knows, and a time without a zone as text: Spark would take it
    for one of the session's zone.
    """
    import pyarrow as pa
    from pyarrow import compute

    columns = []
    for values in table.columns:
        if pa.types.is_timestamp(values.type) and values.type.tz is None:
            columns.append(compute.strftime(values, "%Y-%m-%d %H:%M:%S"))
        else:
            text = values.type in (pa.string_view(), pa.large_string())
            columns.append(values.cast(pa.string()) if text else values)
    return pa.Table.from_arrays(columns, names=table.column_names)


def pattern_of(quasi: Sequence[PlacedColumn]) -> SparkColumn:
    """Give the pattern of missing values of a row as text of zeros and ones."""
    from pyspark.sql import functions

    return functions.concat(*(position(placed).isNull().cast("int").cast("string") for placed in quasi))


def leaf_of(plan: CutPlan, quasi: Sequence[PlacedColumn]) -> SparkColumn:
    """Give the number of the leaf that a row of the table belongs to."""
    from pyspark.sql import functions

    places = [scaled(placed) for placed in quasi]
    tree = plan.tree

    def go(node: int) -> SparkColumn:
        if tree.column[node] < 0:
            return functions.lit(int(plan.number[node]))
        place, cut = places[tree.column[node]], float(tree.value[node])
        goes_left = place < cut if tree.below[node] else place <= cut
        return functions.when(goes_left, go(int(tree.left[node]))).otherwise(go(int(tree.right[node])))

    if not plan.roots:
        return go(0)
    trees = {root: go(root) for root in set(plan.roots.values())}
    pattern = pattern_of(quasi)
    leaf: Any = functions  # where a chain of cases begins
    for bits, root in plan.roots.items():
        text = "".join(map(str, np.unpackbits(np.frombuffer(bits, np.uint8))[: len(quasi)]))
        leaf = leaf.when(pattern == text, trees[root])
    chosen: SparkColumn = leaf
    return chosen
