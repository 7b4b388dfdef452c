"""Shamir's secret shares: any few of them say nothing, enough of them say all."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from mahrem.errors import InvalidInput, InvalidParameter

PRIME = 2**521 - 1  # a Mersenne prime above any secret of 64 bytes
SIZE = 66  # bytes of a share


def split_secret(secret: bytes, shares: int, threshold: int) -> list[bytes]:
    """Split a secret into shares of which ``threshold`` are needed.

    Args:
        secret: At most 64 bytes.
        shares: How many shares; share ``i`` belongs to place ``i + 1``.
        threshold: How many bring the secret back.

    Guarantees:
        - Fewer than ``threshold`` shares are independent of the secret; coefficients come from the system.

    References:
        Shamir: How to share a secret, 1979.

    Example:
        >>> parts = split_secret(b"secret", 5, 3)
        >>> join_shares({1: parts[0], 4: parts[3], 5: parts[4]}, 6)
        b'secret'
    """
    if not 1 <= threshold <= shares or len(secret) > 64:
        raise InvalidParameter(
            f"threshold={threshold} must lie between 1 and shares={shares}, and the secret in 64 bytes"
        )
    curve = [int.from_bytes(secret, "big"), *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]
    return [_value(curve, place).to_bytes(SIZE, "big") for place in range(1, shares + 1)]


def _value(curve: list[int], place: int) -> int:
    value = 0
    for coefficient in reversed(curve):
        value = (value * place + coefficient) % PRIME
    return value


def join_shares(shares: Mapping[int, bytes], length: int) -> bytes:
    """Bring a secret of so many bytes back from shares by their places.

    Raises:
        InvalidInput: If the shares do not belong together.
    """
    secret = 0
    for place, share in shares.items():
        above, below = 1, 1
        for other in shares:
            if other != place:
                above = above * -other % PRIME
                below = below * (place - other) % PRIME
        secret = (secret + int.from_bytes(share, "big") * above * pow(below, -1, PRIME)) % PRIME
    if secret.bit_length() > 8 * length:
        raise InvalidInput(f"shares={len(shares)} do not belong to one secret")
    return secret.to_bytes(length, "big")
