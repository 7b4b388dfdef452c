"""Dummy parameters: numbers that look like weights are mixed among them, in an order that clients know."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.federated.wire import Words
from mahrem.files import check_key
from mahrem.types import Floats, Integers


def dummies_among(size: int, share: float) -> int:
    """Say how many dummies are mixed among so many weights; everybody knows."""
    return round(share * size)


@dataclass(frozen=True, kw_only=True)
class Decoys:
    """Mixes dummies into weights before they leave a client, and takes them out of what comes back.

    All clients have the same key. A dummy is a sum of two real weights of a client with secret factors, so it
    is as large as they are and moves as they do. The server averages all numbers alike and never needs to
    know which are real.

    The server cannot tell which numbers are real, which layer they belong to, or what the model says to a
    row; it does not know where training began either. It can tell how many numbers there are, how fast they
    move, and, with patience, that some depend on others. This is a disguise: against a server that must learn
    nothing about single clients use hidden sums, with or without dummies.

    Args:
        key: Shared by the clients, unknown to the server; at least 16 bytes.
        share: Dummies for each real weight.

    Guarantees:
        - What is opened is what was mixed, to the last digit; so the average of opened weights is the opened
          average, and dummies change nothing about the model.

    References:
        Buyuktanir: distributed CBA with dummy parameters (client-side protections).

    Example:
        >>> decoys = Decoys(key=bytes(16), share=0.5)
        >>> mixed = decoys.mix(np.array([1.0, 2.0, 3.0, 4.0]))
        >>> len(mixed), decoys.open(mixed, 4).tolist()
        (6, [1.0, 2.0, 3.0, 4.0])
    """

    key: bytes = field(repr=False)
    share: float = 1.0

    def __post_init__(self) -> None:
        check_key("key", self.key)
        check.between(0, 10, share=self.share)

    def seed(self) -> int:
        """Give where training begins; the server does not know it."""
        return int(self._words("start", 1)[0])

    def mix(self, weights: Floats) -> Floats:
        """Give the weights with dummies among them."""
        values = np.asarray(weights)
        count = dummies_among(len(values), self.share)
        sources = (self._words("sources", 2 * count) % np.uint64(len(values))).astype(np.int64)
        angles = 2 * np.pi * (self._words("factors", count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        first, second = values[sources].reshape(2, count)
        dummies = np.cos(angles) * first + np.sin(angles) * second
        return np.concatenate([values, dummies.astype(values.dtype)])[self._order(len(values) + count)]

    def open(self, mixed: Floats, size: int) -> Floats:
        """Give the ``size`` real weights, in their own order.

        Raises:
            InvalidInput: If there are not as many numbers as that makes.
        """
        values = np.asarray(mixed)
        if len(values) != size + dummies_among(size, self.share):
            raise InvalidInput(f"weights={len(values)}: not so many are there with dummies={self.share:g}")
        whole = np.empty_like(values)
        whole[self._order(len(values))] = values
        return whole[:size]

    def _order(self, size: int) -> Integers:
        return np.argsort(self._words("order", size), kind="stable")

    def _words(self, purpose: str, count: int) -> Words:
        drawn = hashlib.shake_256(b"mahrem-decoys-1" + hashlib.sha256(self.key).digest() + purpose.encode())
        return np.frombuffer(drawn.digest(8 * count), "<u8")
