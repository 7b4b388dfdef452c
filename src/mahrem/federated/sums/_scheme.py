"""What encrypted sums have in common: how numbers are encrypted, and how a client knows what it opens."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from mahrem.check import extra
from mahrem.federated.wire import Words, framed
from mahrem.types import Integers

AGREEMENT = 32  # bytes by which a client agrees to a sum
LONGEST = 8192  # numbers in one ciphertext, in any scheme


def need_tenseal() -> Any:
    """Load TenSEAL.

    Raises:
        MissingExtra: If it is not there.
    """
    try:
        import tenseal
    except ImportError:
        raise extra("he", needed_for="homomorphic sums") from None
    return tenseal


def written_keys(context: Any) -> tuple[bytes, bytes]:
    """Write a context as the clients' secret key and the server's public one."""
    secret: bytes = context.serialize(save_secret_key=True, save_galois_keys=False, save_relin_keys=False)
    public: bytes = context.serialize(save_secret_key=False, save_galois_keys=False, save_relin_keys=False)
    return secret, public


@dataclass(frozen=True)
class SharedDraws:
    """Numbers that clients draw alike for one sum; only they can, and they are bound to what was asked."""

    secret: bytes = field(repr=False)
    run: str
    round: int
    asked: bytes = field(repr=False)

    def words(self, name: str, count: int) -> Words:
        """Give uniform 64-bit words for a name."""
        bound = framed(hashlib.sha256(self.secret).digest(), *self._sum(), name.encode())
        drawn = hashlib.shake_256(b"mahrem-screen-1" + bound)
        return np.frombuffer(drawn.digest(8 * count), "<u8")

    def agreement(self, name: str, names: Sequence[str]) -> bytes:
        """Give a client's word that this sum may be opened over these clients; no server can forge it."""
        bound = framed(*self._sum(), name.encode(), *(other.encode() for other in names))
        return hmac.digest(hashlib.sha256(self.secret).digest(), b"mahrem-agreed-1" + bound, "sha256")

    def _sum(self) -> tuple[bytes, ...]:
        return self.run.encode(), str(self.round).encode(), self.asked


class SumScheme(Protocol):
    """How numbers are encrypted, and how a client knows that what it opens is the sum it was told of.

    The server could hand any ciphertext to a client to be opened. It must learn nothing unless what it hands
    over is the sum over exactly the clients that it names, all of whom were asked the same. That these agreed
    to be named together, and to no other list, is checked before (:meth:`SharedDraws.agreement`).
    """

    most_clients: ClassVar[int]  # that a sum has room for

    @staticmethod
    def make_keys() -> tuple[bytes, bytes]:
        """Make the clients' secret key and the server's public one, which can add and not read."""

    def vector(self, tenseal: Any, context: Any, numbers: Sequence[float]) -> Any:
        """Encrypt numbers."""

    def read(self, tenseal: Any, context: Any, part: bytes) -> Any:
        """Read a ciphertext."""

    def closed(self, numbers: Integers, drawn: SharedDraws, name: str) -> list[list[float]]:
        """Give a client's numbers as they are encrypted, a list for each ciphertext."""

    def opened(
        self, parts: Sequence[Sequence[float]], drawn: SharedDraws, names: Sequence[str], length: int
    ) -> Integers:
        """Give the sum over named clients from what was decrypted; anything else is refused or noise."""

    def sizes(self, length: int) -> list[int]:
        """Say how many numbers each ciphertext of so many numbers holds."""


def sized(scheme: SumScheme, length: object, sizes: Sequence[int]) -> bool:
    """Say whether ciphertexts of these sizes hold so many numbers; a huge length costs nothing."""
    return type(length) is int and 0 <= length <= LONGEST * len(sizes) and scheme.sizes(length) == list(sizes)
