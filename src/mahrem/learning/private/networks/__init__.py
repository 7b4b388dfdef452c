"""Networks of every kind: plain ones as baselines, private ones, pairs, noise of one's own.

All take :mod:`the private steps <mahrem.learning.private.steps>`; the extra ``train`` brings PyTorch.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private.networks._embedding import nearest_others as nearest_others
    from mahrem.learning.private.networks._layers import NETWORKS as NETWORKS
    from mahrem.learning.private.networks._local_noise import LocalNoise as LocalNoise
    from mahrem.learning.private.networks._plain_network import PlainNetwork as PlainNetwork
    from mahrem.learning.private.networks._plain_siamese import PlainSiamese as PlainSiamese
    from mahrem.learning.private.networks._private_network import PrivateNetwork as PrivateNetwork
    from mahrem.learning.private.networks._private_networks import PrivateAutoencoder as PrivateAutoencoder
    from mahrem.learning.private.networks._private_networks import PrivateClassifier as PrivateClassifier
    from mahrem.learning.private.networks._private_networks import PrivateRegressor as PrivateRegressor
    from mahrem.learning.private.networks._private_siamese import PrivateSiamese as PrivateSiamese
    from mahrem.learning.private.networks._warm_start import WarmStart as WarmStart
else:
    __getattr__, __dir__, __all__ = offered(__name__)
