"""Networks and trees learnt together by silos that anonymise first.

The plan with its protections, the silo, the server's rounds, how weights are put together and vetted, and the
common model. Clients that lie, and listeners, are here too: to attack a federation before others do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.weights._average import enough, weighted_average
    from mahrem.federated.weights._averaging import group_clients
    from mahrem.federated.weights._booster import cell_sensitivity
    from mahrem.federated.weights._boosting import BENDS, Growth, SharedBins, SharedForest, shares_of
    from mahrem.federated.weights._compression import Compression
    from mahrem.federated.weights._decoys import Decoys
    from mahrem.federated.weights._entries import AGGREGATIONS, MODELS
    from mahrem.federated.weights._hostile import Backdoor, FreeRider, HostileClient, LabelFlip
    from mahrem.federated.weights._imitation import ImitatedNetwork
    from mahrem.federated.weights._learn import learn_together
    from mahrem.federated.weights._listening import ListeningGrid, first_layer
    from mahrem.federated.weights._model import DISGUISED, SharedModel, figures_of
    from mahrem.federated.weights._perturbation import Perturbation
    from mahrem.federated.weights._plan import LearningPlan
    from mahrem.federated.weights._policy import silo_policy
    from mahrem.federated.weights._protections import PROTECTIONS, Protections
    from mahrem.federated.weights._rounds import WeightsResult
    from mahrem.federated.weights._schema import SharedSchema, number_classes, propose_schema, words_of
    from mahrem.federated.weights._schema_file import read_schema, read_toml, write_schema
    from mahrem.federated.weights._silo import Measure, TrainingSilo
    from mahrem.federated.weights._vetting import UpdateVerdict
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AGGREGATIONS",
    "BENDS",
    "DISGUISED",
    "MODELS",
    "PROTECTIONS",
    "Backdoor",
    "Compression",
    "Decoys",
    "FreeRider",
    "Growth",
    "HostileClient",
    "ImitatedNetwork",
    "LabelFlip",
    "LearningPlan",
    "ListeningGrid",
    "Measure",
    "Perturbation",
    "Protections",
    "SharedBins",
    "SharedForest",
    "SharedModel",
    "SharedSchema",
    "TrainingSilo",
    "UpdateVerdict",
    "WeightsResult",
    "cell_sensitivity",
    "enough",
    "figures_of",
    "first_layer",
    "group_clients",
    "learn_together",
    "number_classes",
    "propose_schema",
    "read_schema",
    "read_toml",
    "shares_of",
    "silo_policy",
    "weighted_average",
    "words_of",
    "write_schema",
]
