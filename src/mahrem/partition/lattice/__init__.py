"""Methods that lift whole columns: a lattice of levels, searches through it, and what a node is judged by.

A search says which nodes to try; the judge counts and the objective ranks them. Local recoding refines what
a search found, class by class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.lattice._bottom_up import BottomUp
    from mahrem.partition.lattice._datafly import Datafly
    from mahrem.partition.lattice._flash import Flash
    from mahrem.partition.lattice._incognito import Incognito
    from mahrem.partition.lattice._lattice import Grouped, Tree, lattice_of_trees
    from mahrem.partition.lattice._lattice_profits import NodeProfits
    from mahrem.partition.lattice._lattice_search import FullDomain, Search
    from mahrem.partition.lattice._local import LocalRecoding
    from mahrem.partition.lattice._mingen import MinGen
    from mahrem.partition.lattice._objective import RankedLoss
    from mahrem.partition.lattice._objective_entries import OBJECTIVES, ObjectiveEntry
    from mahrem.partition.lattice._ola import Ola
    from mahrem.partition.lattice._top_down import TopDown
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "OBJECTIVES",
    "BottomUp",
    "Datafly",
    "Flash",
    "FullDomain",
    "Grouped",
    "Incognito",
    "LocalRecoding",
    "MinGen",
    "NodeProfits",
    "ObjectiveEntry",
    "Ola",
    "RankedLoss",
    "Search",
    "TopDown",
    "Tree",
    "lattice_of_trees",
]
