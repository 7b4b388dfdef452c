"""Masks that cancel: what a client adds to its numbers so that only the sum over all can be read."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.sums._mask_graph import holds_together, mask_graph
from mahrem.federated.wire import KEY, Words, framed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

WORD = 16  # bytes by which a client gives a partner its word for a list


def keystream(seed: bytes, length: int) -> Words:
    """Stretch a seed to so many 64-bit numbers with ChaCha20."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    stream = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor().update(bytes(8 * length))
    return np.frombuffer(stream, "<u8")


def new_key() -> X25519PrivateKey:
    """Make a key to agree on secrets with."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.generate()


def agreed(private: X25519PrivateKey, public: bytes) -> bytes:
    """Agree on a secret with the owner of a public key (X25519)."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    try:
        return private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise InvalidInput("a public key is none; the other side sent a bad one") from None


def public_of(private: X25519PrivateKey) -> bytes:
    """Give the public key of a private one."""
    return private.public_key().public_bytes_raw()


def list_digest(context: bytes, keys: Mapping[str, bytes]) -> bytes:
    """Give what names a sum, its clients and their keys; nobody knows it before the last key is there.

    Partners are drawn from it. Masks and words are bound to it and to what was asked: those of clients that
    were told different lists or different questions do not cancel. So a server cannot ask one client in
    earnest and the others something whose answer it knows.
    """
    names = sorted(keys)
    listed = json.dumps(names).encode(), b"".join(map(keys.__getitem__, names))  # keys have one length
    return hashlib.sha256(framed(context, *listed)).digest()


def partners_of(name: str, names: Sequence[str], seed: bytes) -> list[str]:
    """Name a client's partners among sorted names, sorted."""
    places = np.unique(mask_graph(len(names), seed)[names.index(name)])
    return [names[place] for place in places.tolist()]


def commitment(own: bytes) -> bytes:
    """Give what a client shows of the seed of its own mask before it shows the seed."""
    return hashlib.sha256(b"mahrem-own-1" + own).digest()


@dataclass
class Masker:
    """A client's side of one sum: masks shared with partners, a mask of its own, and its word for one list.

    Keys are fresh, one object serves one sum. The seed of the own mask leaves for one list of clients at
    most, and only after every partner in it gave its word for the very same list. Seeds of masks that are
    shared with partners outside of it leave with it, those shared within it never.

    Guarantees:
        - What a server can read is the sum over all honest clients of a list, each of which gave its word
          for it, whomever it tells what and however many clients help it, as long as those masks hold the
          honest ones together (:func:`holds_together`). Up to 40 clients they do: all pairs share one.

    References:
        Bonawitz et al.: Practical secure aggregation for privacy-preserving machine learning, 2017 (masks,
        and the round in which lists are compared). Bell et al.: Secure single-server aggregation with
        (poly)logarithmic overhead, 2020 (few partners).
    """

    name: str
    context: bytes  # run and number of the sum; bound into every key
    key: X25519PrivateKey = field(default_factory=new_key, repr=False)
    own: bytes = field(default_factory=lambda: secrets.token_bytes(KEY), repr=False)  # seed of the own mask
    names: list[str] = field(default_factory=list, repr=False)
    listed: frozenset[str] = frozenset()  # what it gave its word for
    broken: bool = False  # somebody was told another list
    done: bool = False  # its seed was shown
    _seed: bytes = field(default=b"", repr=False)  # of the graph
    _list_digest: bytes = field(default=b"", repr=False)  # of the list that was agreed to
    _secrets: dict[str, bytes] = field(default_factory=dict, repr=False)  # shared with each partner

    def masked(self, keys: Mapping[str, bytes], numbers: NDArray[np.int64], asked: bytes = b"") -> Words:
        """Hide numbers under the own mask and one for each partner.

        Args:
            keys: Public keys of all clients of the sum.
            numbers: What is summed.
            asked: What was asked, in few bytes; masks cancel only among clients that were asked the same.

        Raises:
            InvalidInput: If the list is not one to trust, or numbers were sent already.
        """
        if self.names:
            raise InvalidInput("numbers of this sum were sent already; a second list or question is refused")
        mine = public_of(self.key)
        if keys.get(self.name) != mine or {*map(len, keys.values())} != {KEY}:
            raise InvalidInput("the list of clients does not hold this client's key as it is")
        if len(set(keys.values())) < len(keys) or len(keys) < 2:
            raise InvalidInput(f"clients={len(keys)}: a key stands twice in the list, or there is no other")
        self.names, self._seed = sorted(keys), list_digest(self.context, keys)
        hidden = numbers.astype(np.uint64) + keystream(self.own, len(numbers))
        for name in partners_of(self.name, self.names, self._seed):
            bound = framed(b"mahrem-partners-1", self._seed, asked, *sorted([mine, keys[name]]))
            self._secrets[name] = hmac.digest(
                bound, agreed(self.key, keys[name]), "sha256"
            )  # HKDF's first half
            stream = keystream(self._shared_seed(name), len(numbers))
            (np.add if self.name < name else np.subtract)(hidden, stream, out=hidden)
        return hidden

    def agree(self, listed: frozenset[str], admit: Callable[[], None] = lambda: None) -> bytes:
        """Give each partner in a list the word that the sum may be read over exactly this list.

        Args:
            listed: The clients whose numbers arrived.
            admit: Called before a word is given for the first time; may refuse.

        Raises:
            InvalidInput: If it is another list than before, not part of the sum, or falls apart.
        """
        if not self.listed:
            self._refuse_list(listed)
            admit()
            self._list_digest = hashlib.sha256(json.dumps(sorted(listed)).encode()).digest()
            self.listed = listed
        elif self.listed != listed:
            raise InvalidInput("clients: another list than this client gave its word for; it is refused")
        return b"".join(self._word(self.name, name) for name in self._partners(within=True))

    def _refuse_list(self, listed: frozenset[str]) -> None:
        if self.name not in listed or not listed.issubset(self.names):
            raise InvalidInput("clients: this one is not in the list, or others that are not in the sum")
        there = np.array([name in listed for name in self.names])
        if not holds_together(mask_graph(len(self.names), self._seed), there):
            raise InvalidInput(
                f"clients={len(listed)}: too many partners of one client are missing from the list; parts of "
                "the sum could be read, so it is refused"
            )

    def reveal(self, words: bytes) -> tuple[bytes, bytes]:
        """Give the seed of the own mask, and those shared with partners that are not in the list.

        Args:
            words: What :meth:`agree` of each partner in the list gave for this client, in order of names.

        Raises:
            InvalidInput: If one of them gave no word for this very list; the sum is then never opened here.
        """
        partners = self._partners(within=True)
        right = b"".join(self._word(name, self.name) for name in partners)
        if not self.listed or self.broken or not hmac.compare_digest(words, right):
            self.broken = True
            raise InvalidInput(
                "clients: not all of them gave their word for the same list, so somebody was told another "
                "one; the sum stays closed"
            )
        self.done = True
        return self.own, b"".join(self._shared_seed(name) for name in self._partners(within=False))

    def _partners(self, *, within: bool) -> list[str]:
        return [name for name in sorted(self._secrets) if (name in self.listed) == within]

    def _shared_seed(self, name: str) -> bytes:
        return hashlib.sha256(b"mahrem-mask-3" + self._secrets[name]).digest()

    def _word(self, giver: str, taker: str) -> bytes:
        secret = self._secrets[taker if giver == self.name else giver]  # of these two alone
        way = b"up" if giver < taker else b"down"
        return hmac.digest(secret, b"mahrem-list-1" + self._list_digest + way, "sha256")[:WORD]
