"""Groups around averages: microaggregation, balls, means of k and what polishes them.

All take points as rows of floats and give a label for each.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.averaging._anonymeans import groups_from_centres as groups_from_centres
    from mahrem.arrays.averaging._anonymeans import groups_from_labels as groups_from_labels
    from mahrem.arrays.averaging._anonymeans import squared_error as squared_error
    from mahrem.arrays.averaging._balls import Balls as Balls
    from mahrem.arrays.averaging._balls import grow_balls as grow_balls
    from mahrem.arrays.averaging._lloyd import assign as assign
    from mahrem.arrays.averaging._lloyd import lloyd as lloyd
    from mahrem.arrays.averaging._lloyd import spread_centres as spread_centres
    from mahrem.arrays.averaging._mdav import mdav_groups as mdav_groups
    from mahrem.arrays.averaging._mdav import mdav_plus_groups as mdav_plus_groups
    from mahrem.arrays.averaging._merge import INNER as INNER
    from mahrem.arrays.averaging._merge import OUTER as OUTER
    from mahrem.arrays.averaging._merge import SINGLE as SINGLE
    from mahrem.arrays.averaging._polish import polish as polish
    from mahrem.arrays.averaging._reassign import improve as improve
    from mahrem.arrays.averaging._vantage import Vantage as Vantage
    from mahrem.arrays.averaging._variable_mdav import extended_groups as extended_groups
else:
    __getattr__, __dir__, __all__ = offered(__name__)
