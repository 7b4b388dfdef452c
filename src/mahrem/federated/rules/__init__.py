"""Class association rules (CBA) over tables that stay where they are.

Exactly, from counts alone, or in one shot, where each client's rules are merged. Clients answer what the plan
agreed on and nothing else; noise and dummy rules are theirs to add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.rules._agreed import AgreedClient
    from mahrem.federated.rules._coverage import cover_together
    from mahrem.federated.rules._crowd import RulesCrowd
    from mahrem.federated.rules._disguise import Disguise
    from mahrem.federated.rules._exact import ExactSettings, RulesResult, learn_exact
    from mahrem.federated.rules._noise import discrete_laplace, perturb_rules
    from mahrem.federated.rules._one_shot import MergedRules, learn_one_shot
    from mahrem.federated.rules._plan import FEW_PEOPLE, RulesPlan
    from mahrem.federated.rules._schema import RulesSchema
    from mahrem.federated.rules._silo import ItemTable, RulesProtection, RulesSilo, cover_counts
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "FEW_PEOPLE",
    "AgreedClient",
    "Disguise",
    "ExactSettings",
    "ItemTable",
    "MergedRules",
    "RulesCrowd",
    "RulesPlan",
    "RulesProtection",
    "RulesResult",
    "RulesSchema",
    "RulesSilo",
    "cover_counts",
    "cover_together",
    "discrete_laplace",
    "learn_exact",
    "learn_one_shot",
    "perturb_rules",
]
