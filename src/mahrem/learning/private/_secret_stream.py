"""Randomness of a private training: one secret key, stretched by SHAKE-128 for every step and purpose.

The key comes from the system's generator. Because step 41 always draws the same noise, a training that was
killed can be taken up again without releasing a second noisy answer about the same people.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mahrem import check
from mahrem.types import Floats, Integers

KEY_BYTES = 32
WHOLE = 1 << 32


@dataclass(frozen=True)
class SecretStream:
    """Numbers that nobody without the key can guess.

    Args:
        key: 32 secret bytes; who has them can subtract the noise.
        seeded: Whether the key was made from a seed; then nothing is private.

    Guarantees:
        - Equal keys, purposes and steps give equal numbers, however many are asked for.

    Example:
        >>> stream = new_stream(seed=1)
        >>> stream.normals("noise", 0, 3).tolist() == stream.normals("noise", 0, 5)[:3].tolist()
        True
    """

    key: bytes = field(repr=False)
    seeded: bool = False

    def words(self, purpose: str, step: int, count: int) -> npt.NDArray[np.uint64]:
        """Give uniform 64-bit words."""
        return np.frombuffer(self._bytes(purpose, step, 8 * count), dtype="<u8").astype(np.uint64, copy=False)

    def torch_seed(self, purpose: str, step: int = 0) -> int:
        """Give a seed for randomness that needs no secrecy: first weights, dropout."""
        return int(self.words(purpose, step, 1)[0] >> np.uint64(1))

    def chosen(self, step: int, units: int, rate: float) -> Integers:
        """Choose each unit by itself with probability ``rate``, rounded down to a multiple of 2**-32."""
        if rate >= 1:
            return np.arange(units, dtype=np.int64)
        drawn = np.frombuffer(self._bytes("sample", step, 4 * units), dtype="<u4")
        return np.flatnonzero(drawn < np.uint32(math.floor(rate * WHOLE))).astype(np.int64)

    def places(self, step: int, units: int, parts: int) -> Integers:
        """Put each unit into one of ``parts`` parts."""
        return (self.words("parts", step, units) % np.uint64(parts)).astype(np.int64)

    def uniforms(self, purpose: str, step: int, count: int) -> Floats:
        """Give numbers between 0 and 1, both outside."""
        return _open_uniforms(self.words(purpose, step, count))

    def normals(self, purpose: str, step: int, count: int) -> Floats:
        """Give standard normal numbers (Box-Muller in double precision, 53-bit uniforms)."""
        pairs = -(-count // 2)
        words = self.words(purpose, step, 2 * pairs).reshape(pairs, 2)
        radius = np.sqrt(-2.0 * np.log(_open_uniforms(words[:, 0])))
        angle = (2 * np.pi) * _open_uniforms(words[:, 1])
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:count]

    def laplaces(self, purpose: str, step: int, count: int) -> Floats:
        """Give Laplace numbers of scale 1 (inverse distribution function)."""
        words = self.words(purpose, step, count)
        size = -np.log(_open_uniforms(words))
        return np.where(words & np.uint64(1), size, -size)

    def _bytes(self, purpose: str, step: int, count: int) -> bytes:
        head = self.key + step.to_bytes(8, "little") + purpose.encode()
        return hashlib.shake_128(head).digest(count)


def _open_uniforms(words: npt.NDArray[np.uint64]) -> Floats:
    """Turn the upper 53 bits into numbers inside (0, 1)."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def new_stream(seed: int | None = None) -> SecretStream:
    """Make a stream from the system's generator; with a seed, one that repeats and keeps nothing private."""
    if seed is None:
        return SecretStream(secrets.token_bytes(KEY_BYTES))
    check.whole(seed=seed)
    return SecretStream(hashlib.sha256(f"mahrem test seed {seed}".encode()).digest(), seeded=True)


def stream_from(kept: Any) -> SecretStream:
    """Read what a checkpoint kept of a stream."""
    return SecretStream(bytes.fromhex(kept["key"]), bool(kept["seeded"]))
