"""The questions of exact du-CBA in their order: what a client answers next, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from mahrem.errors import InvalidInput, spelled
from mahrem.federated.rules._answered import AnsweredQuestions, AnsweredStep, RuleRound
from mahrem.federated.wire import Message, digest_message
from mahrem.types import Integers

Count: TypeAlias = Callable[[str, Mapping[str, Any]], Integers]


@dataclass
class ExactProtocol:
    """Holds a server to the questions that :func:`learn_exact` asks.

    Rounded counts hide people only while few sums of them are known: who may ask for any union of cells
    finds by the rounding of each what was rounded away. So a client answers **one path** of questions: each
    item, longer sets, one ranked list of rules, and what is left of it.

    Args:
        longest: The most items of a set.
        paths: How many paths are answered. A run that lost clients goes another way with those that are
            left, so it is one more than clients may be lost.
        kept: Where it is written down what was answered; else it is known for as long as this one lives.

    Guarantees:
        - The first question counts each item once; each further one counts larger sets than all before, of
          the same items and by the same classes. So there are at most ``longest`` of them.
        - A first list of rules names sets, no more than were counted and none twice; nothing is sure then.
        - A later list is what is left of the one before. Rules that are gone had counts of 0 here. Rules that
          had a row of their class are sure, and what was sure stays so. Each list decides a rule or more, so
          there is at most one more than the first has rules.
        - A question that was answered before is answered again, as it was; others than these are refused.
        - With ``kept`` that holds for the same rows over starts, federations and processes of one user, until
          the owner agrees to other questions: then a start answers as many paths more.
    """

    longest: int
    paths: int = 1
    kept: AnsweredQuestions | None = field(default=None, repr=False)
    _steps: dict[bytes, AnsweredStep] = field(default_factory=dict, repr=False)
    _here: AnsweredStep = field(default_factory=AnsweredStep, repr=False)
    _followed: set[bytes] = field(default_factory=set, repr=False)  # names of those that another came after
    _begun: int = 1

    def __post_init__(self) -> None:
        self._learn_answered()
        self._here = next(reversed(self._steps.values()), AnsweredStep())
        if self.kept is not None and self.kept.agreed and self._steps:
            self.paths += self._begun

    def begin(self, kind: str, body: Mapping[str, Any]) -> None:
        """Remember an opening question, which cells are frequent: each support is a bound of every count.

        Raises:
            InvalidInput: If what was answered before cannot be read.
            OutputFailed: If it cannot be written down.
        """
        if self.kept is None:
            return
        asked = self._name(digest_message(Message(kind, "", 0, body)))
        with self.kept.alone():
            self._learn_answered()
            if asked not in self._steps:
                step = AnsweredStep(asked=asked, after=asked)  # none goes on from it
                self.kept.keep(len(self._steps), step)
                self._add(step)

    def answer(self, kind: str, body: Mapping[str, Any], count: Count) -> Integers:
        """Count what a question asks for, if it is the next one or was asked before.

        Raises:
            InvalidInput: If it is neither, or what was answered before cannot be read.
            OutputFailed: If it cannot be written down.
        """
        asked = self._name(digest_message(Message(kind, "", 0, body)))
        with nullcontext() if self.kept is None else self.kept.alone():
            self._learn_answered()
            step = self._steps.get(asked)
            if step is not None:
                self._here = step
                return count(kind, body)
            step = replace(self._next(kind, body), asked=asked)
            if step.after in self._followed and self._begun >= self.paths:
                raise InvalidInput(
                    f"kind={kind!r}: another question came next before; a client answers one run's "
                    "questions, as often as they are asked, until its owner agrees to others"
                ) from self._explained()
            numbers = count(kind, body)
            if step.last is not None:
                step = replace(step, last=_decided(step.last, numbers, step.classes))
            if self.kept is not None:
                self.kept.keep(len(self._steps), step)
            self._add(step)
            self._here = step
        return numbers

    def _learn_answered(self) -> None:
        """Learn what was answered before this start, and by other processes since."""
        for _, step in () if self.kept is None else self.kept.read(len(self._steps)):
            self._add(step)

    def _add(self, step: AnsweredStep) -> None:
        self._begun += step.after in self._followed
        self._followed.add(step.after)
        self._steps[step.asked] = step

    def _name(self, digest: bytes) -> bytes:
        return digest if self.kept is None else self.kept.name(digest)

    def _explained(self) -> InvalidInput | None:
        """Say what the owner can do, to him alone."""
        if self.kept is None:
            return None
        return InvalidInput(
            "what these rows answered is remembered; whoever has answers to other questions as well knows "
            "more than their rounding lets out; if you agree to that, start the client with "
            f"{spelled('despite', 'asked')}"
        )

    def _next(self, kind: str, body: Mapping[str, Any]) -> AnsweredStep:
        """Give the step that a question is, from the one that it goes on from."""
        named = self._name(_named(body))
        items, classes = len(body["cells"]), len(body["classes"])
        sets = body["sets" if kind == "counts" else "left"]
        sizes = (sets >= 0).sum(axis=1) if sets.size else np.zeros(len(sets), np.int64)
        if len(sets) and not 0 < int(sizes.min()) <= int(sizes.max()) <= self.longest:
            raise InvalidInput(f"sets of none or more than the agreed longest={self.longest} cells")
        first = kind == "counts" and _is_each_item(sets, items)
        before = AnsweredStep() if first else self._here
        if not first and named != before.named:
            raise InvalidInput(f"kind={kind!r}: items or classes are others than those counted first")
        step = replace(before, after=before.asked, named=named, classes=classes)
        if kind == "cover":
            return replace(step, last=_listed(before, sets, body))
        if not first and (before.last is not None or not len(sets) or int(sizes.min()) <= before.longest):
            raise InvalidInput("sets: each question must count larger ones than all before")
        return replace(step, counted=before.counted + len(sets), longest=int(sizes.max(initial=0)))


def _named(body: Mapping[str, Any]) -> bytes:
    """Give what tells the items and classes of a question from others.

    Raises:
        InvalidInput: If one is there twice, or they are not in their order.
    """
    places, cells, classes = (list(body[name]) for name in ("places", "cells", "classes"))
    pairs = list(zip(places, cells, strict=True))
    if pairs != sorted(set(pairs)) or classes != sorted(set(classes)):
        raise InvalidInput("items and classes must be named once each, in their order")
    return digest_message(Message("", "", 0, {"places": places, "cells": cells, "classes": classes}))


def _is_each_item(sets: Integers, items: int) -> bool:
    """Say whether each item is a set of its own."""
    return sets.shape == (items, min(items, 1)) and np.array_equal(
        np.sort(sets, axis=0).ravel(), range(items)
    )


def _listed(before: AnsweredStep, left: Integers, body: Mapping[str, Any]) -> RuleRound:
    """Read a list of rules that comes after a step.

    Raises:
        InvalidInput: If no honest server asks for it then.
    """
    right, sure = np.asarray(body["right"]), np.asarray(body["sure"]) > 0
    if not right.shape == sure.shape == (len(left),) or not len(left):
        raise InvalidInput("rules: each must have a left side, a class, and be sure or not")
    if not 0 <= int(right.min()) <= int(right.max()) < before.classes:
        raise InvalidInput("rules: one has a class that is not listed")
    rules = np.column_stack([left, right]).astype(np.int64)
    now = RuleRound(rules, sure, sure, sure)
    if before.last is None:
        if sure.any() or not before.counted >= len(rules) == len(np.unique(left, axis=0)):
            raise InvalidInput("rules: the first list names counted sets, each once, and none is sure yet")
        return now
    last = before.last
    kept = _places(last.rules, rules)
    gone = np.ones(len(last.rules), np.bool_)
    gone[kept] = False
    if (gone & last.needed).any() or (last.sure[kept] & ~sure).any():
        raise InvalidInput("rules: a list must keep and call sure what the counts before say")
    return now


def _places(before: Integers, rules: Integers) -> Integers:
    """Find the rules of a list in the one before.

    Raises:
        InvalidInput: If one is not there, or they stand in another order.
    """
    if rules.shape[1] == before.shape[1]:
        _, number = np.unique(np.concatenate([before, rules]), axis=0, return_inverse=True)
        number = number.ravel()
        place = np.full(len(number), -1, np.int64)
        place[number[: len(before)]] = np.arange(len(before))
        order: Integers = place[number[len(before) :]]
        if order[0] >= 0 and (np.diff(order) > 0).all():
            return order
    raise InvalidInput("rules: a later list must be what is left of the one before, in its order")


def _decided(listed: RuleRound, numbers: Integers, classes: int) -> RuleRound:
    """Say what of a list of rules the counts of it decide for every honest server; sums are no smaller."""
    rules = len(listed.rules)
    right = listed.rules[:, -1]
    taken = numbers[rules:].reshape(-1, classes)[np.arange(rules), right] > 0
    sure = listed.called | taken
    return replace(listed, sure=sure, needed=sure | (numbers[:rules] > 0))
