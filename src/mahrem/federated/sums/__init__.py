"""Sums of the clients' whole numbers: in the clear, under masks, or encrypted.

An adder asks many clients one question and gives the total; who hides numbers wraps a client so that nothing
but a sum over enough of them can be read. What the numbers mean, other rooms know.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.sums._adder import Adder as Adder
    from mahrem.federated.sums._adder import PlainSum as PlainSum
    from mahrem.federated.sums._encrypted_counts import CountsScheme as CountsScheme
    from mahrem.federated.sums._encrypted_weights import WeightsScheme as WeightsScheme
    from mahrem.federated.sums._entries import SCHEMES as SCHEMES
    from mahrem.federated.sums._entries import SUMS as SUMS
    from mahrem.federated.sums._entries import hide_client as hide_client
    from mahrem.federated.sums._entries import make_adder as make_adder
    from mahrem.federated.sums._entries import make_sum_keys as make_sum_keys
    from mahrem.federated.sums._entries import scheme_of as scheme_of
    from mahrem.federated.sums._fixed_point import LARGEST_ROWS as LARGEST_ROWS
    from mahrem.federated.sums._fixed_point import from_fixed as from_fixed
    from mahrem.federated.sums._fixed_point import to_fixed as to_fixed
    from mahrem.federated.sums._history import SumHistory as SumHistory
    from mahrem.federated.sums._history import append_private as append_private
    from mahrem.federated.sums._homomorphic import EncryptedClient as EncryptedClient
    from mahrem.federated.sums._homomorphic import EncryptedSum as EncryptedSum
    from mahrem.federated.sums._homomorphic import check_public_key as check_public_key
    from mahrem.federated.sums._masked import MaskedSum as MaskedSum
    from mahrem.federated.sums._masked_client import MaskedClient as MaskedClient
    from mahrem.federated.sums._masks import agreed as agreed
    from mahrem.federated.sums._masks import keystream as keystream
    from mahrem.federated.sums._masks import new_key as new_key
    from mahrem.federated.sums._masks import public_of as public_of
    from mahrem.federated.sums._terms import ClientKeys as ClientKeys
    from mahrem.federated.sums._terms import SumPlan as SumPlan
    from mahrem.federated.sums._terms import SumTerms as SumTerms
    from mahrem.federated.sums._terms import least_of as least_of
else:
    __getattr__, __dir__, __all__ = offered(__name__)
