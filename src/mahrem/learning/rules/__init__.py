"""Rules that people can read: class association rules (CBA) and the cells they speak of.

Cells of a table become items, frequent sets of items become rules, and the best rules become a list that
classifies. Bins and CBA are estimators of scikit-learn's kind without importing it: this room needs no extra.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.rules._bins import EqualWidthBins as EqualWidthBins
    from mahrem.learning.rules._bins import QuantileBins as QuantileBins
    from mahrem.learning.rules._bins import SupervisedBins as SupervisedBins
    from mahrem.learning.rules._bins import put_into_bins as put_into_bins
    from mahrem.learning.rules._bins import supervised_cuts as supervised_cuts
    from mahrem.learning.rules._cba import CBA as CBA
    from mahrem.learning.rules._cba import CbaSettings as CbaSettings
    from mahrem.learning.rules._cba import Cut as Cut
    from mahrem.learning.rules._cba import cba as cba
    from mahrem.learning.rules._cba import cut_list as cut_list
    from mahrem.learning.rules._cba import rules_as_text as rules_as_text
    from mahrem.learning.rules._class_rules import MINERS as MINERS
    from mahrem.learning.rules._class_rules import ClassRules as ClassRules
    from mahrem.learning.rules._class_rules import Mining as Mining
    from mahrem.learning.rules._class_rules import class_rules as class_rules
    from mahrem.learning.rules._class_rules import least_rows as least_rows
    from mahrem.learning.rules._class_rules import mine_sets as mine_sets
    from mahrem.learning.rules._class_rules import pessimistic_error as pessimistic_error
    from mahrem.learning.rules._items import Items as Items
    from mahrem.learning.rules._items import as_cells as as_cells
    from mahrem.learning.rules._items import learn_items as learn_items
    from mahrem.learning.rules._items import number_classes as number_classes
    from mahrem.learning.rules._rule_list import Rule as Rule
    from mahrem.learning.rules._rule_list import RuleList as RuleList
else:
    __getattr__, __dir__, __all__ = offered(__name__)
