"""A distributed table as the planner sees it: quasi-identifiers on their axes, strata, edges, leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.engines._spark_judge import Coded
from mahrem.engines._spark_plan import Plan
from mahrem.engines._spark_tally import points_of
from mahrem.errors import InvalidInput
from mahrem.table import Axis, Domain, Numbers
from mahrem.types import Floats, Integers

__all__ = ["Placed", "column", "edges_of", "leaf_of", "number_domains", "pattern_of", "scaled", "values_of"]

_EDGES = 8_192  # edges of a column, at most
_SAMPLED = 200_000  # rows that edges are drawn from
_FROM_EACH = 2_048  # edges that one worker names


@dataclass(frozen=True)
class Placed:
    """A quasi-identifier of a distributed table: the column that holds positions on its axis.

    ``name`` is the column that is published, ``column`` holds the positions (numbers; null or NaN is
    missing), which is the same column for numbers.
    """

    name: str
    column: str
    domain: Domain = field(repr=False)

    def axis(self, positions: Floats) -> Axis:
        """Give some of the rows as an axis."""
        return Axis(self.name, positions, self.domain)


def column(name: str) -> Any:
    """Give a column by its name, whatever signs it holds."""
    from pyspark.sql import functions

    return functions.col(f"`{name.replace('`', '``')}`")


def position(quasi: Placed) -> Any:
    """Give positions with null where one is missing."""
    from pyspark.sql import functions

    number = column(quasi.column).cast("double")
    return functions.when(~functions.isnan(number), number)


def scaled(quasi: Placed) -> Any:
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


def number_domains(frame: Any, names: Sequence[str]) -> tuple[Placed, ...]:
    """Find out the spans of columns of numbers, in one job.

    Raises:
        InvalidInput: If a number is not finite.
    """
    from pyspark.sql import functions

    asked = []
    for place, name in enumerate(names):
        number = position(Placed(name, name, Numbers(0, 0, whole=False)))
        asked += [
            functions.min(number).alias(f"low{place}"),
            functions.max(number).alias(f"high{place}"),
            functions.coalesce(
                functions.bool_and(number == functions.floor(number)), functions.lit(True)
            ).alias(f"whole{place}"),
        ]
    found = frame.agg(*asked).first()
    placed = []
    for place, name in enumerate(names):
        low, high = found[f"low{place}"], found[f"high{place}"]
        low, high = (0.0, 0.0) if low is None else (low, high)
        if math.isinf(low) or math.isinf(high):
            raise InvalidInput(f"column={name!r} holds infinite numbers; leave them out or make them missing")
        placed.append(Placed(name, name, Numbers(low, high, bool(found[f"whole{place}"]))))
    return tuple(placed)


def pattern_of(quasi: Sequence[Placed]) -> Any:
    """Give the pattern of missing values of a row as text of zeros and ones."""
    from pyspark.sql import functions

    return functions.concat(*(position(one).isNull().cast("int").cast("string") for one in quasi))


def packed(pattern: str) -> bytes:
    """Pack a pattern of zeros and ones as NumPy packs bits."""
    return np.packbits(np.frombuffer(pattern.encode(), np.uint8) == ord("1")).tobytes()


def values_of(frame: Any, by: Any, groups: Mapping[str, int], coded: Coded) -> Integers:
    """Count the values of a sensitive column in groups of rows, as sorted triplets of group, code, times."""
    from pyspark.sql import functions

    code = column(coded.column).cast("bigint")
    rows = (
        frame.where(code >= 0)
        .groupBy(by.alias("group"), code.alias("code"))
        .agg(functions.count("*").alias("times"))
        .collect()
    )
    listed = sorted((groups[row["group"]], row["code"], row["times"]) for row in rows)
    return np.array(listed, np.int64).reshape(-1, 3)


@dataclass(frozen=True)
class _Edges:
    """Names some quantiles of a worker's rows, column by column."""

    columns: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        parts = [points_of(batch, self.columns) for batch in batches if batch.num_rows]
        points = np.concatenate(parts) if parts else np.zeros((0, self.columns))
        taken = np.linspace(0, max(len(points) - 1, 0), min(len(points), _FROM_EACH)).astype(np.int64)
        quantiles = np.sort(points, axis=0)[taken].T
        yield pa.RecordBatch.from_pydict(
            {"rows": [len(points)], "edges": [[list(one) for one in quantiles]]},
            schema=pa.schema([("rows", pa.int64()), ("edges", pa.list_(pa.list_(pa.float64())))]),
        )


def edges_of(points: Any, columns: int, rows: int) -> Floats:
    """Draw numbers that cut every column into about equal shares, from a sample; each ends with infinity."""
    sample = points if rows <= _SAMPLED else points.sample(_SAMPLED / rows, seed=1)
    named = sample.mapInArrow(_Edges(columns), "rows bigint, edges array<array<double>>").collect()
    edges = []
    for place in range(columns):
        told = [(np.array(row["edges"][place]), row["rows"]) for row in named if row["rows"]]
        value = np.concatenate([values for values, _ in told]) if told else np.zeros(0)
        weight = np.concatenate([np.full(len(values), n / len(values)) for values, n in told] or [value])
        order = np.argsort(value, kind="stable")
        value, running = value[order], np.cumsum(weight[order])
        wanted = np.linspace(0, running[-1], _EDGES) if len(running) else np.zeros(0)
        edges.append(np.unique(value[np.minimum(np.searchsorted(running, wanted), len(value) - 1)]))
    together = np.full((columns, max(map(len, edges)) + 1), np.inf)
    for place, one in enumerate(edges):
        together[place, : len(one)] = one
    return together


def leaf_of(plan: Plan, quasi: Sequence[Placed]) -> Any:
    """Give the number of the leaf that a row of the table belongs to."""
    from pyspark.sql import functions

    places = [scaled(one) for one in quasi]
    tree = plan.tree

    def go(node: int) -> Any:
        if tree.column[node] < 0:
            return functions.lit(int(plan.number[node]))
        place, cut = places[tree.column[node]], float(tree.value[node])
        goes_left = place < cut if tree.below[node] else place <= cut
        return functions.when(goes_left, go(int(tree.left[node]))).otherwise(go(int(tree.right[node])))

    if not plan.roots:
        return go(0)
    trees = {root: go(root) for root in set(plan.roots.values())}
    pattern, leaf = pattern_of(quasi), None
    for bits, root in plan.roots.items():
        text = "".join(map(str, np.unpackbits(np.frombuffer(bits, np.uint8))[: len(quasi)]))
        leaf = (functions if leaf is None else leaf).when(pattern == text, trees[root])
    return leaf
