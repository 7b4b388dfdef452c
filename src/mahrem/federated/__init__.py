"""Learning over tables that stay where they are: rules from many clients, and sums nobody can look into.

Sums under masks and clients in processes of their own (Flower) need the extra ``federated``, homomorphic sums
the extra ``he``; both are loaded when used.
"""

from mahrem.federated._answerer import Agreed, agreed_client
from mahrem.federated._average import Aggregation, FedAvg, FedProx, weighted_average
from mahrem.federated._coverage import cover_together
from mahrem.federated._dirichlet import dirichlet_rows
from mahrem.federated._disguise import Disguise
from mahrem.federated._exact import Candidates, ExactSettings, Learnt, learn_exact
from mahrem.federated._federation import Federation
from mahrem.federated._federation_init import Made, init_federation, make_key_files, renew_certificate
from mahrem.federated._flower_grid import FlowerGrid
from mahrem.federated._flower_link import Guard, serve_federation
from mahrem.federated._flower_node import FlowerNode
from mahrem.federated._flower_run import FlowerRun
from mahrem.federated._flower_verbs import join_federation, reveal_model, run_federation
from mahrem.federated._grid import Answerer, Grid, LocalGrid, Replies, Traffic
from mahrem.federated._homomorphic import EncryptedClient, EncryptedSum, make_sum_keys
from mahrem.federated._krum import Krum, krum
from mahrem.federated._learn_together import Together, learn_together
from mahrem.federated._learning_plan import AggregationKind, LearningPlan, ModelKind, WeightSum
from mahrem.federated._masked_client import MaskedClient
from mahrem.federated._message import Failure, Message, pack_message, unpack_message
from mahrem.federated._network import Network
from mahrem.federated._noise import Perturbed, discrete_laplace, perturb_rules
from mahrem.federated._one_shot import MergedRules, SumOver, learn_one_shot
from mahrem.federated._plan import How, Plan, Schema, SumKind, learn_plan
from mahrem.federated._run_folder import Round, RunFolder, Watched
from mahrem.federated._secure_sum import MaskedSum
from mahrem.federated._shamir import join_shares, split_secret
from mahrem.federated._shared_model import SharedModel, figures_of
from mahrem.federated._shared_schema import SharedSchema, propose_schema
from mahrem.federated._silo import Silo, cover_counts, split_rows
from mahrem.federated._simulate import Bins, Split, simulate, split_table
from mahrem.federated._simulate_learning import Shared, simulate_learning, train_alone
from mahrem.federated._sums import Adder, PlainSum, Summed
from mahrem.federated._training_silo import ClientPool, TrainingSilo, training_client
from mahrem.federated._trimmed import Median, TrimmedMean, trimmed_mean

__all__ = [
    "Adder",
    "Aggregation",
    "AggregationKind",
    "Agreed",
    "Answerer",
    "Bins",
    "Candidates",
    "ClientPool",
    "Disguise",
    "EncryptedClient",
    "EncryptedSum",
    "ExactSettings",
    "Failure",
    "FedAvg",
    "FedProx",
    "Federation",
    "FlowerGrid",
    "FlowerNode",
    "FlowerRun",
    "Grid",
    "Guard",
    "How",
    "Krum",
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
    "Network",
    "Perturbed",
    "PlainSum",
    "Plan",
    "Replies",
    "Round",
    "RunFolder",
    "Schema",
    "Shared",
    "SharedModel",
    "SharedSchema",
    "Silo",
    "Split",
    "SumKind",
    "SumOver",
    "Summed",
    "Together",
    "Traffic",
    "TrainingSilo",
    "TrimmedMean",
    "Watched",
    "WeightSum",
    "agreed_client",
    "cover_counts",
    "cover_together",
    "dirichlet_rows",
    "discrete_laplace",
    "figures_of",
    "init_federation",
    "join_federation",
    "join_shares",
    "krum",
    "learn_exact",
    "learn_one_shot",
    "learn_plan",
    "learn_together",
    "make_key_files",
    "make_sum_keys",
    "pack_message",
    "perturb_rules",
    "propose_schema",
    "renew_certificate",
    "reveal_model",
    "run_federation",
    "serve_federation",
    "simulate",
    "simulate_learning",
    "split_rows",
    "split_secret",
    "split_table",
    "train_alone",
    "training_client",
    "trimmed_mean",
    "unpack_message",
    "weighted_average",
]
