"""Sums of the clients' whole numbers: in the clear, under masks, or encrypted.

An adder asks many clients one question and gives the total; who hides numbers wraps a client so that nothing
but a sum over enough of them can be read. What the numbers mean, other rooms know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.sums._adder import Adder, PlainSum
    from mahrem.federated.sums._encrypted_counts import CountsScheme
    from mahrem.federated.sums._encrypted_weights import WeightsScheme
    from mahrem.federated.sums._entries import (
        SCHEMES,
        SUMS,
        hide_client,
        make_adder,
        make_sum_keys,
        scheme_of,
    )
    from mahrem.federated.sums._fixed_point import LARGEST_ROWS, from_fixed, to_fixed
    from mahrem.federated.sums._history import SumHistory, append_private
    from mahrem.federated.sums._homomorphic import EncryptedClient, EncryptedSum, check_public_key
    from mahrem.federated.sums._masked import MaskedSum
    from mahrem.federated.sums._masked_client import MaskedClient
    from mahrem.federated.sums._masks import agreed, keystream, new_key, public_of
    from mahrem.federated.sums._terms import ClientKeys, SumPlan, SumTerms, least_of
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "LARGEST_ROWS",
    "SCHEMES",
    "SUMS",
    "Adder",
    "ClientKeys",
    "CountsScheme",
    "EncryptedClient",
    "EncryptedSum",
    "MaskedClient",
    "MaskedSum",
    "PlainSum",
    "SumHistory",
    "SumPlan",
    "SumTerms",
    "WeightsScheme",
    "agreed",
    "append_private",
    "check_public_key",
    "from_fixed",
    "hide_client",
    "keystream",
    "least_of",
    "make_adder",
    "make_sum_keys",
    "new_key",
    "public_of",
    "scheme_of",
    "to_fixed",
]
