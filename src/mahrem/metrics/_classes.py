"""What the sizes of the classes say about utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mahrem import check

if TYPE_CHECKING:
    from mahrem.types import Sizes

_SQUARES_FIT: Final = 3_000_000_000  # the square of so many rows still fits into 63 bits


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
