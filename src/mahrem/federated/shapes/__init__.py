"""Federations of another shape: columns, layers, peers or different columns at different parties.

Vertical, split, U-shaped, gossip and transfer learning, each as a client and a function that learns over a
grid. Ids are aligned and labels randomised here.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.shapes._aligned_party import Columns as Columns
    from mahrem.federated.shapes._alignment import align_ids as align_ids
    from mahrem.federated.shapes._alignment import hash_ids as hash_ids
    from mahrem.federated.shapes._alignment import normalise_ids as normalise_ids
    from mahrem.federated.shapes._gossip import Neighbours as Neighbours
    from mahrem.federated.shapes._gossip import mix_values as mix_values
    from mahrem.federated.shapes._gossip_peer import GossipPeer as GossipPeer
    from mahrem.federated.shapes._gossip_peer import GossipPlan as GossipPlan
    from mahrem.federated.shapes._gossip_peer import learn_by_gossip as learn_by_gossip
    from mahrem.federated.shapes._joint_prediction import AskingParty as AskingParty
    from mahrem.federated.shapes._joint_prediction import PredictionPlan as PredictionPlan
    from mahrem.federated.shapes._joint_prediction import TellingParty as TellingParty
    from mahrem.federated.shapes._joint_prediction import predict_vertical as predict_vertical
    from mahrem.federated.shapes._label_noise import LabelNoise as LabelNoise
    from mahrem.federated.shapes._party_keys import KeyedParty as KeyedParty
    from mahrem.federated.shapes._party_keys import agree_keys as agree_keys
    from mahrem.federated.shapes._plan import ShapePlan as ShapePlan
    from mahrem.federated.shapes._plan import learning_rows as learning_rows
    from mahrem.federated.shapes._plan import model_of as model_of
    from mahrem.federated.shapes._split import SplitClient as SplitClient
    from mahrem.federated.shapes._split import join_split as join_split
    from mahrem.federated.shapes._split import learn_split as learn_split
    from mahrem.federated.shapes._transfer import TransferClient as TransferClient
    from mahrem.federated.shapes._transfer import TransferPlan as TransferPlan
    from mahrem.federated.shapes._transfer import learn_transfer as learn_transfer
    from mahrem.federated.shapes._tree_party import TreeParty as TreeParty
    from mahrem.federated.shapes._turns import SplitPlan as SplitPlan
    from mahrem.federated.shapes._turns import SplitResult as SplitResult
    from mahrem.federated.shapes._u_shaped import UShapedClient as UShapedClient
    from mahrem.federated.shapes._u_shaped import learn_u_shaped as learn_u_shaped
    from mahrem.federated.shapes._vertical import join_parties as join_parties
    from mahrem.federated.shapes._vertical import learn_vertical as learn_vertical
    from mahrem.federated.shapes._vertical_party import VerticalParty as VerticalParty
    from mahrem.federated.shapes._vertical_plan import VerticalPlan as VerticalPlan
    from mahrem.federated.shapes._vertical_plan import VerticalTreesPlan as VerticalTreesPlan
    from mahrem.federated.shapes._vertical_trees import learn_vertical_trees as learn_vertical_trees
else:
    __getattr__, __dir__, __all__ = offered(__name__)
