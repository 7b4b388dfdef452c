"""Learning over tables that stay where they are: rules from many clients, and sums nobody can look into.

Sums under masks and clients in processes of their own (Flower) need the extra ``federated``, homomorphic sums
the extra ``he``; both are loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated._alignment import Aligned, HashedIds, align_ids, hash_ids, normalise_ids
    from mahrem.federated._anomaly import anomaly_scores
    from mahrem.federated._answerer import Agreed, agreed_client
    from mahrem.federated._arrange import Shape, ShapeModel, ShapeRun
    from mahrem.federated._attack_run import attack_run, is_run
    from mahrem.federated._average import Aggregation, FedAvg, FedProx, weighted_average
    from mahrem.federated._byte_budget import ByteBudgetSpent
    from mahrem.federated._client_pool import ClientPool
    from mahrem.federated._compression import Compression
    from mahrem.federated._coverage import cover_together
    from mahrem.federated._decoys import Decoys
    from mahrem.federated._dirichlet import dirichlet_rows
    from mahrem.federated._disguise import Disguise
    from mahrem.federated._encrypted_counts import make_sum_keys
    from mahrem.federated._encrypted_weights import WeightsScheme, make_weight_keys
    from mahrem.federated._exact import Candidates, ExactSettings, Learnt, learn_exact
    from mahrem.federated._exchange_log import ExchangeLog, Watched
    from mahrem.federated._federation import Federation
    from mahrem.federated._federation_init import (
        Made,
        init_federation,
        make_key_files,
        make_sum_key_files,
        renew_certificate,
    )
    from mahrem.federated._flower_grid import FlowerGrid
    from mahrem.federated._flower_learning import reveal_weights
    from mahrem.federated._flower_link import Guard, serve_federation
    from mahrem.federated._flower_node import FlowerNode
    from mahrem.federated._flower_rules import reveal_model
    from mahrem.federated._flower_run import FlowerRun
    from mahrem.federated._flower_verbs import join_federation, run_federation
    from mahrem.federated._gossip import Neighbours, mix_values
    from mahrem.federated._gossip_peer import GossipLearnt, GossipPeer, GossipPlan, learn_by_gossip
    from mahrem.federated._grid import Answerer, Grid, LocalGrid, Replies, Round, Traffic
    from mahrem.federated._homomorphic import EncryptedClient, EncryptedSum
    from mahrem.federated._hostile import Backdoor, FreeRider, Hostile, LabelFlip
    from mahrem.federated._imitation import Imitation
    from mahrem.federated._krum import Krum, krum
    from mahrem.federated._label_noise import LabelNoise
    from mahrem.federated._learn_together import Together, learn_together
    from mahrem.federated._learning_plan import AggregationKind, LearningPlan, ModelKind, WeightSum
    from mahrem.federated._masked_client import MaskedClient
    from mahrem.federated._message import Failure, Message, pack_message, unpack_message
    from mahrem.federated._network import Network
    from mahrem.federated._noise import Perturbed, discrete_laplace, perturb_rules
    from mahrem.federated._norm_bound import bound_norms
    from mahrem.federated._one_shot import MergedRules, SumOver, learn_one_shot
    from mahrem.federated._overheard import Overheard, first_layer
    from mahrem.federated._perturbation import Perturbation
    from mahrem.federated._plan import How, Plan, Schema, SumKind, learn_plan
    from mahrem.federated._protections import NoiseBy, PrivacyUnit, Protections
    from mahrem.federated._run_folder import RunFolder
    from mahrem.federated._schema_file import read_schema, write_schema
    from mahrem.federated._secure_sum import MaskedSum
    from mahrem.federated._shamir import join_shares, split_secret
    from mahrem.federated._shared_model import SharedModel, figures_of
    from mahrem.federated._shared_schema import SharedSchema, propose_schema
    from mahrem.federated._silo import Silo, cover_counts, split_rows
    from mahrem.federated._simulate import Bins, Split, simulate, split_table
    from mahrem.federated._simulate_learning import Shared, simulate_learning, train_alone
    from mahrem.federated._simulate_shapes import ShapeFigures, compare_shape, simulate_shape
    from mahrem.federated._split_learning import SplitClient, join_split, learn_split
    from mahrem.federated._sums import Adder, PlainSum, Summed
    from mahrem.federated._training_silo import TrainingSilo, training_client
    from mahrem.federated._transfer import TransferClient, TransferLearnt, TransferPlan, learn_transfer
    from mahrem.federated._trimmed import Median, TrimmedMean, trimmed_mean
    from mahrem.federated._turns import SplitLearnt, SplitPlan
    from mahrem.federated._u_shaped import UShapedClient, learn_u_shaped
    from mahrem.federated._vertical import VerticalLearnt, join_parties, learn_vertical
    from mahrem.federated._vertical_party import VerticalParty
    from mahrem.federated._vertical_plan import VerticalPlan
    from mahrem.federated._vetting import Verdict, Vetting
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Adder",
    "Aggregation",
    "AggregationKind",
    "Agreed",
    "Aligned",
    "Answerer",
    "Backdoor",
    "Bins",
    "ByteBudgetSpent",
    "Candidates",
    "ClientPool",
    "Compression",
    "Decoys",
    "Disguise",
    "EncryptedClient",
    "EncryptedSum",
    "ExactSettings",
    "ExchangeLog",
    "Failure",
    "FedAvg",
    "FedProx",
    "Federation",
    "FlowerGrid",
    "FlowerNode",
    "FlowerRun",
    "FreeRider",
    "GossipLearnt",
    "GossipPeer",
    "GossipPlan",
    "Grid",
    "Guard",
    "HashedIds",
    "Hostile",
    "How",
    "Imitation",
    "Krum",
    "LabelFlip",
    "LabelNoise",
    "LearningPlan",
    "Learnt",
    "LocalGrid",
    "Made",
    "MaskedClient",
    "MaskedSum",
    "Median",
    "MergedRules",
    "Message",
    "ModelKind",
    "Neighbours",
    "Network",
    "NoiseBy",
    "Overheard",
    "Perturbation",
    "Perturbed",
    "PlainSum",
    "Plan",
    "PrivacyUnit",
    "Protections",
    "Replies",
    "Round",
    "RunFolder",
    "Schema",
    "Shape",
    "ShapeFigures",
    "ShapeModel",
    "ShapeRun",
    "Shared",
    "SharedModel",
    "SharedSchema",
    "Silo",
    "Split",
    "SplitClient",
    "SplitLearnt",
    "SplitPlan",
    "SumKind",
    "SumOver",
    "Summed",
    "Together",
    "Traffic",
    "TrainingSilo",
    "TransferClient",
    "TransferLearnt",
    "TransferPlan",
    "TrimmedMean",
    "UShapedClient",
    "Verdict",
    "VerticalLearnt",
    "VerticalParty",
    "VerticalPlan",
    "Vetting",
    "Watched",
    "WeightSum",
    "WeightsScheme",
    "agreed_client",
    "align_ids",
    "anomaly_scores",
    "attack_run",
    "bound_norms",
    "compare_shape",
    "cover_counts",
    "cover_together",
    "dirichlet_rows",
    "discrete_laplace",
    "figures_of",
    "first_layer",
    "hash_ids",
    "init_federation",
    "is_run",
    "join_federation",
    "join_parties",
    "join_shares",
    "join_split",
    "krum",
    "learn_by_gossip",
    "learn_exact",
    "learn_one_shot",
    "learn_plan",
    "learn_split",
    "learn_together",
    "learn_transfer",
    "learn_u_shaped",
    "learn_vertical",
    "make_key_files",
    "make_sum_key_files",
    "make_sum_keys",
    "make_weight_keys",
    "mix_values",
    "normalise_ids",
    "pack_message",
    "perturb_rules",
    "propose_schema",
    "read_schema",
    "renew_certificate",
    "reveal_model",
    "reveal_weights",
    "run_federation",
    "serve_federation",
    "simulate",
    "simulate_learning",
    "simulate_shape",
    "split_rows",
    "split_secret",
    "split_table",
    "train_alone",
    "training_client",
    "trimmed_mean",
    "unpack_message",
    "weighted_average",
    "write_schema",
]
