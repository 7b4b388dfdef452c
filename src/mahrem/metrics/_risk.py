"""How likely a row is tied to its person by somebody who knows the quasi-identifiers (the prosecutor)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mahrem import check

if TYPE_CHECKING:
    from mahrem.types import Integers, Sizes


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
