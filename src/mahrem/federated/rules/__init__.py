"""Class association rules (CBA) over tables that stay where they are.

Exactly, from counts alone, or in one shot, where each client's rules are merged. Clients answer what the plan
agreed on and nothing else; noise and dummy rules are theirs to add.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.rules._agreed import AgreedClient as AgreedClient
    from mahrem.federated.rules._answered import AnsweredQuestions as AnsweredQuestions
    from mahrem.federated.rules._coverage import cover_together as cover_together
    from mahrem.federated.rules._crowd import RulesCrowd as RulesCrowd
    from mahrem.federated.rules._disguise import Disguise as Disguise
    from mahrem.federated.rules._exact import ExactSettings as ExactSettings
    from mahrem.federated.rules._exact import RulesResult as RulesResult
    from mahrem.federated.rules._exact import learn_exact as learn_exact
    from mahrem.federated.rules._noise import discrete_laplace as discrete_laplace
    from mahrem.federated.rules._noise import perturb_rules as perturb_rules
    from mahrem.federated.rules._one_shot import MergedRules as MergedRules
    from mahrem.federated.rules._one_shot import learn_one_shot as learn_one_shot
    from mahrem.federated.rules._plan import FEW_PEOPLE as FEW_PEOPLE
    from mahrem.federated.rules._plan import RulesPlan as RulesPlan
    from mahrem.federated.rules._schema import RulesSchema as RulesSchema
    from mahrem.federated.rules._silo import ItemTable as ItemTable
    from mahrem.federated.rules._silo import RulesProtection as RulesProtection
    from mahrem.federated.rules._silo import RulesSilo as RulesSilo
    from mahrem.federated.rules._silo import cover_counts as cover_counts
else:
    __getattr__, __dir__, __all__ = offered(__name__)
