"""Numbers that pass through a coordinator's hands and that only the parties can read."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.wire._keys import derived, framed, need_cryptography
from mahrem.files import check_key

NONCE = 12


@dataclass(frozen=True)
class Seal:
    """A key that all parties share and the coordinator does not have.

    Args:
        key: At least 16 random bytes.

    Guarantees:
        - What was sealed in one run, for one reader and one step opens there and nowhere else.

    Example:
        >>> seal = Seal(bytes(32))
        >>> text = seal.close(np.array([[1.5]]), "run", "a", "b", 7)
        >>> seal.open(text, "run", "a", "b", 7).tolist(), len(text)
        ([[1.5]], 40)
        >>> seal.open(text, "run", "a", "b", 8)
        Traceback (most recent call last):
        mahrem.errors.InvalidInput: sealed: tampered with, replayed, or meant for another party
    """

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_key("key", self.key)
        need_cryptography("what parties seal for each other")

    def secret(self, *bound: str) -> bytes:
        """Derive a key of its own for a purpose."""
        return derived(self.key, *(part.encode() for part in bound))

    def seed(self, *bound: str) -> int:
        """Derive the seed of something that only the parties shall know."""
        return int.from_bytes(self.secret(*bound)[:8], "little")

    def close(self, values: NDArray[Any], run: str, sender: str, reader: str, step: int) -> bytes:
        """Seal an array of floats with 64 bits each; the reader must know how many there are in a row."""
        nonce = secrets.token_bytes(NONCE)
        rows = np.ascontiguousarray(values, "<f8")
        width = rows.shape[-1].to_bytes(4, "little")
        bound = framed(sender.encode(), reader.encode(), b"%d" % step)
        text: bytes = self._cipher(run).encrypt(nonce, width + rows.tobytes(), bound)
        return nonce + text

    def open(self, text: object, run: str, sender: str, reader: str, step: int) -> NDArray[np.float64]:
        """Open what another party sealed, as ``(n, width)``.

        Raises:
            InvalidInput: If it is something else, or was sealed for another run, party or step.
        """
        from cryptography.exceptions import InvalidTag

        bound, held = framed(sender.encode(), reader.encode(), b"%d" % step), text
        try:
            held = held if isinstance(held, bytes) else b""
            whole = self._cipher(run).decrypt(held[:NONCE], held[NONCE:], bound)
        except (InvalidTag, ValueError):
            raise InvalidInput("sealed: tampered with, replayed, or meant for another party") from None
        width = int.from_bytes(whole[:4], "little")
        return np.frombuffer(whole[4:], "<f8").reshape(-1, max(width, 1)).copy()

    def _cipher(self, run: str) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        return ChaCha20Poly1305(self.secret("seal", run))
