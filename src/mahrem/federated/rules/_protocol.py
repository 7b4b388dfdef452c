"""The questions of exact du-CBA in their order: what a client answers next, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.wire import Message, digest_message
from mahrem.types import Integers, Mask

Count: TypeAlias = Callable[[str, Mapping[str, Any]], Integers]


@dataclass(frozen=True)
class _RuleRound:
    """A list of rules that was counted, and what the counts leave open of it."""

    rules: Integers = field(repr=False)  # (m, longest + 1) left sides, -1 where shorter, and classes
    called: Mask = field(repr=False)  # were called sure
    sure: Mask = field(repr=False)  # must be called so from now on
    needed: Mask = field(repr=False)  # must stay in the list


@dataclass
class _Step:
    """A question that was answered, and how far its run came with it."""

    named: bytes = b""  # digest of the items and classes of the run
    classes: int = 0
    counted: int = 0  # sets
    longest: int = 0  # items of a set that was counted
    last: _RuleRound | None = None
    followed: bool = False


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

    Guarantees:
        - The first question counts each item once; each further one counts larger sets than all before, of
          the same items and by the same classes. So there are at most ``longest`` of them.
        - A first list of rules names sets, no more than were counted and none twice; nothing is sure then.
        - A later list is what is left of the one before. Rules that are gone had counts of 0 here. Rules that
          had a row of their class are sure, and what was sure stays so. Each list decides a rule or more, so
          there is at most one more than the first has rules.
        - A question that was answered before is answered again, as it was; others than these are refused.
    """

    longest: int
    paths: int = 1
    _steps: dict[bytes, _Step] = field(default_factory=dict, repr=False)
    _here: _Step = field(default_factory=_Step, repr=False)
    _start: _Step = field(default_factory=_Step, repr=False)
    _begun: int = 1

    def answer(self, kind: str, body: Mapping[str, Any], count: Count) -> Integers:
        """Count what a question asks for, if it is the next one or was asked before.

        Raises:
            InvalidInput: If it is neither.
        """
        digest = digest_message(Message(kind, "", 0, body))
        step = self._steps.get(digest)
        if step is not None:
            self._here = step
            return count(kind, body)
        before, step = self._next(kind, body)
        if before.followed and self._begun >= self.paths:
            raise InvalidInput(
                f"kind={kind!r}: another question came next before; a client answers one run's questions, "
                "as often as they are asked, until its owner starts it again"
            )
        numbers = count(kind, body)
        if step.last is not None:
            step.last = _decided(step.last, numbers, step.classes)
        self._begun += before.followed
        before.followed = True
        self._steps[digest] = self._here = step
        return numbers

    def _next(self, kind: str, body: Mapping[str, Any]) -> tuple[_Step, _Step]:
        """Give the step that a question goes on from, and what it leads to."""
        named = _named(body)
        items, classes = len(body["cells"]), len(body["classes"])
        sets = body["sets" if kind == "counts" else "left"]
        sizes = (sets >= 0).sum(axis=1) if sets.size else np.zeros(len(sets), np.int64)
        if len(sets) and not 0 < int(sizes.min()) <= int(sizes.max()) <= self.longest:
            raise InvalidInput(f"sets of none or more than the agreed longest={self.longest} cells")
        first = kind == "counts" and _is_each_item(sets, items)
        before = self._start if first else self._here
        if not first and named != before.named:
            raise InvalidInput(f"kind={kind!r}: items or classes are others than those counted first")
        step = replace(before, named=named, classes=classes, followed=False)
        if kind == "cover":
            step.last = _listed(before, sets, body)
            return before, step
        if not first and (before.last is not None or not len(sets) or int(sizes.min()) <= before.longest):
            raise InvalidInput("sets: each question must count larger ones than all before")
        step.counted, step.longest = before.counted + len(sets), int(sizes.max(initial=0))
        return before, step


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


def _listed(before: _Step, left: Integers, body: Mapping[str, Any]) -> _RuleRound:
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
    now = _RuleRound(rules, sure, sure, sure)
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


def _decided(listed: _RuleRound, numbers: Integers, classes: int) -> _RuleRound:
    """Say what of a list of rules the counts of it decide for every honest server; sums are no smaller."""
    rules = len(listed.rules)
    right = listed.rules[:, -1]
    taken = numbers[rules:].reshape(-1, classes)[np.arange(rules), right] > 0
    sure = listed.called | taken
    return replace(listed, sure=sure, needed=sure | (numbers[:rules] > 0))
