"""Sums under masks: the server adds up numbers that it cannot read one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.sums._adder import Fault, SumResult, answer_openly, refuse_sum
from mahrem.federated.sums._masked_client import MaskedClient, cut, sum_context
from mahrem.federated.sums._masks import SEALED, agreed, bound_to, keystream, pair_seed, public_of
from mahrem.federated.sums._members import commonest
from mahrem.federated.sums._question import InnerQuestion
from mahrem.federated.sums._shamir import SIZE, join_shares
from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan
from mahrem.federated.wire import (
    KEY,
    Message,
    MessageGrid,
    Words,
    ask_all,
    digest_message,
    need_cryptography,
    sorted_out,
)
from mahrem.types import Integers

ROUNDS = 4  # questions that one sum takes


@dataclass(frozen=True)
class MaskedSum:
    """Adds up numbers of masked clients (:class:`MaskedClient`); the server sees masked numbers and the sum.

    Pairs of clients add and subtract the same masks, so these cancel in the sum; a second mask of its own
    protects a client whose numbers arrive late. Seeds are shared among all clients, so that ``threshold`` of
    them suffice to take off the masks of those who were lost. Numbers are whole and the sum is taken modulo
    2^64, so it is exact.

    The promise holds against a server that follows the protocol and fewer than ``threshold`` clients that
    tell it all they know; give clients ``sign`` and ``verify`` if the server might hand out keys of its own.
    Masks are bound to the list of clients and to the question: those of clients that were told different
    things do not cancel. What the sum itself says is not hidden.

    Args:
        threshold: Share of the clients that must stay to the end; more than a half.

    References:
        Bonawitz et al.: Practical secure aggregation for privacy-preserving machine learning, 2017.
    """

    threshold: float = 2 / 3
    hides: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0.5, 1, threshold=self.threshold)

    @classmethod
    def make(cls, plan: SumPlan, public: bytes | None) -> MaskedSum:  # noqa: ARG003 - no key, and no more terms
        """Make one as clients expect it."""
        return cls()

    @classmethod
    def hide(cls, name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys) -> MaskedClient:
        """Let a client give its numbers away under masks only."""
        return MaskedClient(name, client.numbers, answer_openly(client), plan, keys, cls.threshold)

    def __call__(self, grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault) -> SumResult:
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
        return SumResult(total, tuple(present), work.failures)


@dataclass
class _Sum:
    grid: MessageGrid
    question: Message
    threshold: int
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, nodes: list[str]) -> tuple[Integers, list[str]]:
        keys = self._with_keys(nodes)
        names = sorted(keys)
        listed = {
            "names": names,
            "keys": b"".join(keys[name].body["keys"] for name in names),
            "signed": b"".join(keys[name].body["signed"] for name in names),
            "threshold": self.threshold,
        }
        self._enough(names)
        shares = self._kept(
            self._all("sum-shares", names, listed),
            lambda node, body: (
                list(body["names"]) == [name for name in names if name != node]
                and _is_bytes(body["sealed"], SEALED * (len(names) - 1))
            ),
        )
        self._enough(list(shares))
        masked = self._masked(shares)
        present = sorted(masked)
        self._enough(present)
        revealed = self._kept(
            self._all("sum-reveal", present, {"names": present}),
            lambda _, body: (
                sorted(body["names"]) == sorted(shares) and _is_bytes(body["shares"], SIZE * len(shares))
            ),
        )
        self._enough(list(revealed))
        total: Words = np.stack([masked[name] for name in present]).sum(axis=0, dtype=np.uint64)
        public = {name: keys[name].body["keys"] for name in names}
        total = total - self._masks(list(shares), present, revealed, public, len(total))
        return total.view(np.int64), present

    def _with_keys(self, nodes: list[str]) -> dict[str, Message]:
        """Ask for keys; one that is none, or signed in another way, would make all others refuse."""
        keys = self._kept(
            self._all("sum-keys", nodes, {}),
            lambda _, body: _are_keys(body["keys"]) and isinstance(body["signed"], bytes),
        )
        usual = commonest(len(reply.body["signed"]) for reply in keys.values())
        return self._kept(keys, lambda _, body: len(body["signed"]) == usual)

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
        for sender, reply in shares.items():
            for place, receiver in enumerate(reply.body["names"]):
                if receiver in sealed:
                    sealed[receiver][sender] = cut(reply.body["sealed"], SEALED, place)
        asked = InnerQuestion.of(self.question).as_body()
        questions = {
            name: self._message(
                "sum-masked",
                {"names": list(mine), "sealed": b"".join(mine.values()), **asked},
            )
            for name, mine in sealed.items()
        }
        answers, failures = sorted_out(self.grid.send(questions), questions)
        self.failures.update(failures)
        answers = self._kept(answers, lambda _, body: _are_words(body["masked"]))
        usual = commonest(len(reply.body["masked"]) for reply in answers.values())
        answers = self._kept(answers, lambda _, body: len(body["masked"]) == usual)
        return {name: reply.body["masked"] for name, reply in answers.items()}

    def _masks(
        self,
        sharers: list[str],
        present: list[str],
        revealed: Mapping[str, Message],
        public: Mapping[str, bytes],
        length: int,
    ) -> Words:
        """Add up all masks that do not cancel: the own ones, and those shared with clients that were lost."""
        place = {name: number for number, name in enumerate(sorted(public), 1)}
        held: dict[str, dict[int, bytes]] = {name: {} for name in sharers}
        for sender, reply in revealed.items():
            for number, name in enumerate(reply.body["names"]):
                if name in held and len(held[name]) < self.threshold:
                    held[name][place[sender]] = cut(reply.body["shares"], SIZE, number)
        masks = np.zeros(length, np.uint64)
        context = sum_context(self._message("sum-keys", {}))
        bound = bound_to(context, public, self.threshold, digest_message(self.question))
        mask_key = {name: keys[KEY:] for name, keys in public.items()}
        for name in sharers:
            seed = join_shares(held[name], KEY)
            if name in present:
                masks += keystream(seed, length)
                continue
            if public_of(seed) != mask_key[name]:
                raise InvalidInput("shares of a lost client's key do not fit its public key")
            for other in present:
                stream = keystream(pair_seed(seed, mask_key[name], mask_key[other], bound), length)
                masks = masks + stream if other < name else masks - stream
        return masks


def _is_bytes(value: object, size: int) -> bool:
    return isinstance(value, bytes) and len(value) == size


def _are_keys(value: object) -> bool:
    """Say whether these are two public keys that secrets can be agreed on with."""
    if not isinstance(value, bytes) or len(value) != 2 * KEY:
        return False
    trial = bytes(range(KEY))
    return all(len(agreed(trial, cut(value, KEY, place))) == KEY for place in (0, 1))


def _are_words(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.uint64
