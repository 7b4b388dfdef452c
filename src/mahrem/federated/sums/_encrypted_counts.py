"""Sums of encrypted counts (BFV): exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums._scheme import SharedDraws, need_tenseal, sized, written_keys
from mahrem.types import Integers

DEGREE = 8192  # of the ring; 218 bits of modulus give 128 bits of security
MODULUS = 1_099_511_922_689  # a prime of 40 bits that allows 8,192 numbers in one ciphertext
LARGEST = MODULUS // 2
MOST_CLIENTS = 1 << 12  # of one sum; so a client's own count must be below 2^27


@dataclass(frozen=True)
class CountsScheme:
    """Whole numbers below 2^39 in all, and below 2^27 of one client, exact (BFV).

    Screens below the modulus hide each client's counts; who takes those of the named clients off something
    else than their sum has noise.
    """

    most_clients: ClassVar[int] = MOST_CLIENTS

    @staticmethod
    def make_keys() -> tuple[bytes, bytes]:
        """Make a pair of keys: the clients' secret one, and the server's, which can add and not read.

        All clients share the secret key: one that tells it to the server opens every client's counts. Masks
        (:class:`MaskedSum`) have no such single key.
        """
        tenseal = need_tenseal()
        return written_keys(tenseal.context(tenseal.SCHEME_TYPE.BFV, DEGREE, plain_modulus=MODULUS))

    def vector(self, tenseal: Any, context: Any, numbers: Sequence[float]) -> Any:
        """See :class:`SumScheme`."""
        return tenseal.bfv_vector(context, numbers)

    def read(self, tenseal: Any, context: Any, part: bytes) -> Any:
        """See :class:`SumScheme`."""
        return tenseal.bfv_vector_from(context, part)

    def closed(self, numbers: Integers, drawn: SharedDraws, name: str) -> list[list[float]]:
        """See :class:`SumScheme`.

        Raises:
            InvalidInput: If a count does not fit.
        """
        # A bound of ours, whatever the server says: from refusals at bounds of its own it could tell a count.
        if numbers.max(initial=0) >= LARGEST // MOST_CLIENTS:
            raise InvalidInput(f"a count does not fit: it must be below {LARGEST // MOST_CLIENTS}")
        hidden = (numbers + _screen(drawn, name, len(numbers))) % MODULUS
        return [hidden[at : at + DEGREE].tolist() for at in range(0, len(hidden), DEGREE)]

    def opened(
        self, parts: Sequence[Sequence[float]], drawn: SharedDraws, names: Sequence[str], length: int
    ) -> Integers:
        """See :class:`SumScheme`.

        Raises:
            InvalidInput: If it has another length.
        """
        if not sized(self, length, [len(part) for part in parts]):
            raise InvalidInput("what is to be opened has another length than the sum")
        total = np.array([number for part in parts for number in part], np.int64) % MODULUS
        for name in names:
            total = (total - _screen(drawn, name, length)) % MODULUS
        return np.where(total > LARGEST, total - MODULUS, total)

    def sizes(self, length: int) -> list[int]:
        """See :class:`SumScheme`."""
        return [min(DEGREE, length - at) for at in range(0, length, DEGREE)]


def _screen(drawn: SharedDraws, name: str, length: int) -> Integers:
    """Give the numbers below the modulus that hide a client's counts in one sum."""
    words = drawn.words(name, length + 64)
    even = words[words < 2**64 - 2**64 % MODULUS]  # all but 1 in 2^24; each remainder is equally likely
    return (even[:length] % np.uint64(MODULUS)).astype(np.int64)
