"""Models trained with differential privacy, each paid from a ledger before a row is read.

Noise on gradients (networks; the extra ``train``), on the loss, on the coefficients or on a polynomial of it
(regressions; the extra ``dp``). Plans, secret streams and the private loop itself lie here for other rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private._paid_score import PaidScore, error_noise, noisy_share, paid_event
    from mahrem.learning.private._private_search import PrivateSearch, search_epsilon
    from mahrem.learning.private._secret_stream import SecretStream, new_stream
    from mahrem.learning.private.boosting import (
        BoostedTrees,
        BoostingPlan,
        PrivateBoosting,
        PrivateBoostingRegressor,
        RandomTrees,
    )
    from mahrem.learning.private.inputs import PublicInputs, PublicRows
    from mahrem.learning.private.networks import (
        NETWORKS,
        LocalNoise,
        PlainNetwork,
        PlainSiamese,
        PrivateAutoencoder,
        PrivateClassifier,
        PrivateNetwork,
        PrivateRegressor,
        PrivateSiamese,
        WarmStart,
        nearest_others,
    )
    from mahrem.learning.private.regressions import (
        FunctionalLinear,
        FunctionalLogistic,
        ObjectivePerturbation,
        OutputPerturbation,
        PolynomialLastLayer,
        frozen_features,
    )
    from mahrem.learning.private.steps import NOISES, OPTIMISERS, Augmentation, Compute, Descent, TrainingPlan
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "NETWORKS",
    "NOISES",
    "OPTIMISERS",
    "Augmentation",
    "BoostedTrees",
    "BoostingPlan",
    "Compute",
    "Descent",
    "FunctionalLinear",
    "FunctionalLogistic",
    "LocalNoise",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PaidScore",
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
    "PublicInputs",
    "PublicRows",
    "RandomTrees",
    "SecretStream",
    "TrainingPlan",
    "WarmStart",
    "error_noise",
    "frozen_features",
    "nearest_others",
    "new_stream",
    "noisy_share",
    "paid_event",
    "search_epsilon",
]
