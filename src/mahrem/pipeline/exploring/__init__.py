"""What is looked at before a table is released: its columns, hierarchies, lattice, people and drafts.

Nothing here publishes: what it gives is shown to whoever holds the table. It uses ``comparing`` and
``releasing``; no other room of ``pipeline`` uses it.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.exploring._explorer import Explorer as Explorer
    from mahrem.pipeline.exploring._hierarchy import check_hierarchy as check_hierarchy
    from mahrem.pipeline.exploring._hierarchy import make_hierarchy as make_hierarchy
    from mahrem.pipeline.exploring._inspect import Inspection as Inspection
    from mahrem.pipeline.exploring._inspect import column_decisions as column_decisions
    from mahrem.pipeline.exploring._inspect import inspect as inspect
    from mahrem.pipeline.exploring._lattice import GeneralisationLattice as GeneralisationLattice
    from mahrem.pipeline.exploring._lattice import NodeVerdict as NodeVerdict
    from mahrem.pipeline.exploring._lattice import lattice as lattice
    from mahrem.pipeline.exploring._portraits import portray as portray
else:
    __getattr__, __dir__, __all__ = offered(__name__)
