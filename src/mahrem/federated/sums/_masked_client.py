"""A client of sums under masks: gives its counts away hidden, one step of the protocol at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mahrem.errors import InvalidInput
from mahrem.federated.sums._masks import Masker
from mahrem.federated.sums._members import SumMembers
from mahrem.federated.sums._question import InnerQuestion
from mahrem.federated.sums._terms import ClientKeys, SumPlan, SumTerms
from mahrem.federated.wire import KEY, Message, digest_message, framed, need_cryptography
from mahrem.types import Integers

MOST = 16  # sums that may be open at once; an older one is given up


def sum_context(message: Message) -> bytes:
    """Give the run and the number of the sum that a step belongs to."""
    return framed(message.run.encode(), str(message.body["sum"]).encode())


def cut(whole: bytes, size: int, place: int) -> bytes:
    """Give one of many parts of equal size."""
    return whole[size * place : size * (place + 1)]


@dataclass
class MaskedClient:
    """A client that gives counts away under masks only.

    Args:
        name: Its name on the grid.
        numbers: Counts that a question of a kind asks for; :meth:`RulesSilo.numbers` is one.
        otherwise: Answers other questions (frequent items); None refuses them.
        plan: What was agreed: least clients of a sum, and whether those of a run may differ.
        keys: What signs its keys and says whether others signed theirs.
        least_share: A threshold of not more than this share of the clients is refused; with 2/3 a server
            that tells clients different things needs the help of more than a third of them.
    """

    name: str
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    plan: SumPlan = field(default_factory=SumTerms)
    keys: ClientKeys = field(default_factory=ClientKeys)
    least_share: float = 0.5
    _open: dict[bytes, Masker] = field(default_factory=dict, repr=False)
    _seen: set[bytes] = field(default_factory=set, repr=False)
    _members: SumMembers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._members = SumMembers.of(self.plan)

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
        context = sum_context(message)
        if context in self._seen:
            raise InvalidInput("this sum was begun already; a replayed question is refused")
        self._seen.add(context)
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        masker = self._open[context] = Masker(self.name, context)
        keys = masker.public_keys()
        signed = b"" if self.keys.sign is None else self.keys.sign(self._statement(self.name, context, keys))
        return {"keys": keys, "signed": signed}

    def _shares(self, message: Message) -> dict[str, Any]:
        body, masker = message.body, self._masker(message)
        names = list(body["names"])
        self._members.refuse_few(names)
        threshold = int(body["threshold"])
        if threshold <= self.least_share * len(names):
            raise InvalidInput(f"threshold={threshold} is too low for clients={len(names)}")
        keys = {name: cut(body["keys"], 2 * KEY, place) for place, name in enumerate(names)}
        verify = self.keys.verify
        if verify is not None:
            for place, name in enumerate(names):
                signed = cut(body["signed"], len(body["signed"]) // len(names), place)
                if not verify(name, self._statement(name, masker.context, keys[name]), signed):
                    raise InvalidInput("keys of a client are not signed by it; somebody stands in between")
        sealed = masker.share(keys, threshold)
        return {"names": list(sealed), "sealed": b"".join(sealed.values())}

    def _masked(self, message: Message) -> dict[str, Any]:
        body, masker = message.body, self._masker(message)
        size = len(body["sealed"]) // max(1, len(body["names"]))
        sealed = {name: cut(body["sealed"], size, place) for place, name in enumerate(body["names"])}
        self._members.refuse_few({self.name, *sealed})
        asked = InnerQuestion.read(message)
        numbers = self.numbers(asked.kind, asked.body)
        return {"masked": masker.masked(numbers, sealed, digest_message(asked))}

    def _reveal(self, message: Message) -> dict[str, Any]:
        masker = self._masker(message)
        names = list(message.body["names"])
        self._members.accept(message.run, names)
        shares = masker.reveal(names)
        del self._open[masker.context]
        return {"names": list(shares), "shares": b"".join(shares.values())}

    def _masker(self, message: Message) -> Masker:
        masker = self._open.get(sum_context(message))
        if masker is None:
            raise InvalidInput("a step of a sum that was not begun here, or is over; it is refused")
        return masker

    @staticmethod
    def _statement(name: str, context: bytes, keys: bytes) -> bytes:
        return b"mahrem-keys-2" + framed(name.encode(), context, keys)
