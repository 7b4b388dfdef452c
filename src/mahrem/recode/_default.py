"""Choose how a column is rewritten from what its axis means."""

from __future__ import annotations

from mahrem.recode._intervals import Bounds, Intervals
from mahrem.recode._nodes import Nodes
from mahrem.recode._prefixes import Prefixes
from mahrem.recode._recoding import Recoding
from mahrem.recode._sets import Sets
from mahrem.table import Axis, Leaves, Words


def default_recoding(
    axis: Axis, *, bounds: Bounds = "grid", step: float | str | None = None, shifted: bool = False
) -> Recoding:
    """Give intervals for numbers and dates, sets for words, beginnings for codes, nodes for hierarchies.

    Args:
        axis: The column.
        bounds: Of intervals: moved out to a grid, or exact.
        step: Of the grid.
        shifted: Put its lines half a step off round numbers.

    Example:
        >>> import numpy as np
        >>> default_recoding(Axis("job", np.zeros(1), Words(("nurse",))))
        Sets()
    """
    match axis.domain:
        case Leaves():
            return Nodes()
        case Words(prefixes=True):
            return Prefixes()
        case Words():
            return Sets()
        case _:
            return Intervals(bounds=bounds, step=step, shifted=shifted)
