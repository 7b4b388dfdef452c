"""What the published cells say about utility: penalties per class and column, added up over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.types import Floats, Mask, Sizes

_GRID = 10**9  # steps of a loss; of nine thousand million rows they still fit into 63 bits


def gcp_sum(sizes: Sizes, ncp: Floats, *, weights: Floats | None = None, suppressed: int = 0) -> float:
    """Certainty penalty summed over all published cells. Smaller is better.

    Range: from 0 (every value published as it is) to rows times the sum of weights. A suppressed row costs
    the sum of weights. Canbay (2019) prints this sum as GCP; his text defines the scaled :func:`gcp`.

    Args:
        sizes: ``(c,)`` rows in each class.
        ncp: ``(c, d)`` normalised certainty penalty of each class in each column, in [0, 1]: width over the
            domain's width for numbers; for categories 0 for one leaf, else leaves over all leaves.
        weights: ``(d,)`` what each column counts; 1 by default.
        suppressed: Rows that show nothing.

    References:
        Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, 2006.

    Example:
        >>> import numpy as np
        >>> gcp_sum(np.array([3, 2]), np.array([[0.5, 0.0], [0.25, 1.0]]))
        4.0
    """
    return _weighted(sizes, ncp, weights, suppressed)


def gcp(sizes: Sizes, ncp: Floats, *, weights: Floats | None = None, suppressed: int = 0) -> float:
    """Global certainty penalty: the mean penalty of a cell. Smaller is better.

    Range: from 0 (every value published as it is) to 1 (nothing published); 0 without rows or columns.
    :func:`gcp_sum` over all rows, suppressed ones too, times the sum of weights.

    Args:
        sizes: ``(c,)`` rows in each class.
        ncp: ``(c, d)`` normalised certainty penalty of each class in each column.
        weights: ``(d,)`` what each column counts; 1 by default.
        suppressed: Rows that show nothing.

    References:
        Ghinita, Karras, Kalnis, Mamoulis: Fast data anonymization with low information loss, 2007.

    Example:
        >>> import numpy as np
        >>> gcp(np.array([3, 2]), np.array([[0.5, 0.0], [0.25, 1.0]]))
        0.4
    """
    most = float(_checked(ncp, weights).sum()) * (int(np.sum(sizes)) + suppressed)
    return _weighted(sizes, ncp, weights, suppressed) / most if most > 0 else 0.0


def iloss(sizes: Sizes, loss: Floats, *, weights: Floats | None = None, suppressed: int = 0) -> float:
    """ILoss summed over all published cells. Smaller is better.

    Range: from 0 (every value published as it is) to below rows times the sum of weights. A suppressed row
    costs the sum of weights, a little more than a cell that says "anything", which still says it is there.

    Args:
        sizes: ``(c,)`` rows in each class.
        loss: ``(c, d)`` ``(leaves - 1) / domain`` of each class in each column.
        weights: ``(d,)`` what each column counts; 1 by default.
        suppressed: Rows that show nothing.

    References:
        Xiao, Tao: Personalized privacy preservation, 2006.

    Example:
        >>> import numpy as np
        >>> iloss(np.array([3, 2]), np.array([[0.5], [0.0]]), suppressed=1)
        2.5
    """
    return _weighted(sizes, loss, weights, suppressed)


def distortion(sizes: Sizes, exact: Mask, suppressed: int = 0) -> int:
    """Minimal distortion (MD): how many cells do not say the very value. Smaller is better.

    Range: from 0 (every value published as it is) to rows times columns. Each generalised or suppressed cell
    is one unit, whatever it still says.

    Args:
        sizes: ``(c,)`` rows in each class.
        exact: ``(c, d)`` whether a class's cell says the very value.
        suppressed: Rows that show nothing.

    References:
        Samarati: Protecting respondents' identities in microdata release, 2001.

    Example:
        >>> import numpy as np
        >>> distortion(np.array([3, 2]), np.array([[True, False], [False, False]]), suppressed=1)
        9
    """
    generalised = np.count_nonzero(~exact, axis=1)
    return int(np.dot(np.asarray(sizes, dtype=np.int64), generalised)) + int(suppressed) * int(exact.shape[1])


def weighed(sizes: Sizes, loss: Floats) -> float:
    """Add up a loss over rows; as whole steps of a grid, so that the order of classes changes nothing."""
    return int(np.asarray(sizes, dtype=np.int64) @ np.rint(loss * _GRID).astype(np.int64)) / _GRID


def _weighted(sizes: Sizes, loss: Floats, weights: Floats | None, suppressed: int) -> float:
    """Add up losses over rows and columns."""
    counting = _checked(loss, weights)
    lost = sum(float(weight) * weighed(sizes, loss[:, column]) for column, weight in enumerate(counting))
    return lost + suppressed * float(counting.sum())


def _checked(loss: Floats, weights: Floats | None) -> Floats:
    """Give the weight of every column."""
    columns = loss.shape[1]
    if weights is None:
        return np.ones(columns)
    if len(weights) != columns:
        raise InvalidParameter(f"weights={len(weights)} must be as many as the columns, {columns}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidParameter("weights must be finite and not below 0")
    return np.asarray(weights, dtype=np.float64)
