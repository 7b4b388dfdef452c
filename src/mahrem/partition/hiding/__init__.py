"""Cells that are hidden instead of coarsened: which, and as few as can be found.

Local suppression is a method like any other; key sets hide until every set of columns is frequent enough.
Both share how hidden cells are coded and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.hiding._key_sets import HIDDEN, KeySet, hide_for_sets
    from mahrem.partition.hiding._local_suppression import LocalSuppression
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "HIDDEN",
    "KeySet",
    "LocalSuppression",
    "hide_for_sets",
]
