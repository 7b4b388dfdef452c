"""The different values of a column, numbered as they come."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, spelled
from mahrem.types import Integers


class ValueNumbers:
    """A number for each different value of a column, missing ones too, and how often it came.

    Args:
        name: The column.
        most: Different values that are held at most.
    """

    def __init__(self, name: str, most: int) -> None:
        self.name, self._most = name, most
        self._known: pl.DataFrame | None = None

    def number(self, cells: pl.Series) -> Integers:
        """Give the number of every cell; new values get the next ones."""
        column = cells.to_frame("value")
        counted = column.unique()
        if self._known is None:
            numbered = counted.with_row_index("number").cast({"number": pl.Int64})
            self._known = numbered
        else:
            known = self._known
            numbered = counted.join(known, on="value", how="left", nulls_equal=True)
            new = numbered.filter(pl.col("number").is_null()).select("value").with_row_index("number")
            new = new.select("value", pl.col("number").cast(pl.Int64) + known.height)
            self._known = pl.concat([known.select("value", "number"), new])
            numbered = pl.concat([numbered.filter(pl.col("number").is_not_null()), new])
        self._refuse_many()
        joined = column.join(numbered, on="value", how="left", nulls_equal=True, maintain_order="left")
        return joined["number"].to_numpy()

    @property
    def values(self) -> pl.Series:
        """The values in the order of their numbers."""
        if self._known is None:
            return pl.Series(self.name, [], dtype=pl.String)
        return self._known["value"].alias(self.name)

    def _refuse_many(self) -> None:
        count = 0 if self._known is None else self._known.height
        if count > self._most:
            raise InvalidInput(
                f"column={self.name!r} has more than {self._most} different values, which do not fit into "
                f"this much memory; say more ({spelled('memory', '8GB')}), or make it coarser before"
            )


def looked_up(table: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Give what stands at numbers that lay on disk."""
    values: np.ndarray = table[numbers.astype(np.int64)]
    return values
