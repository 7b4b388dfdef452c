"""Numbers that pass through a coordinator's hands and that only the parties can read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.wire._keys import Words, derived, framed, need_cryptography
from mahrem.files import check_key

NONCE = 12


@dataclass(frozen=True)
class Seal:
    """A key that all parties share and the coordinator does not have.

    Args:
        key: At least 16 random bytes.
        pairs: Keys that this party shares with one other each, by its name; what goes to it or comes from it
            is sealed with that one instead.

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
    pairs: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check_key("key", self.key)
        need_cryptography("what parties seal for each other")

    @classmethod
    def of(cls, key: bytes | Seal) -> Seal:
        """Give the seal of a key, unless it is one."""
        return key if isinstance(key, Seal) else cls(key)

    def secret(self, *bound: str) -> bytes:
        """Derive a key of its own for a purpose."""
        return derived(self.key, *(part.encode() for part in bound))

    def seed(self, *bound: str) -> int:
        """Derive the seed of something that only the parties shall know."""
        return int.from_bytes(self.secret(*bound)[:8], "little")

    def close(self, values: NDArray[Any], run: str, sender: str, reader: str, step: int) -> bytes:
        """Seal an array of numbers with 64 bits each; the reader knows which, and how many are in a row."""
        rows = np.ascontiguousarray(values, values.dtype if values.dtype == np.uint64 else "<f8")
        width = rows.shape[-1].to_bytes(4, "little")
        return self.close_bytes(width + rows.tobytes(), run, sender, reader, step)

    def close_bytes(self, content: bytes, run: str, sender: str, reader: str, step: int) -> bytes:
        """Seal bytes."""
        nonce = secrets.token_bytes(NONCE)
        bound = framed(sender.encode(), reader.encode(), b"%d" % step)
        text: bytes = self._cipher(run, sender, reader).encrypt(nonce, content, bound)
        return nonce + text

    def open(self, text: object, run: str, sender: str, reader: str, step: int) -> NDArray[np.float64]:
        """Open what another party sealed, as ``(n, width)``.

        Raises:
            InvalidInput: If it is something else, or was sealed for another run, party or step.
        """
        return np.asarray(self._numbers(self.open_bytes(text, run, sender, reader, step), "<f8"))

    def open_words(self, text: object, run: str, sender: str, reader: str, step: int) -> Words:
        """Open whole numbers without sign that another party sealed; see :meth:`open`."""
        return np.asarray(self._numbers(self.open_bytes(text, run, sender, reader, step), "<u8"))

    @staticmethod
    def _numbers(whole: bytes, form: str) -> NDArray[Any]:
        width = int.from_bytes(whole[:4], "little")
        if len(whole) < 4 or (len(whole) - 4) % (8 * max(width, 1)):
            raise InvalidInput("sealed: no numbers in it")
        return np.frombuffer(whole[4:], form).reshape(-1, max(width, 1)).copy()

    def open_bytes(self, text: object, run: str, sender: str, reader: str, step: int) -> bytes:
        """Open bytes that another party sealed; see :meth:`open`."""
        from cryptography.exceptions import InvalidTag

        bound, held = framed(sender.encode(), reader.encode(), b"%d" % step), text
        try:
            held = held if isinstance(held, bytes) else b""
            whole: bytes = self._cipher(run, sender, reader).decrypt(held[:NONCE], held[NONCE:], bound)
        except (InvalidTag, ValueError):
            raise InvalidInput("sealed: tampered with, replayed, or meant for another party") from None
        return whole

    def _cipher(self, run: str, sender: str, reader: str) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        of_pair = self.pairs.get(sender) or self.pairs.get(reader)
        return ChaCha20Poly1305(
            self.secret("seal", run) if of_pair is None else derived(of_pair, run.encode())
        )
