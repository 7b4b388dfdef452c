"""Sums under masks: the server adds up numbers that it cannot read one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated._grid import Grid, ask_all, sorted_out
from mahrem.federated._masks import (
    KEY,
    Masker,
    Words,
    keystream,
    need_cryptography,
    pair_seed,
    public_of,
)
from mahrem.federated._message import Message
from mahrem.federated._shamir import SIZE, join_shares
from mahrem.federated._silo import Silo
from mahrem.federated._sums import Fault, Summed, refuse_sum
from mahrem.types import Integers

__all__ = ["MaskedClient", "MaskedSum"]

ROUNDS = 4  # questions that one sum takes


def _context(message: Message) -> bytes:
    return f"{message.run}/{message.body['sum']}".encode()


@dataclass
class MaskedClient:
    """A client that gives counts away under masks only.

    Args:
        name: Its name on the grid.
        numbers: Counts that a question of a kind asks for; :meth:`Silo.numbers` is one.
        otherwise: Answers other questions (frequent items); None refuses them.
        sign: Signs its keys, so that the server cannot put its own in their place; with ``verify``.
        verify: Says whether a signature of a named client is right.
        least_clients: A sum of fewer is refused, whatever the server says.
        least_share: A threshold of not more than this share of the clients is refused; with 2/3 a server
            that tells clients different things needs the help of more than a third of them.
    """

    name: str
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    sign: Callable[[bytes], bytes] | None = None
    verify: Callable[[str, bytes, bytes], bool] | None = None
    least_clients: int = 2
    least_share: float = 0.5
    _open: dict[bytes, Masker] = field(default_factory=dict, repr=False)
    _seen: set[bytes] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, name: str, silo: Silo) -> MaskedClient:
        """Make one of a :class:`Silo`; rules of one-shot du-CBA and counts in the clear are refused."""

        def frequent(message: Message) -> Message:
            if message.kind != "frequent":
                raise InvalidInput(
                    f"kind={message.kind!r} is refused: this client sends counts under masks only"
                )
            return silo.answer(message)

        return cls(name, silo.numbers, frequent)

    def answer(self, message: Message) -> Message:
        """Answer one step of a sum.

        Raises:
            InvalidInput: If the step is replayed, out of order, or not one.
        """
        step = {
            "sum-keys": self._keys,
            "sum-shares": self._shares,
            "sum-masked": self._masked,
            "sum-reveal": self._reveal,
        }.get(message.kind)
        if step is None:
            if self.otherwise is None:
                raise InvalidInput(
                    f"kind={message.kind!r} is refused: this client sends sums under masks only"
                )
            return self.otherwise(message)
        need_cryptography()
        return message.reply(**step(message))

    def _keys(self, message: Message) -> dict[str, Any]:
        context = _context(message)
        if context in self._seen:
            raise InvalidInput("this sum was begun already; a replayed question is refused")
        self._seen.add(context)
        masker = self._open[context] = Masker(self.name, context)
        keys = masker.public_keys()
        signed = b"" if self.sign is None else self.sign(self._statement(self.name, context, keys))
        return {"keys": keys, "signed": signed}

    def _shares(self, message: Message) -> dict[str, Any]:
        body, masker = message.body, self._masker(message)
        names = list(body["names"])
        if len(set(names)) < self.least_clients:
            raise InvalidInput(
                f"clients={len(set(names))}: a sum of fewer than {self.least_clients} is refused"
            )
        threshold = int(body["threshold"])
        if threshold <= self.least_share * len(names):
            raise InvalidInput(f"threshold={threshold} is too low for clients={len(names)}")
        keys = {name: _cut(body["keys"], 2 * KEY, place) for place, name in enumerate(names)}
        if self.verify is not None:
            for place, name in enumerate(names):
                signed = _cut(body["signed"], len(body["signed"]) // len(names), place)
                if not self.verify(name, self._statement(name, masker.context, keys[name]), signed):
                    raise InvalidInput("keys of a client are not signed by it; somebody stands in between")
        sealed = masker.share(keys, threshold)
        return {"names": list(sealed), "sealed": b"".join(sealed.values())}

    def _masked(self, message: Message) -> dict[str, Any]:
        body, masker = message.body, self._masker(message)
        size = len(body["sealed"]) // max(1, len(body["names"]))
        sealed = {name: _cut(body["sealed"], size, place) for place, name in enumerate(body["names"])}
        inner = {name.removeprefix("q-"): value for name, value in body.items() if name.startswith("q-")}
        return {"masked": masker.masked(self.numbers(body["kind"], inner), sealed)}

    def _reveal(self, message: Message) -> dict[str, Any]:
        masker = self._masker(message)
        shares = masker.reveal(list(message.body["names"]))
        del self._open[masker.context]
        return {"names": list(shares), "shares": b"".join(shares.values())}

    def _masker(self, message: Message) -> Masker:
        found = self._open.get(_context(message))
        if found is None:
            raise InvalidInput("a step of a sum that was not begun here, or is over; it is refused")
        return found

    @staticmethod
    def _statement(name: str, context: bytes, keys: bytes) -> bytes:
        return b"mahrem-keys-1" + len(name.encode()).to_bytes(4, "big") + name.encode() + context + keys


def _cut(whole: bytes, size: int, place: int) -> bytes:
    return whole[size * place : size * (place + 1)]


@dataclass(frozen=True)
class MaskedSum:
    """Adds up numbers of masked clients (:class:`MaskedClient`); the server sees masked numbers and the sum.

    Pairs of clients add and subtract the same masks, so these cancel in the sum; a second mask of its own
    protects a client whose numbers arrive late. Seeds are shared among all clients, so that ``threshold`` of
    them suffice to take off the masks of those who were lost. Numbers are whole and the sum is taken modulo
    2^64, so it is exact.

    The promise holds against a server that follows the protocol and fewer than ``threshold`` clients that
    tell it all they know; give clients ``sign`` and ``verify`` if the server might hand out keys of its own.
    What the sum itself says is not hidden.

    Args:
        threshold: Share of the clients that must stay to the end; more than a half.

    References:
        Bonawitz et al.: Practical secure aggregation for privacy-preserving machine learning, 2017.
    """

    threshold: float = 2 / 3
    hides: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0.5, 1, threshold=self.threshold)

    def __call__(self, grid: Grid, nodes: Sequence[str], question: Message, fault: Fault) -> Summed:
        """See :class:`Adder`.

        Raises:
            Infeasible: If too few clients are left to take the masks off.
            InvalidInput: If the sum cannot be.
        """
        need_cryptography()
        work = _Sum(grid, question, max(int(len(nodes) * self.threshold) + 1, len(nodes) // 2 + 1))
        work.threshold = min(work.threshold, len(nodes))
        total, present = work.run(list(nodes))
        refuse_sum(total, fault)
        return Summed(total, tuple(present), work.failures)


@dataclass
class _Sum:
    grid: Grid
    question: Message
    threshold: int
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, nodes: list[str]) -> tuple[Integers, list[str]]:
        keys = self._all("sum-keys", nodes, {})
        names = sorted(name for name, said in keys.items() if _sized(said.body, "keys", 2 * KEY))
        listed = {
            "names": names,
            "keys": b"".join(keys[name].body["keys"] for name in names),
            "signed": b"".join(keys[name].body.get("signed", b"") for name in names),
            "threshold": self.threshold,
        }
        self._enough(names)
        shares = self._all("sum-shares", names, listed)
        self._enough(list(shares))
        masked = self._masked(shares)
        present = sorted(masked)
        self._enough(present)
        revealed = self._all("sum-reveal", present, {"names": present})
        self._enough(list(revealed))
        total: Words = np.stack([masked[name] for name in present]).sum(axis=0, dtype=np.uint64)
        public = {name: keys[name].body["keys"][KEY:] for name in names}
        total = total - self._masks(list(shares), present, revealed, names, public, len(total))
        return total.view(np.int64), present

    def _message(self, kind: str, body: Mapping[str, Any]) -> Message:
        return Message(kind, self.question.run, self.question.round, {"sum": self.question.round, **body})

    def _all(self, kind: str, nodes: list[str], body: Mapping[str, Any]) -> dict[str, Message]:
        answers, failures = ask_all(self.grid, nodes, self._message(kind, body))
        self.failures.update(failures)
        return answers

    def _enough(self, names: list[str]) -> None:
        if len(names) < max(2, self.threshold):
            reasons = "; ".join(f"{node}: {why}" for node, why in sorted(self.failures.items())[:3])
            raise Infeasible(
                f"clients={len(names)}: a masked sum needs at least {max(2, self.threshold)} ({reasons})",
                reached=len(names),
            )

    def _masked(self, shares: Mapping[str, Message]) -> dict[str, Words]:
        """Hand each client the shares meant for it, with the question; gives the masked numbers."""
        sealed: dict[str, dict[str, bytes]] = {name: {} for name in shares}
        for sender, said in shares.items():
            size = len(said.body["sealed"]) // max(1, len(said.body["names"]))
            for place, receiver in enumerate(said.body["names"]):
                if receiver in sealed:
                    sealed[receiver][sender] = _cut(said.body["sealed"], size, place)
        inner = {f"q-{name}": value for name, value in self.question.body.items()}
        questions = {
            name: self._message(
                "sum-masked",
                {"names": list(mine), "sealed": b"".join(mine.values()), "kind": self.question.kind, **inner},
            )
            for name, mine in sealed.items()
        }
        answers, failures = sorted_out(self.grid.send(questions), questions)
        self.failures.update(failures)
        lengths = {len(said.body["masked"]) for said in answers.values()}
        if len(lengths) > 1:
            raise InvalidInput("masked numbers differ in length: a client answered another question")
        return {name: said.body["masked"].astype(np.uint64) for name, said in answers.items()}

    def _masks(
        self,
        sharers: list[str],
        present: list[str],
        revealed: Mapping[str, Message],
        names: list[str],
        public: Mapping[str, bytes],
        length: int,
    ) -> Words:
        """Add up all masks that do not cancel: the own ones, and those shared with clients that were lost."""
        place = {name: number for number, name in enumerate(names, 1)}
        held: dict[str, dict[int, bytes]] = {name: {} for name in sharers}
        for sender, said in revealed.items():
            for number, name in enumerate(said.body["names"]):
                if name in held and len(held[name]) < self.threshold:
                    held[name][place[sender]] = _cut(said.body["shares"], SIZE, number)
        masks = np.zeros(length, np.uint64)
        context = f"{self.question.run}/{self.question.round}".encode()
        for name in sharers:
            seed = join_shares(held[name], KEY)
            if name in present:
                masks += keystream(seed, length)
                continue
            if public_of(seed) != public[name]:
                raise InvalidInput("shares of a lost client's key do not fit its public key")
            for other in present:
                stream = keystream(pair_seed(seed, public[name], public[other], context), length)
                masks = masks + stream if other < name else masks - stream
        return masks


def _sized(body: Mapping[str, Any], name: str, size: int) -> bool:
    return isinstance(body.get(name), bytes) and len(body[name]) == size
