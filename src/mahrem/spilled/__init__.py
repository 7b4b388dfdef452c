"""Tables that do not fit into memory, on one machine: columns on disk, cut by passes, finished part by part.

A first pass looks at every cell and writes what the cuts depend on into a private folder; passes over that
cut the table until parts fit, as a cluster does; every part is finished by the same kernels as in memory, and
its rows go out in the same order. What comes out is the file that a run in memory writes.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.spilled._bound import MemoryBound as MemoryBound
    from mahrem.spilled._bound import needed_in_memory as needed_in_memory
    from mahrem.spilled._bound import usual_bound as usual_bound
    from mahrem.spilled._cut import PartPlan as PartPlan
    from mahrem.spilled._cut import plan_parts as plan_parts
    from mahrem.spilled._encode import SpilledTable as SpilledTable
    from mahrem.spilled._encode import encode_table as encode_table
    from mahrem.spilled._encode import with_recodings as with_recodings
    from mahrem.spilled._finish import PartFinisher as PartFinisher
    from mahrem.spilled._finish import finish_parts as finish_parts
    from mahrem.spilled._finish import scatter_rows as scatter_rows
    from mahrem.spilled._frames import FrameFiles as FrameFiles
    from mahrem.spilled._frames import on_disk as on_disk
    from mahrem.spilled._order import RowOrder as RowOrder
    from mahrem.spilled._pace import Pace as Pace
    from mahrem.spilled._places import PERSON as PERSON
    from mahrem.spilled._places import HashedPeople as HashedPeople
    from mahrem.spilled._places import SortedRows as SortedRows
    from mahrem.spilled._places import prepared_from as prepared_from
    from mahrem.spilled._refuse import why_not_by_passes as why_not_by_passes
    from mahrem.spilled._refuse import why_not_out_of_core as why_not_out_of_core
    from mahrem.spilled._rows import RowStore as RowStore
    from mahrem.spilled._sample import sample_that_fits as sample_that_fits
    from mahrem.spilled._texts import look_at_texts as look_at_texts
else:
    __getattr__, __dir__, __all__ = offered(__name__)
