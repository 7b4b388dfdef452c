"""Methods that lift whole columns: a lattice of levels, searches through it, and what a node is judged by.

A search says which nodes to try; the judge counts and the objective ranks them. Local recoding refines what
a search found, class by class.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.lattice._bottom_up import BottomUp as BottomUp
    from mahrem.partition.lattice._datafly import Datafly as Datafly
    from mahrem.partition.lattice._flash import Flash as Flash
    from mahrem.partition.lattice._incognito import Incognito as Incognito
    from mahrem.partition.lattice._lattice import Grouped as Grouped
    from mahrem.partition.lattice._lattice import Tree as Tree
    from mahrem.partition.lattice._lattice import lattice_of_trees as lattice_of_trees
    from mahrem.partition.lattice._lattice_profits import NodeProfits as NodeProfits
    from mahrem.partition.lattice._lattice_search import FullDomain as FullDomain
    from mahrem.partition.lattice._lattice_search import Search as Search
    from mahrem.partition.lattice._local import LocalRecoding as LocalRecoding
    from mahrem.partition.lattice._mingen import MinGen as MinGen
    from mahrem.partition.lattice._objective import RankedLoss as RankedLoss
    from mahrem.partition.lattice._objective_entries import OBJECTIVES as OBJECTIVES
    from mahrem.partition.lattice._objective_entries import ObjectiveEntry as ObjectiveEntry
    from mahrem.partition.lattice._ola import Ola as Ola
    from mahrem.partition.lattice._top_down import TopDown as TopDown
else:
    __getattr__, __dir__, __all__ = offered(__name__)
