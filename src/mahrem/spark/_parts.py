"""From a plan to classes: every part of the table goes to a worker that finishes it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from mahrem.partition import Mondrian
from mahrem.spark._finish import PartFinisher
from mahrem.spark._frame import LEAF, column, labelled_schema, leaf_of
from mahrem.spark._judge import Judge
from mahrem.spark._plan import CutPlan
from mahrem.spark._points import LeafSorter, PackedRows, shipped_columns
from mahrem.spark._publish import label_whole_leaves, shuffle_rows
from mahrem.spark._task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def finish_parts(
    frame: DataFrame,
    task: Task,
    judge: Judge,
    plan: CutPlan,
    points: PackedRows,
    worker: PartFinisher | None = None,
) -> DataFrame:
    """Send every part to a worker that finishes it; leaves that are one class stay where they are."""
    from pyspark.sql import functions

    carried = task.taken_along(frame)
    ordered = not (isinstance(task.method, Mondrian) and task.method.strict)
    finish = worker or PartFinisher(
        task.quasi, judge, task.method, ordered, task.recodings, task.shuffled, task.pricing
    )
    kinds = {field.name: field for field in frame.schema.fields}
    cells = [quasi.name for quasi in task.quasi] if task.recodings else []
    schema = labelled_schema(cells, [kinds[name] for name in carried])
    shipped = shipped_columns(task.quasi, judge.columns)
    results = []
    if not plan.whole.all():
        # Names of our own: mapInArrow takes a dot in a name for a field of a struct.
        named = [column(name).alias(f"__x{place}") for place, name in enumerate(carried)]
        pieces = frame.select(*shipped, *named) if carried else points.frame
        if len(plan.sizes) == 1 and not carried:
            parts = pieces.select(functions.lit(0).alias("leaf"), "blob")
        else:
            scatter = LeafSorter(points.axes, plan, packed=not carried)
            parts = pieces.mapInArrow(scatter, "leaf int, blob binary")
        parts = parts.repartitionById(len(plan.sizes), functions.col("leaf"))
        results.append(parts.mapInArrow(finish, schema))
    if plan.whole.any():
        leaf = leaf_of(plan, task.quasi).alias(LEAF)
        rows = frame.select(*shipped, *(column(name) for name in carried), leaf)
        alone = rows.where(functions.col(LEAF).isin(np.flatnonzero(plan.whole).tolist()))
        classes = label_whole_leaves(alone, task, carried)
        results.append(shuffle_rows(classes) if task.shuffled else classes)
    return reduce(lambda frame, more: frame.unionByName(more), results)
