"""Suppress a whole attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.table import Axis, Cells
from mahrem.table.cells import SUPPRESSED
from mahrem.types import Labels


@dataclass(frozen=True)
class Whole:
    """Show ``*`` in every class, also where values are missing.

    Guarantees:
        - No cell says anything.

    References:
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> from mahrem.table import Numbers
        >>> axis = Axis("age", np.array([1.0, 2.0]), Numbers(1, 2, True))
        >>> Whole()(axis, np.array([0, 1]), 2).text.to_list()
        ['*', '*']
    """

    def __call__(self, axis: Axis, labels: Labels, classes: int) -> Cells:  # noqa: ARG002 - as all recodings
        """Write one cell for each class."""
        return Cells(
            text=pl.Series("text", [SUPPRESSED], dtype=pl.String).new_from_index(0, classes),
            low=None,
            high=None,
            suppressed=np.ones(classes, np.bool_),
        )
