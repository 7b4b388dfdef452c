"""Networks of every kind: plain ones as baselines, private ones, pairs, noise of one's own.

All take :mod:`the private steps <mahrem.learning.private.steps>`; the extra ``train`` brings PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private.networks._embedding import nearest_others
    from mahrem.learning.private.networks._layers import NETWORKS
    from mahrem.learning.private.networks._local_noise import LocalNoise
    from mahrem.learning.private.networks._plain_network import PlainNetwork
    from mahrem.learning.private.networks._plain_siamese import PlainSiamese
    from mahrem.learning.private.networks._private_network import PrivateNetwork
    from mahrem.learning.private.networks._private_networks import (
        PrivateAutoencoder,
        PrivateClassifier,
        PrivateRegressor,
    )
    from mahrem.learning.private.networks._private_siamese import PrivateSiamese
    from mahrem.learning.private.networks._warm_start import WarmStart
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "NETWORKS",
    "LocalNoise",
    "PlainNetwork",
    "PlainSiamese",
    "PrivateAutoencoder",
    "PrivateClassifier",
    "PrivateNetwork",
    "PrivateRegressor",
    "PrivateSiamese",
    "WarmStart",
    "nearest_others",
]
