"""Learning from tables about people: from anonymised rows, from rules, with differential privacy.

Classifiers trained on anonymised rows and tested on untouched ones; CBA; private networks, regressions,
votes of teachers (PATE) and synthetic tables, each paid from a ledger.

Needs the extra ``learning`` (scikit-learn), which is loaded when a classifier is trained and not before.
CBA and the bins need no extra: they are estimators of scikit-learn's kind without importing it.
Private regressions and last layers need the extra ``dp``, what runs in a network the extra ``train``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning._adversarial import Adversarial
    from mahrem.learning._bins import EqualWidthBins, QuantileBins, SupervisedBins, supervised_cuts
    from mahrem.learning._cba import CBA, CbaSettings, Cover, Cut, cba, cut_list, rules_as_text
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
    from mahrem.learning._clique_growth import Growth, grow_cliques
    from mahrem.learning._clique_tree import Clique, CliqueTree, Measured, fit_tree
    from mahrem.learning._closest_records import closest_distances
    from mahrem.learning._coarse_groups import CoarseGroups, coarse_groups
    from mahrem.learning._declare_domain import declare_domain
    from mahrem.learning._declared_encoder import DeclaredEncoder, DeclaredNumbers, DeclaredWords
    from mahrem.learning._disjoint_teachers import count_votes, train_parts
    from mahrem.learning._embedding import Embedding, nearest_others
    from mahrem.learning._evaluate import (
        DEFAULT_CLASSIFIERS,
        Anonymise,
        Protocol,
        Published,
        evaluate,
        target_codes,
    )
    from mahrem.learning._example_gradients import ClippedSums
    from mahrem.learning._features import Encoder, Features, fit_encoder
    from mahrem.learning._functional_mechanism import FunctionalLinear, FunctionalLogistic
    from mahrem.learning._generators import Generator
    from mahrem.learning._items import Items, as_cells, covered_bits, learn_items, number_classes
    from mahrem.learning._last_layer import PolynomialLastLayer, frozen_features
    from mahrem.learning._local_noise import LocalNoise
    from mahrem.learning._marginals import Marginals
    from mahrem.learning._marginals_fit import MarginalsFit
    from mahrem.learning._mixing import refuse_mixing
    from mahrem.learning._network_tables import NetworkTables, NetworkTablesFit
    from mahrem.learning._networks import NETWORKS
    from mahrem.learning._noisy_votes import ConfidentVotes, GaussianVotes, LaplaceVotes, NoisyVotes
    from mahrem.learning._objective_analysis import objective_delta, objective_rdp
    from mahrem.learning._objective_perturbation import (
        ObjectivePerturbation,
        ObjectivePlan,
        objective_perturbation,
    )
    from mahrem.learning._output_perturbation import OutputPerturbation, OutputPlan, output_perturbation
    from mahrem.learning._pate import Pate
    from mahrem.learning._plain_network import PlainNetwork
    from mahrem.learning._plain_siamese import PlainSiamese
    from mahrem.learning._private_inference import PrivateVotes, RoundedScores
    from mahrem.learning._private_network import PrivateNetwork
    from mahrem.learning._private_networks import PrivateAutoencoder, PrivateClassifier, PrivateRegressor
    from mahrem.learning._private_search import PrivateSearch, search_epsilon
    from mahrem.learning._private_siamese import PrivateSiamese
    from mahrem.learning._private_steps import Descent, PrivateSteps, limited_units
    from mahrem.learning._public_inputs import PublicInputs, declared_features, read_rows, unit_numbers
    from mahrem.learning._public_rows import PublicRows, clip_rows
    from mahrem.learning._recurrent import Recurrent
    from mahrem.learning._rule_list import Rule, RuleList, item_matrix
    from mahrem.learning._scores import FIGURES, Score, Scores
    from mahrem.learning._secret_stream import SecretStream, new_stream
    from mahrem.learning._slots import Slots
    from mahrem.learning._synthesisers import SYNTHESISERS, FittedSynthesiser, Synthesiser, make_synthesiser
    from mahrem.learning._synthetic_domain import DeclaredColumn, DeclaredDomain
    from mahrem.learning._synthetic_images import NetworkImages, NetworkImagesFit
    from mahrem.learning._synthetic_quality import SyntheticQuality, synthetic_quality
    from mahrem.learning._synthetic_schema import SyntheticSchema
    from mahrem.learning._synthetic_sides import COMPARED_ROWS, refuse_overlap
    from mahrem.learning._training_checkpoint import checkpoint_stream
    from mahrem.learning._training_plan import TrainingPlan
    from mahrem.learning._tree_sampling import tree_sample
    from mahrem.learning._variational import Variational
    from mahrem.learning._vote_costs import PublishedCost, SanitisedCost, lead_costs, smooth_costs
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CBA",
    "CLASSIFIERS",
    "COMPARED_ROWS",
    "DEFAULT_CLASSIFIERS",
    "FIGURES",
    "MINERS",
    "NETWORKS",
    "SYNTHESISERS",
    "Adversarial",
    "Anonymise",
    "CbaSettings",
    "ClassRules",
    "ClippedSums",
    "Clique",
    "CliqueTree",
    "CoarseGroups",
    "ConfidentVotes",
    "Cover",
    "Cut",
    "DeclaredColumn",
    "DeclaredDomain",
    "DeclaredEncoder",
    "DeclaredNumbers",
    "DeclaredWords",
    "Descent",
    "Embedding",
    "Encoder",
    "EqualWidthBins",
    "Features",
    "Fitted",
    "FittedSynthesiser",
    "FunctionalLinear",
    "FunctionalLogistic",
    "GaussianVotes",
    "Generator",
    "Growth",
    "Items",
    "LaplaceVotes",
    "LocalNoise",
    "Marginals",
    "MarginalsFit",
    "Measured",
    "Miner",
    "NetworkImages",
    "NetworkImagesFit",
    "NetworkTables",
    "NetworkTablesFit",
    "NoisyVotes",
    "ObjectivePerturbation",
    "ObjectivePlan",
    "OutputPerturbation",
    "OutputPlan",
    "Pate",
    "PlainNetwork",
    "PlainSiamese",
    "PolynomialLastLayer",
    "PrivateAutoencoder",
    "PrivateClassifier",
    "PrivateNetwork",
    "PrivateRegressor",
    "PrivateSearch",
    "PrivateSiamese",
    "PrivateSteps",
    "PrivateVotes",
    "Protocol",
    "PublicInputs",
    "PublicRows",
    "Published",
    "PublishedCost",
    "QuantileBins",
    "Recurrent",
    "RoundedScores",
    "Rule",
    "RuleList",
    "SanitisedCost",
    "Score",
    "Scores",
    "SecretStream",
    "Slots",
    "SupervisedBins",
    "SupportOf",
    "Synthesiser",
    "SyntheticQuality",
    "SyntheticSchema",
    "TrainingPlan",
    "Variational",
    "as_cells",
    "cba",
    "checkpoint_stream",
    "class_rules",
    "clip_rows",
    "closest_distances",
    "coarse_groups",
    "count_votes",
    "covered_bits",
    "cut_list",
    "declare_domain",
    "declared_features",
    "evaluate",
    "fit_encoder",
    "fit_tree",
    "frozen_features",
    "grow_cliques",
    "item_matrix",
    "lead_costs",
    "learn_items",
    "least_rows",
    "limited_units",
    "make_synthesiser",
    "mine_sets",
    "nearest_others",
    "new_stream",
    "number_classes",
    "objective_delta",
    "objective_perturbation",
    "objective_rdp",
    "output_perturbation",
    "pessimistic_error",
    "read_rows",
    "refuse_mixing",
    "refuse_overlap",
    "rules_as_text",
    "search_epsilon",
    "smooth_costs",
    "supervised_cuts",
    "synthetic_quality",
    "target_codes",
    "train",
    "train_parts",
    "tree_sample",
    "unit_numbers",
]
