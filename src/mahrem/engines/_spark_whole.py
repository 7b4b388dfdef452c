"""Leaves of the cluster's tree that are one class: their rows never meet in one worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.engines._spark_finish import CLASS_BITS
from mahrem.engines._spark_frame import CLASS, LEAF, Placed, column
from mahrem.errors import InvalidParameter
from mahrem.recode import Centroids, Recoding
from mahrem.table import Leaves, Words

if TYPE_CHECKING:
    from mahrem.engines._spark import Task

__all__ = ["cells_of_groups", "whole_classes"]


def whole_classes(shipped: Any, task: Task, carried: list[str]) -> Any:
    """Give rows of whole leaves their class, and the cells that follow from what was counted of it."""
    from pyspark.sql import functions

    label = functions.shiftleft(functions.col(LEAF).cast("bigint"), CLASS_BITS).alias(CLASS)
    rest = [column(name) for name in carried]
    if not task.recodings:
        return shipped.select(label, *rest)
    return shipped.select(label, *cells_of_groups(shipped, task, LEAF), *rest)


def cells_of_groups(shipped: Any, task: Task, group: str) -> list[Any]:
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


def _cells(shipped: Any, task: Task, group: str) -> dict[int, list[str | None]]:
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


def _cell(quasi: Placed, recoding: Recoding, known: list[float | None], missing: int) -> str | None:
    """Write one cell as if the class had only the rows that matter to it."""
    positions = [number for number in known if number is not None] + [np.nan] * (missing > 0)
    axis = quasi.axis(np.array(positions, np.float64))
    text: str | None = recoding(axis, np.zeros(len(positions), np.int64), 1).text[0]
    return text
