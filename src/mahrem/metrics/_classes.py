"""What the sizes of the classes say: about utility, and about who is tied to a row (by the prosecutor)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mahrem import check

if TYPE_CHECKING:
    from mahrem.types import Integers, Sizes

_SQUARES_FIT: Final = 3_000_000_000  # the square of so many rows still fits into 63 bits
_BINS: Final = 24
# Edges of class sizes beyond the first few, finest first, as digits of one decade.
_LADDERS = ((1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def discernibility(sizes: Sizes, *, suppressed: int = 0, rows: int = 0) -> int:
    """Discernibility (DM): how many rows each row cannot be told from, summed. Smaller is better.

    Range: from ``rows`` (all told apart) to ``rows ** 2``. A class costs its size squared; a suppressed row
    cannot be told from any row and costs all of them.

    Args:
        sizes: ``(c,)`` rows in each class.
        suppressed: Rows that show nothing.
        rows: All rows, the suppressed ones too; matters only when some are suppressed.

    References:
        Bayardo, Agrawal: Data privacy through optimal k-anonymization, 2005. ARX reports it turned round
        and scaled to [0, 1], larger being better.

    Example:
        >>> import numpy as np
        >>> discernibility(np.array([5, 4])), discernibility(np.array([3, 3, 3]))
        (41, 27)
    """
    exact = np.asarray(sizes, dtype=np.int64)
    if int(exact.sum()) > _SQUARES_FIT:
        exact = exact.astype(np.object_)  # Python's whole numbers have no end
    return int(np.dot(exact, exact)) + int(suppressed) * int(rows)


def mean_class_size(sizes: Sizes) -> float:
    """Mean class size: published rows over classes. Smaller is better.

    Range: from 1 (all told apart) to the number of rows; 0 without classes. Canbay (2019) prints it as AECS;
    ARX's figure of that name is this one scaled and turned round. With k it becomes :func:`c_avg`.

    Example:
        >>> import numpy as np
        >>> mean_class_size(np.array([5, 4]))
        4.5
    """
    return float(np.mean(sizes)) if len(sizes) else 0.0


def c_avg(sizes: Sizes, k: int) -> float:
    """C_avg: mean class size over the ``k`` that was asked for. Smaller is better, 1 is the best there is.

    Range: from 1 upwards when every class has ``k`` rows; 0 without classes. pyCANON divides by the k
    that was reached instead.

    References:
        LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import numpy as np
        >>> c_avg(np.array([5, 4]), k=3)
        1.5
    """
    check.at_least(1, k=check.whole(k=k))
    return mean_class_size(sizes) / k


def class_count(sizes: Sizes) -> int:
    """Classes of the partition. More are better."""
    return len(sizes)


def published_count(published: int) -> int:
    """Distinct published vectors. More are better."""
    return published


def suppressed_count(suppressed: int) -> int:
    """Rows that show nothing. Fewer are better."""
    return suppressed


def highest_risk(sizes: Sizes) -> float:
    """Highest risk: one over the smallest class. Smaller is safer.

    Range: from 0 (nothing published) to 1 (somebody stands alone); at most ``1 / k`` under k-anonymity.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008; R_b there.

    Example:
        >>> import numpy as np
        >>> highest_risk(np.array([5, 4]))
        0.25
    """
    shown = _shown(sizes)
    return 1.0 / int(shown.min()) if len(shown) else 0.0


def average_risk(sizes: Sizes) -> float:
    """Average risk: the mean over rows of one over their class's size, classes over rows. Smaller is safer.

    Range: from 0 (nothing published) to 1 (everybody stands alone). As in ARX; pyCANON's ``average_rir``
    is the mean over classes, which is another figure.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008; R_c there.

    Example:
        >>> import numpy as np
        >>> average_risk(np.array([5, 3]))
        0.25
    """
    shown = _shown(sizes)
    return len(shown) / int(shown.sum()) if len(shown) else 0.0


def share_at_risk(sizes: Sizes, threshold: float) -> float:
    """Share of rows whose risk, one over the size of their class, is above ``threshold``. Smaller is safer.

    Range: from 0 to 1; 0 when nothing is published.

    References:
        El Emam, Dankar: Protecting privacy using k-anonymity, 2008; R_a there.

    Example:
        >>> import numpy as np
        >>> share_at_risk(np.array([6, 2]), threshold=0.2)
        0.25
    """
    check.between(0, 1, threshold=threshold)
    shown = _shown(sizes)
    return int(shown[1.0 / shown > threshold].sum()) / int(shown.sum()) if len(shown) else 0.0


def unique_share(sizes: Sizes) -> float:
    """Share of rows that stand alone in their class. Smaller is safer.

    Range: from 0 to 1; 0 when nothing is published, and under k-anonymity with k above 1.

    Example:
        >>> import numpy as np
        >>> unique_share(np.array([1, 2, 1]))
        0.5
    """
    shown = _shown(sizes)
    return int(np.count_nonzero(shown == 1)) / int(shown.sum()) if len(shown) else 0.0


def _shown(sizes: Sizes) -> Integers:
    """Leave out classes without rows: there is nobody in them to find."""
    exact = np.asarray(sizes, dtype=np.int64)
    return exact[exact > 0]


def class_size_bins(sizes: Sizes) -> list[dict[str, int]]:
    """Count classes and rows by class size on at most 24 bins; ``from`` and ``to`` both lie inside.

    Example:
        >>> import numpy as np
        >>> class_size_bins(np.array([5, 5, 7]))[0]
        {'from': 5, 'to': 5, 'classes': 2, 'rows': 10}
    """
    present = np.asarray(sizes)[np.asarray(sizes) > 0]
    if not len(present):
        return []
    edges = _size_edges(int(present.min()), int(present.max()))
    place = np.searchsorted(edges, present, side="right") - 1
    classes = np.bincount(place, minlength=len(edges) - 1)
    rows = np.zeros(len(edges) - 1, dtype=np.int64)
    np.add.at(rows, place, present)
    return [
        {"from": int(edges[i]), "to": int(edges[i + 1] - 1), "classes": int(classes[i]), "rows": int(rows[i])}
        for i in range(len(edges) - 1)
    ]


def _size_edges(low: int, high: int) -> Integers:
    if high - low < _BINS:
        return np.arange(low, high + 2)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high + 1)) + 1)
    for digits in _LADDERS:
        steps = np.unique([round(digit * 10**power) for power in decades for digit in digits])
        first, last = (
            np.searchsorted(steps, low, side="right") - 1,
            np.searchsorted(steps, high, side="right"),
        )
        if last - first <= _BINS:
            break
    return np.asarray(np.maximum(steps[first : last + 1], low), dtype=np.int64)
