"""Keys from shared secrets, each bound to what it is for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahrem.check import extra

Words = NDArray[np.uint64]
KEY = 32  # bytes of a key or seed


def need_cryptography(needed_for: str = "sums under masks") -> None:
    """Say how to get ``cryptography`` if it is not there."""
    try:
        import cryptography  # noqa: F401 - is it there?
    except ImportError:
        raise extra("federated", needed_for=needed_for) from None


def framed(*parts: bytes) -> bytes:
    """Put parts in a row, each with its length, so that no two rows look alike."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def derived(secret: bytes, *context: bytes) -> bytes:
    """Derive a key from a shared secret and all it is bound to; lengths are part of it."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"mahrem-sum-2" + framed(*context)
    return HKDF(algorithm=SHA256(), length=KEY, salt=None, info=info).derive(secret)
