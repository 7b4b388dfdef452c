"""Networks and trees learnt together by silos that anonymise first.

The plan with its protections, the silo, the server's rounds, how weights are put together and vetted, and the
common model. Clients that lie, and listeners, are here too: to attack a federation before others do.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.weights._average import enough as enough
    from mahrem.federated.weights._average import weighted_average as weighted_average
    from mahrem.federated.weights._averaging import group_clients as group_clients
    from mahrem.federated.weights._booster import cell_sensitivity as cell_sensitivity
    from mahrem.federated.weights._boosting import BENDS as BENDS
    from mahrem.federated.weights._boosting import Growth as Growth
    from mahrem.federated.weights._boosting import SharedBins as SharedBins
    from mahrem.federated.weights._boosting import SharedForest as SharedForest
    from mahrem.federated.weights._boosting import shares_of as shares_of
    from mahrem.federated.weights._compression import Compression as Compression
    from mahrem.federated.weights._decoys import Decoys as Decoys
    from mahrem.federated.weights._entries import AGGREGATIONS as AGGREGATIONS
    from mahrem.federated.weights._entries import MODELS as MODELS
    from mahrem.federated.weights._hostile import Backdoor as Backdoor
    from mahrem.federated.weights._hostile import FreeRider as FreeRider
    from mahrem.federated.weights._hostile import HostileClient as HostileClient
    from mahrem.federated.weights._hostile import LabelFlip as LabelFlip
    from mahrem.federated.weights._imitation import ImitatedNetwork as ImitatedNetwork
    from mahrem.federated.weights._learn import learn_together as learn_together
    from mahrem.federated.weights._listening import ListeningGrid as ListeningGrid
    from mahrem.federated.weights._listening import first_layer as first_layer
    from mahrem.federated.weights._model import DISGUISED as DISGUISED
    from mahrem.federated.weights._model import SharedModel as SharedModel
    from mahrem.federated.weights._model import figures_of as figures_of
    from mahrem.federated.weights._perturbation import Perturbation as Perturbation
    from mahrem.federated.weights._plan import LearningPlan as LearningPlan
    from mahrem.federated.weights._policy import silo_policy as silo_policy
    from mahrem.federated.weights._protections import PROTECTIONS as PROTECTIONS
    from mahrem.federated.weights._protections import Protections as Protections
    from mahrem.federated.weights._rounds import WeightsResult as WeightsResult
    from mahrem.federated.weights._schema import SharedSchema as SharedSchema
    from mahrem.federated.weights._schema import number_classes as number_classes
    from mahrem.federated.weights._schema import propose_schema as propose_schema
    from mahrem.federated.weights._schema import words_of as words_of
    from mahrem.federated.weights._schema_file import read_schema as read_schema
    from mahrem.federated.weights._schema_file import read_toml as read_toml
    from mahrem.federated.weights._schema_file import write_schema as write_schema
    from mahrem.federated.weights._silo import Measure as Measure
    from mahrem.federated.weights._silo import TrainingSilo as TrainingSilo
    from mahrem.federated.weights._vetting import UpdateVerdict as UpdateVerdict
else:
    __getattr__, __dir__, __all__ = offered(__name__)
