"""Classes grown and repaired for what is published, with the promise inside every step.

Cells have costs, promises say what a class still needs, and both follow a row that comes or goes.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.growing._costs import RANGE as RANGE
    from mahrem.arrays.growing._costs import SET as SET
    from mahrem.arrays.growing._costs import TREE as TREE
    from mahrem.arrays.growing._costs import CellCosts as CellCosts
    from mahrem.arrays.growing._promises import BOUNDS as BOUNDS
    from mahrem.arrays.growing._promises import DISTINCT as DISTINCT
    from mahrem.arrays.growing._promises import DIVERGENCE as DIVERGENCE
    from mahrem.arrays.growing._promises import ENTROPY as ENTROPY
    from mahrem.arrays.growing._promises import NODES as NODES
    from mahrem.arrays.growing._promises import ORDERED as ORDERED
    from mahrem.arrays.growing._promises import SURPLUS as SURPLUS
    from mahrem.arrays.growing._promises import TAIL as TAIL
    from mahrem.arrays.growing._promises import Promises as Promises
    from mahrem.arrays.growing._tiles import Thoroughness as Thoroughness
    from mahrem.arrays.growing._tiles import class_costs as class_costs
    from mahrem.arrays.growing._tiles import grow_under_promises as grow_under_promises
    from mahrem.arrays.growing._tiles import place_waiting as place_waiting
    from mahrem.arrays.growing._tiles import repair_round as repair_round
else:
    __getattr__, __dir__, __all__ = offered(__name__)
