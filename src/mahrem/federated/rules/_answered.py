"""Which questions of exact rules some rows answered, in files that outlive their client."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.wire import Message, pack_message, unpack_message
from mahrem.files import locked, write_whole
from mahrem.types import Integers, Mask

_NAMES, _WHOLE = b"mahrem-asked-1", b"mahrem-answered-1"  # what the key is used for
_ENDING = ".step"
_TAG = 32  # bytes that say that a file is as it was written


@dataclass(frozen=True)
class RuleRound:
    """A list of rules that was counted, and what the counts leave open of it."""

    rules: Integers = field(repr=False)  # (m, longest + 1) left sides, -1 where shorter, and classes
    called: Mask = field(repr=False)  # were called sure
    sure: Mask = field(repr=False)  # must be called so from now on
    needed: Mask = field(repr=False)  # must stay in the list


@dataclass(frozen=True)
class AnsweredStep:
    """A question that was answered, and how far its run came with it."""

    asked: bytes = b""  # names the question; empty before the first
    after: bytes = b""  # names the one that it went on from
    named: bytes = b""  # names the items and classes of the run
    classes: int = 0
    counted: int = 0  # sets
    longest: int = 0  # items of a set that was counted
    last: RuleRound | None = field(default=None, repr=False)


@dataclass(frozen=True)
class AnsweredQuestions:
    """The steps that some rows answered, each in a file that its owner alone can read.

    Args:
        folder: The files, of these rows alone.
        key: The user's own. Files name questions by it, so none can be guessed, and are refused if they
            were changed.
        federation: Which one asks now.
        agreed: Its owner agrees that it asks other questions than were answered before.

    Guarantees:
        - A step is on disk, whole, before its answer leaves.
        - Steps are all there and as they were written, or no question is answered.
        - No cell is in them, and of counts only which rules of a list had a row.
    """

    folder: Path
    key: bytes = field(repr=False)
    federation: str = ""
    agreed: bool = False

    def name(self, digest: bytes) -> bytes:
        """Name a question, or what it is about, so that nobody can guess it without the key."""
        return hmac.digest(self.key, _NAMES + digest, "sha256")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process answer a new question about these rows meanwhile."""
        with ExitStack() as held:
            try:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                held.enter_context(locked(self.folder / "lock"))
            except OSError as error:
                raise self._unwritten(error) from None
            yield

    def read(self, seen: int = 0) -> list[tuple[str, AnsweredStep]]:
        """Give the steps from the ``seen``-th on, in their order, each with the federation that asked.

        Raises:
            InvalidInput: If one of them is not there or cannot be read.
        """
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.suffix == _ENDING)
        except FileNotFoundError:
            names = []
        except OSError:
            raise self._unread(self.folder.name) from None
        if names != [_file(number) for number in range(max(len(names), seen))]:
            raise self._unread(self.folder.name)
        return [self._read_step(number) for number in range(seen, len(names))]

    def asked_by_others(self) -> bool:
        """Say whether another federation asked these rows before."""
        return any(federation != self.federation for federation, _ in self.read())

    def keep(self, number: int, step: AnsweredStep) -> None:
        """Write down a step, the ``number``-th.

        Raises:
            OutputFailed: If it cannot be written.
        """
        body: dict[str, Any] = {"asked": step.asked, "after": step.after, "named": step.named}
        body |= {"classes": step.classes, "counted": step.counted, "longest": step.longest}
        if step.last is not None:
            last = step.last
            marks = np.column_stack([last.called, last.sure, last.needed]).astype(np.int8)
            body |= {"rules": last.rules, "marks": marks}
        content = pack_message(Message("answered", self.federation, number, body))
        try:
            write_whole(self.folder / _file(number), self._tag(content) + content, new=True, durable=True)
        except OSError as error:
            raise self._unwritten(error) from None

    def _read_step(self, number: int) -> tuple[str, AnsweredStep]:
        try:
            whole = (self.folder / _file(number)).read_bytes()
            tag, content = whole[:_TAG], whole[_TAG:]
            if not hmac.compare_digest(tag, self._tag(content)):
                raise self._unread(_file(number))
            message = unpack_message(content)
            body = dict(message.body)
            rules, marks = body.pop("rules", None), body.pop("marks", None)
            step = AnsweredStep(**body)
            if message.round != number:
                raise self._unread(_file(number))
            if rules is not None and marks is not None:
                called, sure, needed = (column > 0 for column in marks.T)
                step = replace(step, last=RuleRound(rules.astype(np.int64), called, sure, needed))
        except (OSError, ValueError, TypeError, AttributeError):
            raise self._unread(_file(number)) from None
        return message.run, step

    def _tag(self, content: bytes) -> bytes:
        return hmac.digest(self.key, _WHOLE + self.folder.name.encode() + content, "sha256")

    @staticmethod
    def _unread(name: str) -> InvalidInput:
        return InvalidInput(
            f"file={name!r} of questions that were answered cannot be read; bring it back as it was"
        )

    @staticmethod
    def _unwritten(error: OSError) -> OutputFailed:
        return OutputFailed(f"questions that are answered cannot be written down: {error.strerror}")


def _file(number: int) -> str:
    return f"{number:06d}{_ENDING}"
