"""Cells that are hidden instead of coarsened: which, and as few as can be found.

Local suppression is a method like any other; key sets hide until every set of columns is frequent enough.
Both share how hidden cells are coded and counted.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.hiding._key_sets import HIDDEN as HIDDEN
    from mahrem.partition.hiding._key_sets import KeySet as KeySet
    from mahrem.partition.hiding._key_sets import hide_for_sets as hide_for_sets
    from mahrem.partition.hiding._local_suppression import LocalSuppression as LocalSuppression
else:
    __getattr__, __dir__, __all__ = offered(__name__)
