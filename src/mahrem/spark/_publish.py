"""After the classes: cells of classes that several workers made, figures, and an order that says nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.arrays import sketching
from mahrem.errors import InvalidParameter
from mahrem.partition import Mondrian
from mahrem.recode import Centroids, Recoding
from mahrem.spark._finish import CLASS_BITS, PartFinisher
from mahrem.spark._frame import CLASS, LEAF, PlacedColumn, column, labelled_schema, position, scaled
from mahrem.spark._judge import Judge
from mahrem.spark._task import Task
from mahrem.table import Leaves, Words

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class ClassFigures:
    """What the classes of a distributed table look like."""

    rows: int
    classes: int
    smallest: int
    largest: int
    dm: int
    gcp_sum: float  # rows times exact widths of the classes, over all quasi-identifiers


def class_figures(frame: DataFrame, quasi: Sequence[PlacedColumn]) -> ClassFigures:
    """Measure the classes of a labelled table, in one job; its quasi-identifiers are not yet rewritten.

    A class with missing and present values of a column counts as if it showed nothing there.
    """
    from pyspark.sql import functions

    widths = []
    for placed in quasi:
        place = scaled(placed)
        low, high = functions.min(place), functions.max(place)
        widths.append(functions.when(high < 0, 0.0).when(low < 0, 1.0).otherwise(high - low))
    classes = frame.groupBy(CLASS).agg(
        functions.count("*").alias("size"), reduce(lambda a, b: a + b, widths).alias("width")
    )
    size = functions.col("size")
    figures: Any = classes.agg(
        functions.sum(size),
        functions.count("*"),
        functions.min(size),
        functions.max(size),
        functions.sum(size.cast("decimal(20,0)") * size.cast("decimal(18,0)")),
        functions.sum(size * functions.col("width")),
    ).first()
    rows, count, least, most, dm, loss = (0 if number is None else number for number in figures)
    return ClassFigures(int(rows), int(count), int(least), int(most), int(dm), float(loss))


@dataclass(frozen=True)
class _Cells:
    """Rewrites the cells of whole classes inside a worker."""

    finish: PartFinisher

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        place = len(self.finish.quasi)
        alive, labels = np.unique(table.column(place).to_numpy(), return_inverse=True)
        order = sketching.shuffled(table.num_rows) if self.finish.shuffled else None
        cells = self.finish.cells(table, labels.astype(np.int64), len(alive), order)
        rest = table.select(range(place, table.num_columns))
        rest = rest if order is None else rest.take(pa.array(order))
        names = [CLASS, *(quasi.name for quasi in self.finish.quasi), *rest.column_names[1:]]
        whole = pa.Table.from_arrays([rest.column(0), *cells, *rest.columns[1:]], names=names)
        yield from whole.to_batches(max_chunksize=100_000)


def recode_classes(frame: DataFrame, task: Task, rows: int, largest: int) -> DataFrame:
    """Rewrite the quasi-identifiers of a labelled table; rows of a class meet in one worker.

    Args:
        frame: With a column ``__class``.
        task: Says what to write.
        rows: Of the table.
        largest: Rows that one worker takes; of a class with more, rows stay where they are and only counts
            travel.
    """
    from pyspark.sql import functions

    names = [quasi.name for quasi in task.quasi]
    taken = frame.columns if task.carried is None else task.carried
    carried = [name for name in taken if name not in {*names, CLASS}]
    kinds = {field.name: field for field in frame.schema.fields}
    schema = labelled_schema(names, [kinds[name] for name in carried])
    sizes = frame.groupBy(CLASS).count()
    large = [row[CLASS] for row in sizes.where(functions.col("count") > largest).collect()]
    shipped = frame.select(
        *(position(placed).alias(f"__p{place}") for place, placed in enumerate(task.quasi)),
        functions.col(CLASS),
        *(column(name) for name in carried),
    )
    finish = PartFinisher(
        task.quasi, Judge(()), Mondrian(), ordered=False, recodings=task.recodings, shuffled=task.shuffled
    )
    small = shipped.where(~functions.col(CLASS).isin(large)) if large else shipped
    small = small.toDF(*shipped.columns[: len(names) + 1], *(f"__x{place}" for place in range(len(carried))))
    parts = max(2, 2 * -(-rows // largest))  # twice as many as would do: classes are not even
    shown = small.repartition(parts, functions.col(CLASS)).mapInArrow(_Cells(finish), schema)
    if not large:
        return shown
    alone = shipped.where(functions.col(CLASS).isin(large))
    rest = alone.select(CLASS, *cells_of_groups(alone, task, CLASS), *(column(name) for name in carried))
    return shown.unionByName(shuffle_rows(rest) if task.shuffled else rest)


def shuffle_rows(frame: DataFrame) -> DataFrame:
    """Bring rows that stayed where they lay into a random order.

    Rows are sorted by a hash under a secret number of the system's generator. It follows from what a row
    says, not from where it lies, so that work done twice sends a row to the same place.
    """
    from pyspark.sql import functions

    secret = functions.lit(secrets.randbits(63))
    hashed = [name for name, kind in frame.dtypes if "map<" not in kind and kind != "variant"]
    key = functions.xxhash64(secret, *(column(name) for name in hashed))
    mixed = frame.withColumn("__key", key).repartition(functions.col("__key"))
    return mixed.sortWithinPartitions("__key").drop("__key")


def label_whole_leaves(shipped: DataFrame, task: Task, carried: list[str]) -> DataFrame:
    """Give rows of whole leaves their class, and the cells that follow from what was counted of it."""
    from pyspark.sql import functions

    label = functions.shiftleft(functions.col(LEAF).cast("bigint"), CLASS_BITS).alias(CLASS)
    rest = [column(name) for name in carried]
    if not task.recodings:
        return shipped.select(label, *rest)
    return shipped.select(label, *cells_of_groups(shipped, task, LEAF), *rest)


def cells_of_groups(shipped: DataFrame, task: Task, group: str) -> list[SparkColumn]:
    """Give what rows of a few large groups show, as columns."""
    from pyspark.sql import functions

    cells = _cells(shipped, task, group)
    shown = []
    for place, quasi in enumerate(task.quasi):
        text = functions.lit(None).cast("string")
        for number, words in cells.items():
            text = functions.when(functions.col(group) == number, functions.lit(words[place])).otherwise(text)
        shown.append(text.alias(quasi.name))
    return shown


def _cells(shipped: DataFrame, task: Task, group: str) -> dict[int, list[str | None]]:
    """Write the cells of every group from extremes, or from the different words, in one job."""
    from pyspark.sql import functions

    asked = []
    for place, quasi in enumerate(task.quasi):
        number = functions.col(f"__p{place}")
        if isinstance(task.recodings[place], Centroids):
            raise InvalidParameter(
                f"recoding='centroids' of column={quasi.name!r}: a class is too large for one worker; "
                "raise the rows of a part"
            )
        ends = functions.array(functions.min(number), functions.max(number))
        known = functions.collect_set(number) if isinstance(quasi.domain, Words | Leaves) else ends
        asked += [known.alias(f"known{place}"), functions.count_if(number.isNull()).alias(f"missing{place}")]
    return {
        row[group]: [
            _cell(quasi, task.recodings[place], row[f"known{place}"], row[f"missing{place}"])
            for place, quasi in enumerate(task.quasi)
        ]
        for row in shipped.groupBy(group).agg(*asked).collect()
    }


def _cell(quasi: PlacedColumn, recoding: Recoding, known: list[float | None], missing: int) -> str | None:
    """Write one cell as if the class had only the rows that matter to it."""
    positions = [number for number in known if number is not None] + [np.nan] * (missing > 0)
    axis = quasi.axis(np.array(positions, np.float64))
    text: str | None = recoding(axis, np.zeros(len(positions), np.int64), 1).text[0]
    return text
