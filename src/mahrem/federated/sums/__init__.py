"""Sums of the clients' whole numbers: in the clear, under masks, or encrypted.

An adder asks many clients one question and gives the total; who hides numbers wraps a client so that nothing
but a sum over enough of them can be read. What the numbers mean, other rooms know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.sums._adder import Adder, PlainSum, SumResult
    from mahrem.federated.sums._encrypted_counts import CountsScheme, make_sum_keys
    from mahrem.federated.sums._encrypted_weights import WeightsScheme, make_weight_keys
    from mahrem.federated.sums._fixed_point import LARGEST_ROWS, from_fixed, to_fixed
    from mahrem.federated.sums._homomorphic import EncryptedClient, EncryptedSum, check_public_key
    from mahrem.federated.sums._masked import MaskedSum
    from mahrem.federated.sums._masked_client import MaskedClient
    from mahrem.federated.sums._shamir import join_shares, split_secret
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "LARGEST_ROWS",
    "Adder",
    "CountsScheme",
    "EncryptedClient",
    "EncryptedSum",
    "MaskedClient",
    "MaskedSum",
    "PlainSum",
    "SumResult",
    "WeightsScheme",
    "check_public_key",
    "from_fixed",
    "join_shares",
    "make_sum_keys",
    "make_weight_keys",
    "split_secret",
    "to_fixed",
]
