"""Private set intersection by Diffie-Hellman: ids that all parties have are found, others stay unknown."""

from __future__ import annotations

import hashlib
import secrets
from typing import TypeAlias

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.wire import Words, need_cryptography

POINT = 32  # bytes of a point of Curve25519, by its u-coordinate
Points: TypeAlias = bytes  # 32 of each


def points_of(words: Words) -> Points:
    """Give a point of Curve25519, or of its twist, for each keyed hash of an id.

    Every 32 bytes are the u-coordinate of a point of one of the two, and X25519 is made to multiply both
    (RFC 7748; the twist is as hard). So SHA-256 is all that a hash to the curve takes here.

    Args:
        words: ``(n, 2)`` 128 bits of each id, under the parties' key.
    """
    data = np.ascontiguousarray(words).astype(">u8").tobytes()
    every = range(0, len(data), 16)
    return b"".join(hashlib.sha256(b"mahrem-ids-1" + data[at : at + 16]).digest() for at in every)


def new_exponent() -> bytes:
    """Draw the secret that one party multiplies by; one for each run, and never told."""
    return secrets.token_bytes(POINT)


def raise_points(points: Points, exponent: bytes) -> Points:
    """Multiply points by a secret number.

    Guarantees:
        - The order of several secrets does not matter: equal ids end in equal points, others do not.
        - Who knows the result and not the secret cannot tell whose point it was (decisional Diffie-Hellman).

    Raises:
        InvalidInput: If these are no points, or one of small order, which would tell the secret's remainder.

    Example:
        >>> one, other = new_exponent(), new_exponent()
        >>> points = points_of(np.arange(6, dtype=np.uint64).reshape(3, 2))
        >>> there = raise_points(raise_points(points, one), other)
        >>> there == raise_points(raise_points(points, other), one)
        True
    """
    need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    check_points(points, None, "another")
    key, read = X25519PrivateKey.from_private_bytes(exponent), X25519PublicKey.from_public_bytes
    every = range(0, len(points), POINT)
    try:
        return b"".join(key.exchange(read(points[at : at + POINT])) for at in every)
    except ValueError:
        raise InvalidInput("ids: a point of small order, which is nobody's id") from None


def words_of(points: Points) -> Words:
    """Give 128 bits of each point, to be compared."""
    return np.frombuffer(points, ">u8").reshape(-1, POINT // 8)[:, :2].astype(np.uint64)


def check_points(points: object, count: int | None, name: str) -> Points:
    """Refuse what is no list of points, or of another length than was sent.

    Raises:
        InvalidInput: If so.
    """
    if not isinstance(points, bytes) or len(points) % POINT:
        raise InvalidInput(f"party={name!r} sent no points of ids")
    if count is not None and len(points) != count:
        raise InvalidInput(f"party={name!r} sent another number of points than it was given")
    return points
