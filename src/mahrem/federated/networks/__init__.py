"""Dense networks as one vector of weights: forward, backward, plain and private steps.

What clients of :mod:`~mahrem.federated.weights` train whole, parties of :mod:`~mahrem.federated.shapes` hold
in pieces. It needs NumPy alone, so a client is a small program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.networks._network import (
        LARGEST,
        Network,
        client_seed,
        even_batches,
        scores_of,
        wrong_weights,
    )
    from mahrem.federated.networks._own_network import OwnNetwork
    from mahrem.federated.networks._private_training import train_privately
    from mahrem.federated.networks._stack import (
        LayerStack,
        Weights,
        cross_entropy_slope,
        first_weights,
        layers_of,
        read_values,
        shapes_of,
    )
    from mahrem.federated.networks._trainable import TrainableNetwork
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "LARGEST",
    "LayerStack",
    "Network",
    "OwnNetwork",
    "TrainableNetwork",
    "Weights",
    "client_seed",
    "cross_entropy_slope",
    "even_batches",
    "first_weights",
    "layers_of",
    "read_values",
    "scores_of",
    "shapes_of",
    "train_privately",
    "wrong_weights",
]
