"""Learning over tables that stay where they are: rules from many clients, and sums nobody can look into.

Sums under masks and clients in processes of their own (Flower) need the extra ``federated``, homomorphic sums
the extra ``he``; both are loaded when used.
"""

from mahrem.federated._answerer import Agreed, agreed_client
from mahrem.federated._coverage import cover_together
from mahrem.federated._disguise import Disguise
from mahrem.federated._exact import Candidates, ExactSettings, Learnt, learn_exact
from mahrem.federated._federation import Federation
from mahrem.federated._federation_init import Made, init_federation, make_key_files, renew_certificate
from mahrem.federated._flower_grid import FlowerGrid
from mahrem.federated._flower_link import Guard, serve_federation
from mahrem.federated._flower_node import FlowerNode
from mahrem.federated._flower_run import FlowerRun
from mahrem.federated._flower_verbs import join_federation, run_federation
from mahrem.federated._grid import Answerer, Grid, LocalGrid, Replies, Traffic
from mahrem.federated._homomorphic import EncryptedClient, EncryptedSum, make_sum_keys
from mahrem.federated._masked_client import MaskedClient
from mahrem.federated._message import Failure, Message, pack_message, unpack_message
from mahrem.federated._noise import Perturbed, discrete_laplace, perturb_rules
from mahrem.federated._one_shot import MergedRules, SumOver, learn_one_shot
from mahrem.federated._plan import How, Plan, Schema, SumKind, learn_plan
from mahrem.federated._run_folder import Round, RunFolder, Watched
from mahrem.federated._secure_sum import MaskedSum
from mahrem.federated._shamir import join_shares, split_secret
from mahrem.federated._silo import Silo, cover_counts, split_rows
from mahrem.federated._simulate import Bins, Split, simulate, split_table
from mahrem.federated._sums import Adder, PlainSum, Summed

__all__ = [
    "Adder",
    "Agreed",
    "Answerer",
    "Bins",
    "Candidates",
    "Disguise",
    "EncryptedClient",
    "EncryptedSum",
    "ExactSettings",
    "Failure",
    "Federation",
    "FlowerGrid",
    "FlowerNode",
    "FlowerRun",
    "Grid",
    "Guard",
    "How",
    "Learnt",
    "LocalGrid",
    "Made",
    "MaskedClient",
    "MaskedSum",
    "MergedRules",
    "Message",
    "Perturbed",
    "PlainSum",
    "Plan",
    "Replies",
    "Round",
    "RunFolder",
    "Schema",
    "Silo",
    "Split",
    "SumKind",
    "SumOver",
    "Summed",
    "Traffic",
    "Watched",
    "agreed_client",
    "cover_counts",
    "cover_together",
    "discrete_laplace",
    "init_federation",
    "join_federation",
    "join_shares",
    "learn_exact",
    "learn_one_shot",
    "learn_plan",
    "make_key_files",
    "make_sum_keys",
    "pack_message",
    "perturb_rules",
    "renew_certificate",
    "run_federation",
    "serve_federation",
    "simulate",
    "split_rows",
    "split_secret",
    "split_table",
    "unpack_message",
]
