"""A client of sums under masks: gives its counts away hidden, one step of the protocol at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mahrem.errors import InvalidInput, MahremError
from mahrem.federated.sums._masks import Masker, commitment, list_digest, partners_of, public_of
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
        keys: What signs its keys and says whether others signed theirs, and what it knows of earlier runs.
    """

    name: str
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    plan: SumPlan = field(default_factory=SumTerms)
    keys: ClientKeys = field(default_factory=ClientKeys)
    _open: dict[bytes, Masker] = field(default_factory=dict, repr=False)
    _seen: set[bytes] = field(default_factory=set, repr=False)
    _members: SumMembers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._members = SumMembers.of(self.plan, self.keys)

    def answer(self, message: Message) -> Message:
        """Answer one step of a sum.

        Raises:
            InvalidInput: If the step is replayed, out of order, or not one.
        """
        step = {
            "sum-keys": self._keys,
            "sum-masked": self._masked,
            "sum-agree": self._agree,
            "sum-reveal": self._reveal,
        }.get(message.kind)
        if step is None:
            if self.otherwise is None:
                raise InvalidInput(
                    f"kind={message.kind!r} is refused: this client sends sums under masks only"
                )
            return self.otherwise(message)
        need_cryptography()
        try:
            return message.reply(**step(message))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, MahremError):
                raise
            raise InvalidInput(f"a step that cannot be read ({type(error).__name__})") from None

    def _keys(self, message: Message) -> dict[str, object]:
        context = sum_context(message)
        seen = hashlib.sha256(context).digest()  # a server may call a sum what it likes
        if seen in self._seen:
            raise InvalidInput("this sum was begun already; a replayed question is refused")
        self._seen.add(seen)
        self._open = {
            other: masker for other, masker in self._open.items() if not masker.done
        }  # lists are long
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        masker = self._open[context] = Masker(self.name, context)
        key = public_of(masker.key)
        signed = b"" if self.keys.sign is None else self.keys.sign(self._statement(self.name, context, key))
        return {"key": key, "signed": signed}

    def _masked(self, message: Message) -> dict[str, object]:
        body, masker = message.body, self._masker(message)
        names = list(body["names"])
        self._members.refuse_few(names)
        whole: bytes = body["keys"]
        keys = {name: whole[at : at + KEY] for name, at in zip(names, range(0, len(whole), KEY), strict=True)}
        if len(keys) < len(names) or self.name not in keys:
            raise InvalidInput("the list of clients names one twice, or not this client")
        self._refuse_unsigned(masker, keys, body["signed"])
        asked = InnerQuestion.read(message)
        if masker.names:
            raise InvalidInput("numbers of this sum were sent already; a replayed question is refused")
        numbers = self.numbers(asked.kind, asked.body)
        hidden = masker.masked(keys, numbers, digest_message(asked))
        return {"masked": hidden, "own": commitment(masker.own)}

    def _refuse_unsigned(self, masker: Masker, keys: Mapping[str, bytes], signed: bytes) -> None:
        """Refuse keys that partners did not sign; each client is a partner of some, who look at its key."""
        verify = self.keys.verify
        if verify is None:
            return
        names, size = list(keys), len(signed) // len(keys)
        seed = list_digest(masker.context, keys)
        for name in {self.name, *partners_of(self.name, sorted(names), seed)}:
            statement = self._statement(name, masker.context, keys[name])
            if not verify(name, statement, cut(signed, size, names.index(name))):
                raise InvalidInput("keys of a client are not signed by it; somebody stands in between")

    def _agree(self, message: Message) -> dict[str, object]:
        listed = frozenset(message.body["names"])
        words = self._masker(message).agree(listed, lambda: self._members.accept(message.run, listed))
        return {"words": words}

    def _reveal(self, message: Message) -> dict[str, object]:
        own, shared = self._masker(message).reveal(message.body["words"])
        return {"own": own, "shared": shared}

    def _masker(self, message: Message) -> Masker:
        masker = self._open.get(sum_context(message))
        if masker is None:
            raise InvalidInput("a step of a sum that was not begun here, or is over; it is refused")
        return masker

    @staticmethod
    def _statement(name: str, context: bytes, key: bytes) -> bytes:
        return b"mahrem-keys-3" + framed(name.encode(), context, key)
