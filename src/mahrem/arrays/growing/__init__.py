"""Classes grown and repaired for what is published, with the promise inside every step.

Cells have costs, promises say what a class still needs, and both follow a row that comes or goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.growing._costs import RANGE, SET, TREE, CellCosts
    from mahrem.arrays.growing._promises import (
        BOUNDS,
        DISTINCT,
        DIVERGENCE,
        ENTROPY,
        NODES,
        ORDERED,
        SURPLUS,
        TAIL,
        Promises,
    )
    from mahrem.arrays.growing._tiles import (
        Thoroughness,
        class_costs,
        grow_under_promises,
        place_waiting,
        repair_round,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BOUNDS",
    "DISTINCT",
    "DIVERGENCE",
    "ENTROPY",
    "NODES",
    "ORDERED",
    "RANGE",
    "SET",
    "SURPLUS",
    "TAIL",
    "TREE",
    "CellCosts",
    "Promises",
    "Thoroughness",
    "class_costs",
    "grow_under_promises",
    "place_waiting",
    "repair_round",
]
