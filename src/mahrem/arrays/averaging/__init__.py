"""Groups around averages: microaggregation, balls, means of k and what polishes them.

All take points as rows of floats and give a label for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.averaging._anonymeans import groups_from_centres, groups_from_labels, squared_error
    from mahrem.arrays.averaging._balls import Balls, grow_balls
    from mahrem.arrays.averaging._lloyd import assign, lloyd, spread_centres
    from mahrem.arrays.averaging._mdav import mdav_groups, mdav_plus_groups
    from mahrem.arrays.averaging._merge import INNER, OUTER, SINGLE
    from mahrem.arrays.averaging._polish import polish
    from mahrem.arrays.averaging._reassign import improve
    from mahrem.arrays.averaging._vantage import Vantage
    from mahrem.arrays.averaging._variable_mdav import extended_groups
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "INNER",
    "OUTER",
    "SINGLE",
    "Balls",
    "Vantage",
    "assign",
    "extended_groups",
    "groups_from_centres",
    "groups_from_labels",
    "grow_balls",
    "improve",
    "lloyd",
    "mdav_groups",
    "mdav_plus_groups",
    "polish",
    "spread_centres",
    "squared_error",
]
