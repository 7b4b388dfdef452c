"""Rules that people can read: class association rules (CBA) and the cells they speak of.

Cells of a table become items, frequent sets of items become rules, and the best rules become a list that
classifies. Bins and CBA are estimators of scikit-learn's kind without importing it: this room needs no extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.rules._bins import (
        EqualWidthBins,
        QuantileBins,
        SupervisedBins,
        put_into_bins,
        supervised_cuts,
    )
    from mahrem.learning.rules._cba import CBA, CbaSettings, Cut, cba, cut_list, rules_as_text
    from mahrem.learning.rules._class_rules import (
        MINERS,
        ClassRules,
        Mining,
        class_rules,
        least_rows,
        mine_sets,
        pessimistic_error,
    )
    from mahrem.learning.rules._items import Items, as_cells, learn_items, number_classes
    from mahrem.learning.rules._rule_list import Rule, RuleList
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CBA",
    "MINERS",
    "CbaSettings",
    "ClassRules",
    "Cut",
    "EqualWidthBins",
    "Items",
    "Mining",
    "QuantileBins",
    "Rule",
    "RuleList",
    "SupervisedBins",
    "as_cells",
    "cba",
    "class_rules",
    "cut_list",
    "learn_items",
    "least_rows",
    "mine_sets",
    "number_classes",
    "pessimistic_error",
    "put_into_bins",
    "rules_as_text",
    "supervised_cuts",
]
