"""Sums of encrypted numbers: the server adds ciphertexts, the clients hold the key."""

from __future__ import annotations

import hmac
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.sums._adder import Fault, SumResult, answer_openly, refuse_sum
from mahrem.federated.sums._entries import scheme_of
from mahrem.federated.sums._members import SumMembers, commonest
from mahrem.federated.sums._question import InnerQuestion
from mahrem.federated.sums._scheme import AGREEMENT, SharedDraws, SumScheme, need_tenseal, sized
from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan, SumTerms
from mahrem.federated.wire import Message, MessageGrid, ask_all, digest_message
from mahrem.types import Integers

OPENERS = 3  # clients that may open a sum: one would do if none were ever lost


@dataclass
class EncryptedClient:
    """A client that gives numbers away encrypted, and opens sums.

    It agrees to be summed with one list of clients in a run (with ``recount``: in a round), and opens what
    all of the list agreed to. So two sums of a run that are opened have the same clients or none in common,
    whomever the server asks to open them; of two runs over different clients it has the difference, as of two
    studies. Only the first three of the list open anything, once in a round, and never
    again in a run after something that was not the sum: answers tell the server about the secret checks.

    Args:
        name: Its name on the grid.
        secret: The clients' key.
        numbers: Counts that a question of a kind asks for; :meth:`RulesSilo.numbers` is one.
        otherwise: Answers other questions; None refuses them.
        plan: What was agreed: what the numbers are, and whom a sum may be over.
        keys: What else it has; see :class:`ClientKeys`.
    """

    name: str
    secret: bytes = field(repr=False)
    numbers: Callable[[str, Mapping[str, Any]], Integers]
    otherwise: Callable[[Message], Message] | None = None
    plan: SumPlan = field(default_factory=SumTerms)
    keys: ClientKeys = field(default_factory=ClientKeys)
    scheme: SumScheme = field(init=False, repr=False)
    _context: Any = field(default=None, repr=False)
    _members: SumMembers = field(init=False, repr=False)
    _given: dict[str, float] = field(default_factory=dict, repr=False)  # the last round of each run
    _tried: dict[str, float] = field(default_factory=dict, repr=False)  # likewise

    def __post_init__(self) -> None:
        self.scheme = scheme_of(self.plan.numbers)
        self._members = SumMembers.of(self.plan, self.keys)

    def answer(self, message: Message) -> Message:
        """Answer one step of a sum.

        Raises:
            InvalidInput: If the key is wrong, a count does not fit, or the question is none.
        """
        tenseal = need_tenseal()
        if self._context is None:
            self._context = _opened_key(tenseal, self.secret, self.scheme, private=True)
        if message.kind == "open-sum":
            return message.reply(numbers=self._opened(message, tenseal))
        if message.kind == "agree-sum":
            names, drawn = self._named(message)
            return message.reply(agreed=drawn.agreement(self.name, names))
        if message.kind == "encrypted":
            return message.reply(**self._closed(message, tenseal))
        if self.otherwise is None:
            raise InvalidInput(f"kind={message.kind!r} is refused: this client sends encrypted numbers only")
        return self.otherwise(message)

    def _closed(self, message: Message, tenseal: Any) -> dict[str, object]:
        if message.round <= self._given.get(message.run, -math.inf):  # the mean of answers has less noise
            raise InvalidInput(f"round={message.round} was answered already, or a later one; refused")
        asked = InnerQuestion.read(message)
        numbers = self.numbers(asked.kind, asked.body)
        self._given[message.run] = message.round
        drawn = SharedDraws(self.secret, message.run, message.round, digest_message(asked))
        parts = [
            self.scheme.vector(tenseal, self._context, plain).serialize()
            for plain in self.scheme.closed(numbers, drawn, self.name)
        ]
        return _listed(parts, len(numbers))

    def _named(self, message: Message) -> tuple[list[str], SharedDraws]:
        """Hold the server to one list of clients; gives the list and what belongs to the sum."""
        names = sorted(set(message.body["names"]))
        if self.name not in names:
            raise InvalidInput(f"clients={len(names)}: this one is not among them, so the sum is not its own")
        self._members.accept(message.run, names, message.round)
        return names, SharedDraws(self.secret, message.run, message.round, message.body["asked"])

    def _opened(self, message: Message, tenseal: Any) -> Integers:
        body, run = message.body, message.run
        names, drawn = self._named(message)
        agreed, given = b"".join(drawn.agreement(name, names) for name in names), body.get("agreed")
        if not (isinstance(given, bytes) and hmac.compare_digest(given, agreed)):
            raise InvalidInput(f"clients={len(names)}: not all of them agreed to this sum; it stays closed")
        if self.name not in names[:OPENERS]:
            raise InvalidInput(f"only the first {OPENERS} clients open a sum, and this is another")
        if message.round <= self._tried.get(run, -math.inf):
            raise InvalidInput(
                "a sum of this round was tried here already, or one of the run was none; refused"
            )
        self._tried[run] = math.inf  # unless it is the sum
        parts = [self.scheme.read(tenseal, self._context, part).decrypt() for part in _parts(body)]
        opened = self.scheme.opened(parts, drawn, names, body["length"])
        self._tried[run] = message.round
        return opened


def _opened_key(tenseal: Any, key: bytes, scheme: SumScheme, *, private: bool) -> Any:
    try:
        context = tenseal.context_from(key)
        scheme.vector(tenseal, context, [0])
    except (ValueError, RuntimeError, TypeError):
        raise InvalidInput(
            f"key of homomorphic sums={len(key)} bytes is none, or one of another kind of sums"
        ) from None
    if bool(context.is_private()) != private:
        wanted, given = ("secret", "public") if private else ("public", "secret")
        raise InvalidInput(
            f"key of homomorphic sums: the {wanted} one is needed, and this is the {given} one"
        )
    return context


def check_public_key(key: bytes, numbers: str) -> bytes:
    """Give back the server's key of sums of such numbers if it is one; the clients' secret one is refused.

    Raises:
        InvalidInput: If it is not.
    """
    _opened_key(need_tenseal(), key, scheme_of(numbers), private=False)
    return key


@dataclass(frozen=True)
class EncryptedSum:
    """Adds up ciphertexts of :class:`EncryptedClient`; one client opens the sum, the server never can.

    Clients may be lost before they sent their ciphertexts. Then all who did must agree to be summed together;
    if one of them is lost in between, the sum cannot be opened. One of the first three opens it.

    Counts are exact: whole numbers below 2^39 in all. The server learns the sum from a client, which learns
    it too.

    Args:
        public: The server's key of :func:`make_sum_keys`.
        numbers: What is added up: one of :data:`SCHEMES`.
    """

    public: bytes = field(repr=False)
    numbers: str = "counts"
    hides: ClassVar[bool] = True

    @classmethod
    def make(cls, plan: SumPlan, public: bytes | None) -> EncryptedSum:
        """Make one with the server's key."""
        if public is None:
            raise InvalidParameter("sum='homomorphic' needs the public key of the sums")
        return cls(public, plan.numbers)

    @staticmethod
    def hide(name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys) -> EncryptedClient:
        """Let a client give its numbers away encrypted only."""
        if keys.secret is None:
            raise InvalidParameter("sum='homomorphic' needs the clients' secret key of the sums")
        return EncryptedClient(name, keys.secret, client.numbers, answer_openly(client), plan, keys)

    @property
    def scheme(self) -> SumScheme:
        """How they are encrypted."""
        return scheme_of(self.numbers)

    def __call__(self, grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault) -> SumResult:
        """See :class:`Adder`.

        Raises:
            Infeasible: If clients are too many or fewer than two are left, one does not agree, or none opens
                the sum.
            InvalidInput: If the sum cannot be.
        """
        tenseal = need_tenseal()
        context = _opened_key(tenseal, self.public, self.scheme, private=False)
        if len(nodes) > self.scheme.most_clients:
            raise Infeasible(
                f"clients={len(nodes)}: an encrypted sum has room for {self.scheme.most_clients}"
            )
        asked = Message("encrypted", question.run, question.round, InnerQuestion.of(question).as_body())
        answers, failures = ask_all(grid, nodes, asked)
        vectors = self._vectors(tenseal, context, answers, failures)
        kept = sorted(vectors)
        if len(kept) < 2:
            raise Infeasible(f"clients={len(kept)}: a sum of fewer than 2 hides nothing", reached=len(kept))
        length = answers[kept[0]].body["length"]
        sums = [sum(parts[1:], start=parts[0]) for parts in zip(*vectors.values(), strict=True)]
        closed = _listed([part.serialize() for part in sums], length)
        more = {"names": kept, "asked": digest_message(question)}
        more["agreed"] = _agreements(grid, Message("agree-sum", question.run, question.round, more))
        why: dict[str, str] = {}
        for node in kept[:OPENERS]:  # the first that answers will do
            opened, refused = ask_all(
                grid, [node], Message("open-sum", question.run, question.round, {**closed, **more})
            )
            why.update(refused)
            total = opened[node].body.get("numbers") if node in opened else None
            if isinstance(total, np.ndarray) and total.shape == (length,):
                total = total.astype(np.int64)
                refuse_sum(total, fault)
                return SumResult(total, tuple(kept), failures)
        raise Infeasible(
            f"clients={len(kept)}: none of them opened the sum ({_reasons(why)})", reached=len(kept)
        )

    def _vectors(
        self, tenseal: Any, context: Any, answers: Mapping[str, Message], failures: dict[str, str]
    ) -> dict[str, list[Any]]:
        """Read the ciphertexts; an answer that holds none, or of another length than most, is a failure."""
        vectors: dict[str, list[Any]] = {}
        for node, reply in answers.items():
            try:
                parts = [self.scheme.read(tenseal, context, part) for part in _parts(reply.body)]
                held = [part.size() for part in parts]  # some nonsense can be read, as other vectors
                whole = sized(self.scheme, reply.body["length"], held)
            except (KeyError, TypeError, ValueError, RuntimeError):
                whole = False
            if whole:
                vectors[node] = parts
            else:
                failures[node] = "an answer that cannot be read"
        usual = commonest(answers[node].body["length"] for node in vectors)
        for node in [node for node in vectors if answers[node].body["length"] != usual]:
            del vectors[node]
            failures[node] = "another number of counts than the others"
        return vectors


def _agreements(grid: MessageGrid, question: Message) -> bytes:
    """Let all named clients agree to their sum."""
    names = question.body["names"]
    answers, why = ask_all(grid, names, question)
    agreed = {node: reply.body.get("agreed") for node, reply in answers.items()}
    words = {
        node: word for node, word in agreed.items() if isinstance(word, bytes) and len(word) == AGREEMENT
    }
    why |= dict.fromkeys(agreed.keys() - words.keys(), "an answer that cannot be read")
    if why:
        raise Infeasible(
            f"clients={len(words)} of {len(names)} agreed to be summed together ({_reasons(why)}); a sum is "
            f"not opened unless all do",
            reached=len(words),
        )
    return b"".join(words[name] for name in names)


def _reasons(why: Mapping[str, str]) -> str:
    return "; ".join(f"{node}: {reason}" for node, reason in sorted(why.items())[:3])


def _listed(parts: Sequence[bytes], length: int) -> dict[str, object]:
    return {"sizes": [len(part) for part in parts], "parts": b"".join(parts), "length": length}


def _parts(body: Mapping[str, Any]) -> list[bytes]:
    ends = np.cumsum([0, *body["sizes"]]).tolist()
    whole: bytes = body["parts"]
    return [whole[first:last] for first, last in itertools.pairwise(ends)]
