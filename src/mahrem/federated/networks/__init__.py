"""Dense networks as one vector of weights: forward, backward, plain and private steps.

What clients of :mod:`~mahrem.federated.weights` train whole, parties of :mod:`~mahrem.federated.shapes` hold
in pieces. It needs NumPy alone, so a client is a small program.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.networks._network import LARGEST as LARGEST
    from mahrem.federated.networks._network import Network as Network
    from mahrem.federated.networks._network import client_seed as client_seed
    from mahrem.federated.networks._network import even_batches as even_batches
    from mahrem.federated.networks._network import scores_of as scores_of
    from mahrem.federated.networks._network import wrong_weights as wrong_weights
    from mahrem.federated.networks._own_network import OwnNetwork as OwnNetwork
    from mahrem.federated.networks._private_training import train_privately as train_privately
    from mahrem.federated.networks._stack import LayerStack as LayerStack
    from mahrem.federated.networks._stack import Weights as Weights
    from mahrem.federated.networks._stack import cross_entropy_slope as cross_entropy_slope
    from mahrem.federated.networks._stack import first_weights as first_weights
    from mahrem.federated.networks._stack import layers_of as layers_of
    from mahrem.federated.networks._stack import read_values as read_values
    from mahrem.federated.networks._stack import shapes_of as shapes_of
    from mahrem.federated.networks._trainable import TrainableNetwork as TrainableNetwork
else:
    __getattr__, __dir__, __all__ = offered(__name__)
