"""Boosted trees under differential privacy: splits drawn without the data, leaves under noise.

Each record pays for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private.boosting._plan import BoostingPlan
    from mahrem.learning.private.boosting._private_boosting import (
        BoostedTrees,
        PrivateBoosting,
        PrivateBoostingRegressor,
    )
    from mahrem.learning.private.boosting._random_trees import RandomTrees
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BoostedTrees",
    "BoostingPlan",
    "PrivateBoosting",
    "PrivateBoostingRegressor",
    "RandomTrees",
]
