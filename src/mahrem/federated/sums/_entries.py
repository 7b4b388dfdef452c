"""The ways to add numbers up: names, where each lives, what is known before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from mahrem.check import one_of
from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.federated.sums._adder import Adder
    from mahrem.federated.sums._scheme import SumScheme
    from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan
    from mahrem.federated.wire import Answerer


class AdderMaker(Protocol):
    """What an entry's home gives: the server's side and the clients' side of a way to add."""

    def make(self, plan: SumPlan, public: bytes | None) -> Adder:
        """Make what adds up; some need the server's public key."""

    def hide(self, name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys) -> Answerer:
        """Give a client as the plan wants it on the grid."""


@dataclass(frozen=True, kw_only=True)
class WayOfAdding(Entry):
    """A way to add numbers up.

    Attributes:
        hides: The server sees sums only.
        keyed: Clients and server need a pair of keys, see :func:`make_sum_keys`.
    """

    hides: bool = True
    keyed: bool = False

    def load(self) -> AdderMaker:
        """Import it."""
        return cast("AdderMaker", super().load())


SUMS: Entries[WayOfAdding] = Entries(
    "mahrem.federated_sums",
    WayOfAdding,
    (
        WayOfAdding(name="plain", home="mahrem.federated.sums._adder:PlainSum", hides=False),
        WayOfAdding(name="masked", home="mahrem.federated.sums._masked:MaskedSum"),
        WayOfAdding(name="homomorphic", home="mahrem.federated.sums._homomorphic:EncryptedSum", keyed=True),
    ),
)
SCHEMES: Entries[Entry] = Entries(
    "mahrem.sum_schemes",
    Entry,
    (
        Entry(name="counts", home="mahrem.federated.sums._encrypted_counts:CountsScheme"),
        Entry(name="weights", home="mahrem.federated.sums._encrypted_weights:WeightsScheme"),
    ),
)


def scheme_of(numbers: str) -> SumScheme:
    """Give how numbers of a kind are encrypted."""
    scheme: SumScheme = SCHEMES[one_of(tuple(SCHEMES), numbers=numbers)].load()()
    return scheme


def make_adder(plan: SumPlan, public: bytes | None = None) -> Adder:
    """Give what adds up the numbers of a plan.

    Args:
        plan: What was agreed.
        public: The server's key of homomorphic sums.

    Raises:
        InvalidParameter: If a key is needed and there is none.
    """
    return SUMS[plan.sum].load().make(plan, public)


def hide_client(name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys | None = None) -> Answerer:
    """Give a client as the plan wants it on the grid: where numbers are hidden, none leaves in the clear.

    Args:
        name: Its name on the grid.
        client: Counts, trains, and answers one kind of question openly.
        plan: What was agreed.
        keys: What this client has for it.

    Raises:
        InvalidParameter: If a key is needed and there is none.
    """
    from mahrem.federated.sums._terms import ClientKeys

    return SUMS[plan.sum].load().hide(name, client, plan, keys or ClientKeys())


def make_sum_keys(plan: SumPlan) -> tuple[bytes | None, bytes | None]:
    """Make the clients' secret key and the server's public one, where the sums of a plan need them."""
    return scheme_of(plan.numbers).make_keys() if SUMS[plan.sum].keyed else (None, None)
