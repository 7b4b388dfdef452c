"""Tables that do not fit into memory, on one machine: columns on disk, cut by passes, finished part by part.

A first pass looks at every cell and writes what the cuts depend on into a private folder; passes over that
cut the table until parts fit, as a cluster does; every part is finished by the same kernels as in memory, and
its rows go out in the same order. What comes out is the file that a run in memory writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.spilled._bound import MemoryBound, needed_in_memory, usual_bound
    from mahrem.spilled._cut import PartPlan, plan_parts
    from mahrem.spilled._encode import SpilledTable, encode_table, with_recodings
    from mahrem.spilled._finish import PartFinisher, finish_parts, scatter_rows
    from mahrem.spilled._frames import FrameFiles, on_disk
    from mahrem.spilled._order import RowOrder
    from mahrem.spilled._pace import Pace
    from mahrem.spilled._places import PERSON, HashedPeople, SortedRows, prepared_from
    from mahrem.spilled._refuse import why_not_by_passes, why_not_out_of_core
    from mahrem.spilled._rows import RowStore
    from mahrem.spilled._sample import sample_that_fits
    from mahrem.spilled._texts import look_at_texts
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PERSON",
    "FrameFiles",
    "HashedPeople",
    "MemoryBound",
    "Pace",
    "PartFinisher",
    "PartPlan",
    "RowOrder",
    "RowStore",
    "SortedRows",
    "SpilledTable",
    "encode_table",
    "finish_parts",
    "look_at_texts",
    "needed_in_memory",
    "on_disk",
    "plan_parts",
    "prepared_from",
    "sample_that_fits",
    "scatter_rows",
    "usual_bound",
    "why_not_by_passes",
    "why_not_out_of_core",
    "with_recodings",
]
