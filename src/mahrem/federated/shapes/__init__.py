"""Federations of another shape: columns, layers, peers or different columns at different parties.

Vertical, split, U-shaped, gossip and transfer learning, each as a client and a function that learns over a
grid. Ids are aligned and labels randomised here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.shapes._aligned_party import Columns
    from mahrem.federated.shapes._alignment import align_ids, hash_ids, normalise_ids
    from mahrem.federated.shapes._gossip import Neighbours, mix_values
    from mahrem.federated.shapes._gossip_peer import GossipPeer, GossipPlan, learn_by_gossip
    from mahrem.federated.shapes._joint_prediction import (
        AskingParty,
        PredictionPlan,
        TellingParty,
        predict_vertical,
    )
    from mahrem.federated.shapes._label_noise import LabelNoise
    from mahrem.federated.shapes._party_keys import KeyedParty, agree_keys
    from mahrem.federated.shapes._plan import ShapePlan, learning_rows, model_of
    from mahrem.federated.shapes._split import SplitClient, join_split, learn_split
    from mahrem.federated.shapes._transfer import TransferClient, TransferPlan, learn_transfer
    from mahrem.federated.shapes._tree_party import TreeParty
    from mahrem.federated.shapes._turns import SplitPlan, SplitResult
    from mahrem.federated.shapes._u_shaped import UShapedClient, learn_u_shaped
    from mahrem.federated.shapes._vertical import join_parties, learn_vertical
    from mahrem.federated.shapes._vertical_party import VerticalParty
    from mahrem.federated.shapes._vertical_plan import VerticalPlan, VerticalTreesPlan
    from mahrem.federated.shapes._vertical_trees import learn_vertical_trees
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AskingParty",
    "Columns",
    "GossipPeer",
    "GossipPlan",
    "KeyedParty",
    "LabelNoise",
    "Neighbours",
    "PredictionPlan",
    "ShapePlan",
    "SplitClient",
    "SplitPlan",
    "SplitResult",
    "TellingParty",
    "TransferClient",
    "TransferPlan",
    "TreeParty",
    "UShapedClient",
    "VerticalParty",
    "VerticalPlan",
    "VerticalTreesPlan",
    "agree_keys",
    "align_ids",
    "hash_ids",
    "join_parties",
    "join_split",
    "learn_by_gossip",
    "learn_split",
    "learn_transfer",
    "learn_u_shaped",
    "learn_vertical",
    "learn_vertical_trees",
    "learning_rows",
    "mix_values",
    "model_of",
    "normalise_ids",
    "predict_vertical",
]
