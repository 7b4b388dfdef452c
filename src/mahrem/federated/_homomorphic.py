"""Sums of encrypted counts (BFV): the server adds ciphertexts, the clients hold the key."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem.check import extra
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated._grid import Grid, ask_all
from mahrem.federated._masks import framed
from mahrem.federated._members import Members, commonest
from mahrem.federated._message import Message, digest_message
from mahrem.federated._sums import Fault, Summed, refuse_sum
from mahrem.types import Integers

__all__ = ["EncryptedClient", "EncryptedSum", "check_public_key", "make_sum_keys"]

DEGREE = 8192  # of the ring; 218 bits of modulus give 128 bits of security
MODULUS = 1_099_511_922_689  # a prime of 40 bits that allows 8,192 numbers in one ciphertext
LARGEST = MODULUS // 2


def _tenseal() -> Any:
    try:
        import tenseal
    except ImportError:
        raise extra("he", needed_for="homomorphic sums") from None
    return tenseal


def make_sum_keys() -> tuple[bytes, bytes]:
    """Make a pair of keys: the clients' secret one, and the server's, which can add and not read.

    All clients share the secret key: one that tells it to the server opens every client's counts. Masks
    (:class:`MaskedSum`) have no such single key.
    """
    tenseal = _tenseal()
    context = tenseal.context(tenseal.SCHEME_TYPE.BFV, DEGREE, plain_modulus=MODULUS)
    secret: bytes = context.serialize(save_secret_key=True, save_galois_keys=False, save_relin_keys=False)
    public: bytes = context.serialize(save_secret_key=False, save_galois_keys=False, save_relin_keys=False)
    return secret, public


def _screen(secret: bytes, message: Message, asked: bytes, name: str, length: int) -> Integers:
    """Give the numbers below the modulus that hide a client's counts in one sum; only clients can make them.

    The server could hand any ciphertext to a client to be opened. Under screens it learns nothing unless what
    it hands over is the sum over exactly the clients that it names, all of whom were asked the same.
    """
    bound = (hashlib.sha256(secret).digest(), message.run.encode(), str(message.round).encode(), asked)
    drawn = hashlib.shake_256(b"mahrem-screen-1" + framed(*bound, name.encode()))
    words = np.frombuffer(drawn.digest(8 * (length + 64)), "<u8")
    even = words[words < 2**64 - 2**64 % MODULUS]  # all but 1 in 2^24; each remainder is equally likely
    return (even[:length] % np.uint64(MODULUS)).astype(np.int64)


@dataclass
class EncryptedClient:
    """A client that gives counts away encrypted, and opens sums.

    Args:
        name: Its name on the grid.
        secret: The clients' key.
        numbers: Counts that a question of a kind asks for; :meth:`Silo.numbers` is one.
        otherwise: Answers other questions; None refuses them.
        least_clients: A sum of fewer is not opened, whatever the server says.
        recount: Whether sums of one run may be over different clients; see :class:`Members`.
    """

    name: str
    secret: bytes = field(repr=False)
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    least_clients: int = 2
    recount: bool = False
    _context: Any = field(default=None, repr=False)
    _members: Members = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._members = Members(max(2, self.least_clients), self.recount)

    def answer(self, message: Message) -> Message:
        """Answer one step of a sum.

        Raises:
            InvalidInput: If the key is wrong, a count does not fit, or the question is none.
        """
        tenseal = _tenseal()
        if self._context is None:
            self._context = _opened_key(tenseal, self.secret, private=True)
        if message.kind == "open-sum":
            return message.reply(numbers=self._opened(message, tenseal))
        if message.kind == "encrypted":
            return message.reply(**self._closed(message, tenseal))
        if self.otherwise is None:
            raise InvalidInput(f"kind={message.kind!r} is refused: this client sends encrypted counts only")
        return self.otherwise(message)

    def _closed(self, message: Message, tenseal: Any) -> dict[str, Any]:
        body = message.body
        inner = {name.removeprefix("q-"): value for name, value in body.items() if name.startswith("q-")}
        found = self.numbers(body["kind"], inner)
        if found.size and int(found.max()) >= LARGEST // max(1, int(body["clients"])):
            raise InvalidInput(f"a count does not fit into sums below {LARGEST}")
        asked = digest_message(Message(body["kind"], message.run, message.round, inner))
        hidden = (found + _screen(self.secret, message, asked, self.name, len(found))) % MODULUS
        parts = [
            tenseal.bfv_vector(self._context, hidden[at : at + DEGREE].tolist()).serialize()
            for at in range(0, len(hidden), DEGREE)
        ]
        return _listed(parts, len(found))

    def _opened(self, message: Message, tenseal: Any) -> Integers:
        body = message.body
        names, length = sorted(set(body["names"])), int(body["length"])
        self._members.accept(message.run, names)
        whole = [
            number
            for part in _parts(body)
            for number in tenseal.bfv_vector_from(self._context, part).decrypt()
        ]
        total = np.array(whole[:length], np.int64) % MODULUS
        for name in names:
            total = (total - _screen(self.secret, message, body["asked"], name, length)) % MODULUS
        return np.where(total > LARGEST, total - MODULUS, total)


def _opened_key(tenseal: Any, key: bytes, *, private: bool) -> Any:
    try:
        found = tenseal.context_from(key)
    except (ValueError, RuntimeError, TypeError):
        raise InvalidInput(f"key of homomorphic sums={len(key)} bytes is none") from None
    if bool(found.is_private()) != private:
        wanted, given = ("secret", "public") if private else ("public", "secret")
        raise InvalidInput(
            f"key of homomorphic sums: the {wanted} one is needed, and this is the {given} one"
        )
    return found


def check_public_key(key: bytes) -> bytes:
    """Give back the server's key of the sums if it is one; the clients' secret one is refused.

    Raises:
        InvalidInput: If it is not.
    """
    _opened_key(_tenseal(), key, private=False)
    return key


@dataclass(frozen=True)
class EncryptedSum:
    """Adds up ciphertexts of :class:`EncryptedClient`; one client opens the sum, the server never can.

    Exact: whole numbers below 2^39 in all. The server learns the sum from a client, which learns it too.

    Args:
        public: The server's key of :func:`make_sum_keys`.
    """

    public: bytes = field(repr=False)
    hides: ClassVar[bool] = True

    def __call__(self, grid: Grid, nodes: Sequence[str], question: Message, fault: Fault) -> Summed:
        """See :class:`Adder`.

        Raises:
            Infeasible: If fewer than two clients are left, or none of them opens the sum.
            InvalidInput: If the sum cannot be.
        """
        tenseal = _tenseal()
        context = _opened_key(tenseal, self.public, private=False)
        inner = {f"q-{name}": value for name, value in question.body.items()}
        body = {"kind": question.kind, "clients": len(nodes), **inner}
        asked = Message("encrypted", question.run, question.round, body)
        answers, failures = ask_all(grid, nodes, asked)
        vectors = _vectors(tenseal, context, answers, failures)
        kept = sorted(vectors)
        if len(kept) < 2:
            raise Infeasible(f"clients={len(kept)}: a sum of fewer than 2 hides nothing", reached=len(kept))
        length = answers[kept[0]].body["length"]
        sums = [sum(parts[1:], start=parts[0]) for parts in zip(*vectors.values(), strict=True)]
        closed = _listed([part.serialize() for part in sums], length)
        more = {"names": kept, "asked": digest_message(question)}
        why: dict[str, str] = {}
        for node in kept:  # the first that answers will do
            opened, refused = ask_all(
                grid, [node], Message("open-sum", question.run, question.round, {**closed, **more})
            )
            why.update(refused)
            total = opened[node].body.get("numbers") if node in opened else None
            if isinstance(total, np.ndarray) and total.shape == (length,):
                total = total.astype(np.int64)
                refuse_sum(total, fault)
                return Summed(total, tuple(kept), failures)
        reasons = "; ".join(f"{node}: {said}" for node, said in sorted(why.items())[:3])
        raise Infeasible(f"clients={len(kept)}: none of them opened the sum ({reasons})", reached=len(kept))


def _vectors(
    tenseal: Any, context: Any, answers: Mapping[str, Message], failures: dict[str, str]
) -> dict[str, list[Any]]:
    """Read the ciphertexts; an answer that holds none, or of another length than most, is a failure."""
    found: dict[str, list[Any]] = {}
    for node, said in answers.items():
        try:
            parts = [tenseal.bfv_vector_from(context, part) for part in _parts(said.body)]
            sizes = [min(DEGREE, said.body["length"] - at) for at in range(0, said.body["length"], DEGREE)]
            whole = [part.size() for part in parts] == sizes  # some nonsense can be read, as other vectors
        except (KeyError, TypeError, ValueError, RuntimeError):
            whole = False
        if whole:
            found[node] = parts
        else:
            failures[node] = "an answer that cannot be read"
    usual = commonest(answers[node].body["length"] for node in found)
    for node in [node for node in found if answers[node].body["length"] != usual]:
        del found[node]
        failures[node] = "another number of counts than the others"
    return found


def _listed(parts: Sequence[bytes], length: int) -> dict[str, Any]:
    return {"sizes": [len(part) for part in parts], "parts": b"".join(parts), "length": length}


def _parts(body: Mapping[str, Any]) -> list[bytes]:
    ends = np.cumsum([0, *body["sizes"]]).tolist()
    whole: bytes = body["parts"]
    return [whole[first:last] for first, last in itertools.pairwise(ends)]
