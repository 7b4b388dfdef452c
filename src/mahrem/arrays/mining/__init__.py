"""Sets of items and the rules made of them: counting on packed bits, mining, covering.

Rows are bits of items; nothing here knows what an item means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.mining._bits import Bits, ItemMatrix, count_sets, pack_bits
    from mahrem.arrays.mining._itemsets import apriori_sets, eclat_sets, join_sets, outdone_sets
    from mahrem.arrays.mining._prefix_tree import fp_growth_sets
    from mahrem.arrays.mining._rule_cover import cover_first, cover_marked, first_correct, first_match
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Bits",
    "ItemMatrix",
    "apriori_sets",
    "count_sets",
    "cover_first",
    "cover_marked",
    "eclat_sets",
    "first_correct",
    "first_match",
    "fp_growth_sets",
    "join_sets",
    "outdone_sets",
    "pack_bits",
]
