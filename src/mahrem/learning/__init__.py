"""What is left for learning: classifiers trained on anonymised rows and tested on untouched ones.

Needs the extra ``learning`` (scikit-learn), which is loaded when a classifier is trained and not before.
CBA and the bins need no extra: they are estimators of scikit-learn's kind without importing it.
"""

from mahrem.learning._bins import EqualWidthBins, QuantileBins, SupervisedBins, supervised_cuts
from mahrem.learning._cba import CBA, CbaSettings, Cover, cba, cut_list, rules_as_text
from mahrem.learning._class_rules import (
    MINERS,
    ClassRules,
    Miner,
    SupportOf,
    class_rules,
    least_rows,
    mine_sets,
    pessimistic_error,
)
from mahrem.learning._classifiers import CLASSIFIERS, Fitted, train
from mahrem.learning._evaluate import (
    DEFAULT_CLASSIFIERS,
    Anonymise,
    Protocol,
    Published,
    evaluate,
    target_codes,
)
from mahrem.learning._features import Encoder, Features, fit_encoder
from mahrem.learning._items import Items, as_cells, covered_bits, learn_items, number_classes
from mahrem.learning._rule_list import Rule, RuleList, item_matrix
from mahrem.learning._scores import FIGURES, Score, Scores

__all__ = [
    "CBA",
    "CLASSIFIERS",
    "DEFAULT_CLASSIFIERS",
    "FIGURES",
    "MINERS",
    "Anonymise",
    "CbaSettings",
    "ClassRules",
    "Cover",
    "Encoder",
    "EqualWidthBins",
    "Features",
    "Fitted",
    "Items",
    "Miner",
    "Protocol",
    "Published",
    "QuantileBins",
    "Rule",
    "RuleList",
    "Score",
    "Scores",
    "SupervisedBins",
    "SupportOf",
    "as_cells",
    "cba",
    "class_rules",
    "covered_bits",
    "cut_list",
    "evaluate",
    "fit_encoder",
    "item_matrix",
    "learn_items",
    "least_rows",
    "mine_sets",
    "number_classes",
    "pessimistic_error",
    "rules_as_text",
    "supervised_cuts",
    "target_codes",
    "train",
]
