"""Sums under masks: the server adds up numbers that it cannot read one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.sums._adder import Fault, SumResult, answer_openly, refuse_sum
from mahrem.federated.sums._masked_client import MaskedClient, cut, sum_context
from mahrem.federated.sums._masks import (
    WORD,
    agreed,
    commitment,
    keystream,
    list_digest,
    new_key,
    partners_of,
)
from mahrem.federated.sums._members import commonest
from mahrem.federated.sums._question import InnerQuestion
from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan, least_of
from mahrem.federated.wire import KEY, Message, MessageGrid, Words, ask_all, need_cryptography, sorted_out
from mahrem.types import Integers

ROUNDS = 4  # questions that one sum takes
ASKED = 2  # times that a client is asked for its word and its seed: a lost answer would cost the whole sum


@dataclass(frozen=True)
class MaskedSum:
    """Adds up numbers of masked clients (:class:`MaskedClient`); the server sees masked numbers and the sum.

    Pairs of clients add and subtract the same masks, so these cancel in the sum; a second mask of its own
    protects a client whose numbers arrive late. Numbers are whole and the sum is taken modulo 2^64, so it is
    exact. Many clients share masks with some others only, so that costs grow as n log n.

    Clients may be lost before their numbers arrived. Those whose numbers did are named to all of them, and
    each gives its word for this list; only then they show what takes the masks off. So one that is lost in
    between closes the sum, and a server that tells clients different lists opens nothing at all.

    The promise is the clients' own, see :class:`Masker`. It holds against a server that lies and whoever
    helps it; give clients ``sign`` and ``verify``, or it could hand out keys of its own. What the sum itself
    says is not hidden.

    Args:
        least: Fewer clients and there is no sum; clients refuse by what they know themselves.

    References:
        Bonawitz et al.: Practical secure aggregation for privacy-preserving machine learning, 2017.
    """

    least: int = 2
    hides: ClassVar[bool] = True

    @classmethod
    def make(cls, plan: SumPlan, public: bytes | None) -> MaskedSum:  # noqa: ARG003 - there is no key
        """Make one as clients expect it."""
        return cls(least_of(plan, None))

    @staticmethod
    def hide(name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys) -> MaskedClient:
        """Let a client give its numbers away under masks only."""
        return MaskedClient(name, client.numbers, answer_openly(client), plan, keys)

    def __call__(self, grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault) -> SumResult:
        """See :class:`Adder`.

        Raises:
            Infeasible: If too few clients are left, or one that was named is lost before the sum is open.
            InvalidInput: If the sum cannot be.
        """
        need_cryptography()
        work = _Sum(grid, question, self.least)
        total, present = work.run(list(nodes))
        refuse_sum(total, fault)
        return SumResult(total, tuple(present), work.failures)


@dataclass
class _Sum:
    grid: MessageGrid
    question: Message
    least: int
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, nodes: list[str]) -> tuple[Integers, list[str]]:
        keys = self._with_keys(nodes)
        names = sorted(keys)
        self._enough(names)
        public = {name: keys[name].body["key"] for name in names}
        listed = {
            "names": names,
            "keys": b"".join(public.values()),
            "signed": b"".join(keys[name].body["signed"] for name in names),
            **InnerQuestion.of(self.question).as_body(),
        }
        masked = self._masked(names, listed)
        present = sorted(masked)
        self._enough(present)
        seed = list_digest(sum_context(self._message("sum-keys", {})), public)
        partners = {name: partners_of(name, names, seed) for name in present}
        revealed = self._revealed(present, partners)
        total: Words = np.zeros(len(masked[present[0]].body["masked"]), np.uint64)
        for name in present:
            own, shared = revealed[name].body["own"], revealed[name].body["shared"]
            if commitment(own) != masked[name].body["own"]:
                raise InvalidInput(f"client={name!r} showed another mask than it used; leave it out")
            total += masked[name].body["masked"]
            total -= keystream(own, len(total))
            for place, other in enumerate(_outside(partners[name], masked)):
                stream = keystream(cut(shared, KEY, place), len(total))
                (np.subtract if name < other else np.add)(total, stream, out=total)
        return total.view(np.int64), present

    def _with_keys(self, nodes: list[str]) -> dict[str, Message]:
        """Ask for keys; one that is none, or signed in another way, would make all others refuse."""
        keys = self._kept(
            self._all("sum-keys", nodes, {}),
            lambda _, body: _is_key(body["key"]) and isinstance(body["signed"], bytes),
        )
        usual = commonest(len(reply.body["signed"]) for reply in keys.values())
        return self._kept(keys, lambda _, body: len(body["signed"]) == usual)

    def _masked(self, names: list[str], listed: Mapping[str, Any]) -> dict[str, Message]:
        """Hand out the list of clients with the question; gives the answers with masked numbers."""
        answers = self._kept(
            self._all("sum-masked", names, listed),
            lambda _, body: _are_words(body["masked"]) and _is_bytes(body["own"], KEY),
        )
        usual = commonest(len(reply.body["masked"]) for reply in answers.values())
        return self._kept(answers, lambda _, body: len(body["masked"]) == usual)

    def _revealed(self, present: list[str], partners: Mapping[str, list[str]]) -> dict[str, Message]:
        """Let all named clients give their word for the list, pass the words on, and get the seeds."""
        within = {name: [other for other in partners[name] if other in partners] for name in present}
        agree = self._message("sum-agree", {"names": present})
        agreed = self._everybody(
            dict.fromkeys(present, agree),
            lambda name, body: _is_bytes(body["words"], WORD * len(within[name])),
        )
        words: dict[str, dict[str, bytes]] = {name: {} for name in present}
        for giver in present:
            for place, taker in enumerate(within[giver]):
                words[taker][giver] = cut(agreed[giver].body["words"], WORD, place)
        reveal = {
            name: self._message("sum-reveal", {"words": b"".join(words[name][by] for by in within[name])})
            for name in present
        }
        return self._everybody(
            reveal,
            lambda name, body: (
                _is_bytes(body["own"], KEY)
                and _is_bytes(body["shared"], KEY * (len(partners[name]) - len(within[name])))
            ),
        )

    def _everybody(
        self, questions: Mapping[str, Message], fits: Callable[[str, Mapping[str, object]], bool]
    ) -> dict[str, Message]:
        """Ask until all have answered; a client that does not closes the sum."""
        answers: dict[str, Message] = {}
        why: dict[str, str] = {}
        for _ in range(ASKED):
            left = {name: question for name, question in questions.items() if name not in answers}
            replies, why = sorted_out(self.grid.send(left), left) if left else ({}, {})
            self.failures.update(why)
            answers |= self._kept(replies, fits)
        if len(answers) < len(questions):
            missing = {name: self.failures.get(name, "") for name in questions if name not in answers}
            raise Infeasible(
                f"clients={len(answers)} of {len(questions)} agreed to be summed together "
                f"({_reasons(missing)}); a sum is not opened unless all do",
                reached=len(answers),
            )
        for name in questions:
            self.failures.pop(name, None)
        return answers

    def _kept(
        self, answers: Mapping[str, Message], fits: Callable[[str, Mapping[str, Any]], bool]
    ) -> dict[str, Message]:
        """Give the answers that can be read; the others are failures of their clients."""
        kept: dict[str, Message] = {}
        for node, reply in answers.items():
            try:
                good = fits(node, reply.body)
            except (KeyError, TypeError, InvalidInput):
                good = False
            if good:
                kept[node] = reply
            else:
                self.failures[node] = "an answer that cannot be read"
        return kept

    def _message(self, kind: str, body: Mapping[str, object]) -> Message:
        return Message(kind, self.question.run, self.question.round, {"sum": self.question.round, **body})

    def _all(self, kind: str, nodes: list[str], body: Mapping[str, object]) -> dict[str, Message]:
        answers, failures = ask_all(self.grid, nodes, self._message(kind, body))
        self.failures.update(failures)
        return answers

    def _enough(self, names: list[str]) -> None:
        if len(names) < self.least:
            raise Infeasible(
                f"clients={len(names)}: a masked sum needs at least {self.least} ({_reasons(self.failures)})",
                reached=len(names),
            )


def _reasons(why: Mapping[str, str]) -> str:
    return "; ".join(f"{node}: {reason}" for node, reason in sorted(why.items())[:3])


def _outside(partners: Sequence[str], present: Mapping[str, object]) -> list[str]:
    return [name for name in partners if name not in present]


def _is_bytes(value: object, size: int) -> bool:
    return isinstance(value, bytes) and len(value) == size


def _is_key(value: object) -> bool:
    """Say whether this is a public key that secrets can be agreed on with."""
    return isinstance(value, bytes) and len(value) == KEY and len(agreed(new_key(), value)) == KEY


def _are_words(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.uint64
