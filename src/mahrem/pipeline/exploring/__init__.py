"""What is looked at before a table is released: its columns, hierarchies, lattice, people and drafts.

Nothing here publishes: what it gives is shown to whoever holds the table. It uses ``comparing`` and
``releasing``; no other room of ``pipeline`` uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.pipeline.exploring._explorer import Explorer
    from mahrem.pipeline.exploring._hierarchy import check_hierarchy, make_hierarchy
    from mahrem.pipeline.exploring._inspect import Inspection, column_decisions, inspect
    from mahrem.pipeline.exploring._lattice import GeneralisationLattice, NodeVerdict, lattice
    from mahrem.pipeline.exploring._portraits import portray
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Explorer",
    "GeneralisationLattice",
    "Inspection",
    "NodeVerdict",
    "check_hierarchy",
    "column_decisions",
    "inspect",
    "lattice",
    "make_hierarchy",
    "portray",
]
