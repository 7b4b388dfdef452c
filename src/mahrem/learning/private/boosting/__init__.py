"""Boosted trees under differential privacy: splits drawn without the data, leaves under noise.

Each record pays for itself.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private.boosting._plan import BoostingPlan as BoostingPlan
    from mahrem.learning.private.boosting._private_boosting import BoostedTrees as BoostedTrees
    from mahrem.learning.private.boosting._private_boosting import PrivateBoosting as PrivateBoosting
    from mahrem.learning.private.boosting._private_boosting import (
        PrivateBoostingRegressor as PrivateBoostingRegressor,
    )
    from mahrem.learning.private.boosting._random_trees import RandomTrees as RandomTrees
else:
    __getattr__, __dir__, __all__ = offered(__name__)
