"""Models trained with differential privacy, each paid from a ledger before a row is read.

Noise on gradients (networks; the extra ``train``), on the loss, on the coefficients or on a polynomial of it
(regressions; the extra ``dp``). Plans, secret streams and the private loop itself lie here for other rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private._boosting_plan import BoostingPlan
    from mahrem.learning.private._choices import NOISES, OPTIMISERS
    from mahrem.learning.private._descent import Augmentation, Compute, Descent, choose_device
    from mahrem.learning.private._embedding import nearest_others
    from mahrem.learning.private._example_gradients import ClippedSums, torch_of
    from mahrem.learning.private._functional_mechanism import FunctionalLinear, FunctionalLogistic
    from mahrem.learning.private._given_values import given_numbers, label_codes, shape_of
    from mahrem.learning.private._last_layer import PolynomialLastLayer, frozen_features
    from mahrem.learning.private._local_noise import LocalNoise
    from mahrem.learning.private._mixing import refuse_mixing
    from mahrem.learning.private._networks import NETWORKS
    from mahrem.learning.private._objective_perturbation import ObjectivePerturbation
    from mahrem.learning.private._output_perturbation import OutputPerturbation
    from mahrem.learning.private._plain_network import PlainNetwork
    from mahrem.learning.private._plain_siamese import PlainSiamese
    from mahrem.learning.private._private_boosting import (
        BoostedTrees,
        PrivateBoosting,
        PrivateBoostingRegressor,
    )
    from mahrem.learning.private._private_network import PrivateNetwork
    from mahrem.learning.private._private_networks import (
        PrivateAutoencoder,
        PrivateClassifier,
        PrivateRegressor,
    )
    from mahrem.learning.private._private_search import PrivateSearch, search_epsilon
    from mahrem.learning.private._private_siamese import PrivateSiamese
    from mahrem.learning.private._private_steps import PrivateSteps, StepExamples, limited_units
    from mahrem.learning.private._public_inputs import (
        PublicInputs,
        declared_features,
        quiet_floats,
        read_rows,
    )
    from mahrem.learning.private._public_rows import PublicRows, clip_rows
    from mahrem.learning.private._random_trees import RandomTrees
    from mahrem.learning.private._secret_stream import SecretStream, new_stream
    from mahrem.learning.private._training_checkpoint import checkpoint_stream
    from mahrem.learning.private._training_cost import least_gaussian
    from mahrem.learning.private._training_plan import TrainingPlan, declared_rows
    from mahrem.learning.private._warm_start import WarmStart
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "NETWORKS",
    "NOISES",
    "OPTIMISERS",
    "Augmentation",
    "BoostedTrees",
    "BoostingPlan",
    "ClippedSums",
    "Compute",
    "Descent",
    "FunctionalLinear",
    "FunctionalLogistic",
    "LocalNoise",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PlainNetwork",
    "PlainSiamese",
    "PolynomialLastLayer",
    "PrivateAutoencoder",
    "PrivateBoosting",
    "PrivateBoostingRegressor",
    "PrivateClassifier",
    "PrivateNetwork",
    "PrivateRegressor",
    "PrivateSearch",
    "PrivateSiamese",
    "PrivateSteps",
    "PublicInputs",
    "PublicRows",
    "RandomTrees",
    "SecretStream",
    "StepExamples",
    "TrainingPlan",
    "WarmStart",
    "checkpoint_stream",
    "choose_device",
    "clip_rows",
    "declared_features",
    "declared_rows",
    "frozen_features",
    "given_numbers",
    "label_codes",
    "least_gaussian",
    "limited_units",
    "nearest_others",
    "new_stream",
    "quiet_floats",
    "read_rows",
    "refuse_mixing",
    "search_epsilon",
    "shape_of",
    "torch_of",
]
