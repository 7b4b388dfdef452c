"""Learning over tables that stay where they are: rules from many clients, and sums nobody can look into.

Sums under masks need the extra ``federated``, homomorphic sums the extra ``he``; both are loaded when used.
"""

from mahrem.federated._coverage import cover_together
from mahrem.federated._disguise import Disguise
from mahrem.federated._exact import Candidates, ExactSettings, Learnt, learn_exact
from mahrem.federated._grid import Answerer, Grid, LocalGrid, Replies, Traffic
from mahrem.federated._homomorphic import EncryptedClient, EncryptedSum, make_sum_keys
from mahrem.federated._message import Failure, Message, pack_message, unpack_message
from mahrem.federated._noise import Perturbed, discrete_laplace, perturb_rules
from mahrem.federated._one_shot import MergedRules, SumOver, learn_one_shot
from mahrem.federated._secure_sum import MaskedClient, MaskedSum
from mahrem.federated._shamir import join_shares, split_secret
from mahrem.federated._silo import Silo, cover_counts, split_rows
from mahrem.federated._sums import Adder, PlainSum, Summed

__all__ = [
    "Adder",
    "Answerer",
    "Candidates",
    "Disguise",
    "EncryptedClient",
    "EncryptedSum",
    "ExactSettings",
    "Failure",
    "Grid",
    "Learnt",
    "LocalGrid",
    "MaskedClient",
    "MaskedSum",
    "MergedRules",
    "Message",
    "Perturbed",
    "PlainSum",
    "Replies",
    "Silo",
    "SumOver",
    "Summed",
    "Traffic",
    "cover_counts",
    "cover_together",
    "discrete_laplace",
    "join_shares",
    "learn_exact",
    "learn_one_shot",
    "make_sum_keys",
    "pack_message",
    "perturb_rules",
    "split_rows",
    "split_secret",
    "unpack_message",
]
