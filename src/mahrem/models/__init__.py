"""Privacy models: what is promised about every class, judged for all classes at once.

A model is a frozen dataclass that sees a column as sorted (class, value, count) triplets and declares its
algebra: whether a union of admissible classes is admissible, and whether a larger level is safer. A
:class:`Promise` ties a model to a column; :func:`judge` says what a table makes of it. What counts on the
population behind a sample is in ``populations``, who shows which values in ``people``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.models._alpha_k import AlphaK
    from mahrem.models._beta_likeness import BasicLikeness, EnhancedLikeness
    from mahrem.models._counts import Counts, Need, PrivacyModel, counts_of, holds_either_way, people_counts
    from mahrem.models._delta_disclosure import DeltaDisclosure
    from mahrem.models._delta_presence import DeltaPresence, ShownPresence
    from mahrem.models._entries import (
        COUNTED,
        MODELS,
        TABLE_SETTINGS,
        ModelEntry,
        ModelKeywords,
        model_setting,
        model_settings,
    )
    from mahrem.models._k_anonymity import KAnonymity, TrajectoryAnonymity
    from mahrem.models._l_diversity import (
        DistinctDiversity,
        EntropyDiversity,
        GrassbergerDiversity,
        RecursiveDiversity,
    )
    from mahrem.models._parse import model_of_risk, models_from_settings, models_of_risk, parse_sensitive
    from mahrem.models._promise import Outcome, Promise, judge, refuse_unreachable
    from mahrem.models._shares import spans_of
    from mahrem.models._t_closeness import (
        EqualCloseness,
        HierarchicalCloseness,
        KLCloseness,
        OrderedCloseness,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "COUNTED",
    "MODELS",
    "TABLE_SETTINGS",
    "AlphaK",
    "BasicLikeness",
    "Counts",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EnhancedLikeness",
    "EntropyDiversity",
    "EqualCloseness",
    "GrassbergerDiversity",
    "HierarchicalCloseness",
    "KAnonymity",
    "KLCloseness",
    "ModelEntry",
    "ModelKeywords",
    "Need",
    "OrderedCloseness",
    "Outcome",
    "PrivacyModel",
    "Promise",
    "RecursiveDiversity",
    "ShownPresence",
    "TrajectoryAnonymity",
    "counts_of",
    "holds_either_way",
    "judge",
    "model_of_risk",
    "model_setting",
    "model_settings",
    "models_from_settings",
    "models_of_risk",
    "parse_sensitive",
    "people_counts",
    "refuse_unreachable",
    "spans_of",
]
