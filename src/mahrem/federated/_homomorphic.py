"""Sums of encrypted counts (BFV): the server adds ciphertexts, the clients hold the key."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem.check import extra
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated._grid import Grid, ask_all
from mahrem.federated._message import Message
from mahrem.federated._sums import Fault, Summed, refuse_sum
from mahrem.types import Integers

__all__ = ["EncryptedClient", "EncryptedSum", "make_sum_keys"]

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


@dataclass
class EncryptedClient:
    """A client that gives counts away encrypted, and opens sums.

    Args:
        secret: The clients' key.
        numbers: Counts that a question of a kind asks for; :meth:`Silo.numbers` is one.
        otherwise: Answers other questions; None refuses them.
    """

    secret: bytes = field(repr=False)
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    _context: Any = field(default=None, repr=False)

    def answer(self, message: Message) -> Message:
        """Answer one step of a sum.

        Raises:
            InvalidInput: If the key is wrong, a count does not fit, or the question is none.
        """
        tenseal = _tenseal()
        if self._context is None:
            self._context = tenseal.context_from(self.secret)
        if message.kind == "open-sum":
            return message.reply(numbers=self._opened(message.body, tenseal))
        if message.kind == "encrypted":
            inner = {name[2:]: value for name, value in message.body.items() if name.startswith("q-")}
            found = self.numbers(message.body["kind"], inner)
            if found.size and int(found.max()) >= LARGEST // int(message.body["clients"]):
                raise InvalidInput(f"a count does not fit into sums below {LARGEST}")
            parts = [
                tenseal.bfv_vector(self._context, found[at : at + DEGREE].tolist()).serialize()
                for at in range(0, len(found), DEGREE)
            ]
            return message.reply(**_listed(parts, len(found)))
        if self.otherwise is None:
            raise InvalidInput(f"kind={message.kind!r} is refused: this client sends encrypted counts only")
        return self.otherwise(message)

    def _opened(self, body: Mapping[str, Any], tenseal: Any) -> Integers:
        found = [
            tenseal.bfv_vector_from(self._context, part).decrypt()[
                : min(DEGREE, body["length"] - place * DEGREE)
            ]
            for place, part in enumerate(_parts(body))
        ]
        return np.array([number for part in found for number in part], np.int64)


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
            Infeasible: If no client is left that could open the sum.
            InvalidInput: If the sum cannot be.
        """
        tenseal = _tenseal()
        context = tenseal.context_from(self.public)
        inner = {f"q-{name}": value for name, value in question.body.items()}
        asked = Message(
            "encrypted",
            question.run,
            question.round,
            {"kind": question.kind, "clients": len(nodes), **inner},
        )
        answers, failures = ask_all(grid, nodes, asked)
        sums: list[Any] = []
        length = -1
        kept: list[str] = []
        for node, said in answers.items():
            parts = [tenseal.bfv_vector_from(context, part) for part in _parts(said.body)]
            if length not in {-1, said.body["length"]}:
                failures[node] = "another number of counts than the others"
                continue
            length = said.body["length"]
            sums = parts if not sums else [one + other for one, other in zip(sums, parts, strict=True)]
            kept.append(node)
        closed = Message(
            "open-sum", question.run, question.round, _listed([part.serialize() for part in sums], length)
        )
        for node in kept:  # the first that answers will do
            opened, _ = ask_all(grid, [node], closed)
            if node in opened:
                total = opened[node].body["numbers"].astype(np.int64)
                refuse_sum(total, fault)
                return Summed(total, tuple(kept), failures)
        raise Infeasible(f"clients={len(kept)}: none of them opened the sum", reached=len(kept))


def _listed(parts: Sequence[bytes], length: int) -> dict[str, Any]:
    return {"sizes": [len(part) for part in parts], "parts": b"".join(parts), "length": length}


def _parts(body: Mapping[str, Any]) -> list[bytes]:
    ends = np.cumsum([0, *body["sizes"]]).tolist()
    whole: bytes = body["parts"]
    return [whole[first:last] for first, last in itertools.pairwise(ends)]
