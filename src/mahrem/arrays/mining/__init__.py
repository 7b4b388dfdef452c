"""Sets of items and the rules made of them: counting on packed bits, mining, covering.

Rows are bits of items; nothing here knows what an item means.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.mining._bits import Bits as Bits
    from mahrem.arrays.mining._bits import ItemMatrix as ItemMatrix
    from mahrem.arrays.mining._bits import count_sets as count_sets
    from mahrem.arrays.mining._bits import pack_bits as pack_bits
    from mahrem.arrays.mining._itemsets import apriori_sets as apriori_sets
    from mahrem.arrays.mining._itemsets import eclat_sets as eclat_sets
    from mahrem.arrays.mining._itemsets import join_sets as join_sets
    from mahrem.arrays.mining._itemsets import outdone_sets as outdone_sets
    from mahrem.arrays.mining._prefix_tree import fp_growth_sets as fp_growth_sets
    from mahrem.arrays.mining._rule_cover import cover_first as cover_first
    from mahrem.arrays.mining._rule_cover import cover_marked as cover_marked
    from mahrem.arrays.mining._rule_cover import first_correct as first_correct
    from mahrem.arrays.mining._rule_cover import first_match as first_match
else:
    __getattr__, __dir__, __all__ = offered(__name__)
