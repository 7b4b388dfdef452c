"""Masks that cancel: what a client adds to its numbers so that only the sum over all can be read."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.sums._shamir import SIZE, split_secret
from mahrem.federated.wire import KEY, Words, derived, framed

SEALED = 2 * SIZE + 16  # bytes of two shares and the tag that seals them


def keystream(seed: bytes, length: int) -> Words:
    """Stretch a seed to so many 64-bit numbers with ChaCha20."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    stream = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor().update(bytes(8 * length))
    return np.frombuffer(stream, "<u8")


def agreed(private: bytes, public: bytes) -> bytes:
    """Agree on a secret with the owner of a public key (X25519)."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    try:
        return X25519PrivateKey.from_private_bytes(private).exchange(
            X25519PublicKey.from_public_bytes(public)
        )
    except ValueError:
        raise InvalidInput("a public key is none; the other side sent a bad one") from None


def public_of(private: bytes) -> bytes:
    """Give the public key of a private one."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def pair_seed(private: bytes, mine: bytes, other: bytes, context: bytes) -> bytes:
    """Derive the seed of the mask that two clients share in one round; the same on both sides."""
    return derived(agreed(private, other), b"mask", context, *sorted([mine, other]))


def bound_to(context: bytes, keys: Mapping[str, bytes], threshold: int, asked: bytes) -> bytes:
    """Give what the masks of pairs are bound to: the sum, all its clients, and what they were asked.

    Masks of clients that were told different lists or different questions do not cancel. So a server cannot
    ask one client in earnest and the others something whose answer it knows.
    """
    listed = [part for name, key in sorted(keys.items()) for part in (name.encode(), key)]
    return hashlib.sha256(framed(context, threshold.to_bytes(4, "big"), asked, *listed)).digest()


@dataclass
class Masker:
    """A client's side of one sum: double masks, and shares of their seeds for the others.

    The state is bytes and can be stored between messages. One object serves one sum: keys are fresh, so that
    what is given away to bring back a lost client's mask says nothing about any other sum.

    References:
        Bonawitz et al.: Practical secure aggregation for privacy-preserving machine learning, 2017.
    """

    name: str
    context: bytes  # run and round; bound into every key
    lock: bytes = field(default_factory=lambda: secrets.token_bytes(KEY), repr=False)  # opens shares
    mask: bytes = field(default_factory=lambda: secrets.token_bytes(KEY), repr=False)  # agrees on pair masks
    own: bytes = field(default_factory=lambda: secrets.token_bytes(KEY), repr=False)  # seed of the own mask
    keys: dict[str, tuple[bytes, bytes]] = field(default_factory=dict, repr=False)  # public, of all
    threshold: int = 0
    received: dict[str, tuple[bytes, bytes]] = field(default_factory=dict, repr=False)  # (own, mask) shares
    done: bool = False

    def public_keys(self) -> bytes:
        """Give both public keys, 64 bytes."""
        return public_of(self.lock) + public_of(self.mask)

    def share(self, keys: Mapping[str, bytes], threshold: int) -> dict[str, bytes]:
        """Give for every other client shares of both seeds, which only that client can open.

        Raises:
            InvalidInput: If the list of clients is not one to trust: this client is not in it as it is, a key
                stands there twice, or half of them could open everything.
        """
        if self.keys:
            raise InvalidInput("shares of this round were given already; a second list of clients is refused")
        if keys.get(self.name) != self.public_keys() or any(len(key) != 2 * KEY for key in keys.values()):
            raise InvalidInput("the list of clients does not hold this client's keys as they are")
        if len({key[:KEY] for key in keys.values()} | {key[KEY:] for key in keys.values()}) < 2 * len(keys):
            raise InvalidInput("a key stands twice in the list of clients")
        if not len(keys) // 2 < threshold <= len(keys) or len(keys) < 2:
            raise InvalidInput(
                f"threshold={threshold} must be more than half of clients={len(keys)}, at least 2"
            )
        self.keys = {name: (key[:KEY], key[KEY:]) for name, key in sorted(keys.items())}
        self.threshold = threshold
        own, mask = (split_secret(seed, len(keys), threshold) for seed in (self.own, self.mask))
        sealed: dict[str, bytes] = {}
        for place, name in enumerate(self.keys):
            if name == self.name:
                self.received[name] = own[place], mask[place]
            else:
                sealed[name] = self._cipher(self.name, name).encrypt(
                    bytes(12), own[place] + mask[place], None
                )
        return sealed

    def masked(self, numbers: NDArray[np.int64], sealed: Mapping[str, bytes], asked: bytes = b"") -> Words:
        """Hide numbers under the own mask and one mask for each client whose shares arrived.

        Args:
            numbers: What is summed.
            sealed: Shares for this client by their sender.
            asked: What was asked, in few bytes; masks cancel only among clients that were asked the same.

        Raises:
            InvalidInput: If too few clients are there, or a share was tampered with or belongs elsewhere.
        """
        from cryptography.exceptions import InvalidTag

        if len(self.received) != 1 or self.done:
            raise InvalidInput("numbers of this round were sent already, or no shares were given")
        try:
            for name, text in sealed.items():
                if name == self.name or name not in self.keys:
                    raise InvalidInput("shares of a client that is not in the list")
                opened = self._cipher(name, self.name).decrypt(bytes(12), text, None)
                self.received[name] = opened[:SIZE], opened[SIZE:]
        except InvalidTag:
            raise InvalidInput(
                "a share was tampered with, replayed, or is meant for another client"
            ) from None
        if len(self.received) < self.threshold:
            raise InvalidInput(f"clients={len(self.received)}: a sum needs at least {self.threshold}")
        hidden = numbers.astype(np.uint64) + keystream(self.own, len(numbers))
        mine = self.keys[self.name][1]
        listed = {name: lock + mask for name, (lock, mask) in self.keys.items()}
        bound = bound_to(self.context, listed, self.threshold, asked)
        for name in self.received:
            if name != self.name:
                seed = pair_seed(self.mask, mine, self.keys[name][1], bound)
                stream = keystream(seed, len(numbers))
                hidden = hidden + stream if self.name < name else hidden - stream
        return hidden

    def reveal(self, present: list[str]) -> dict[str, bytes]:
        """Give one share of each client: of its own mask if it is in the sum, of its key if it was lost.

        Never both: a client whose numbers come late stays hidden under its own mask.

        Raises:
            InvalidInput: If asked twice, or for a sum of too few.
        """
        there = set(present)
        if self.done or not there <= set(self.received) or self.name not in there:
            raise InvalidInput("shares of this round were given already, or for clients that are not in it")
        if len(there) < self.threshold:
            raise InvalidInput(f"clients={len(there)}: a sum needs at least {self.threshold}")
        self.done = True
        return {name: own if name in there else mask for name, (own, mask) in self.received.items()}

    def _cipher(self, sender: str, receiver: str) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        other = receiver if sender == self.name else sender
        secret = agreed(self.lock, self.keys[other][0])
        bound = (sender.encode(), self.keys[sender][0], receiver.encode(), self.keys[receiver][0])
        return ChaCha20Poly1305(derived(secret, b"share", self.context, *bound))
