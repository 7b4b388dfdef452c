"""Models trained with differential privacy, each paid from a ledger before a row is read.

Noise on gradients (networks; the extra ``train``), on the loss, on the coefficients or on a polynomial of it
(regressions; the extra ``dp``). Plans, secret streams and the private loop itself lie here for other rooms.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private._paid_score import PaidScore as PaidScore
    from mahrem.learning.private._paid_score import error_noise as error_noise
    from mahrem.learning.private._paid_score import noisy_share as noisy_share
    from mahrem.learning.private._paid_score import paid_event as paid_event
    from mahrem.learning.private._paid_score import score_error as score_error
    from mahrem.learning.private._private_search import PrivateSearch as PrivateSearch
    from mahrem.learning.private._private_search import search_epsilon as search_epsilon
    from mahrem.learning.private._secret_stream import SecretStream as SecretStream
    from mahrem.learning.private._secret_stream import new_stream as new_stream
    from mahrem.learning.private.boosting import BoostedTrees as BoostedTrees
    from mahrem.learning.private.boosting import BoostingPlan as BoostingPlan
    from mahrem.learning.private.boosting import PrivateBoosting as PrivateBoosting
    from mahrem.learning.private.boosting import PrivateBoostingRegressor as PrivateBoostingRegressor
    from mahrem.learning.private.boosting import RandomTrees as RandomTrees
    from mahrem.learning.private.inputs import PublicInputs as PublicInputs
    from mahrem.learning.private.inputs import PublicRows as PublicRows
    from mahrem.learning.private.networks import NETWORKS as NETWORKS
    from mahrem.learning.private.networks import LocalNoise as LocalNoise
    from mahrem.learning.private.networks import PlainNetwork as PlainNetwork
    from mahrem.learning.private.networks import PlainSiamese as PlainSiamese
    from mahrem.learning.private.networks import PrivateAutoencoder as PrivateAutoencoder
    from mahrem.learning.private.networks import PrivateClassifier as PrivateClassifier
    from mahrem.learning.private.networks import PrivateNetwork as PrivateNetwork
    from mahrem.learning.private.networks import PrivateRegressor as PrivateRegressor
    from mahrem.learning.private.networks import PrivateSiamese as PrivateSiamese
    from mahrem.learning.private.networks import WarmStart as WarmStart
    from mahrem.learning.private.networks import nearest_others as nearest_others
    from mahrem.learning.private.regressions import FunctionalLinear as FunctionalLinear
    from mahrem.learning.private.regressions import FunctionalLogistic as FunctionalLogistic
    from mahrem.learning.private.regressions import ObjectivePerturbation as ObjectivePerturbation
    from mahrem.learning.private.regressions import OutputPerturbation as OutputPerturbation
    from mahrem.learning.private.regressions import PolynomialLastLayer as PolynomialLastLayer
    from mahrem.learning.private.regressions import frozen_features as frozen_features
    from mahrem.learning.private.steps import NOISES as NOISES
    from mahrem.learning.private.steps import OPTIMISERS as OPTIMISERS
    from mahrem.learning.private.steps import Augmentation as Augmentation
    from mahrem.learning.private.steps import Compute as Compute
    from mahrem.learning.private.steps import Descent as Descent
    from mahrem.learning.private.steps import TrainingPlan as TrainingPlan
else:
    __getattr__, __dir__, __all__ = offered(__name__)
