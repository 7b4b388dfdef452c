"""A tape on which everything passes that is about to be noised; tests record and replay it.

Nothing listens in ordinary use: :func:`noised` then only draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from mahrem.dp._sensitivity import GlobalSensitivity, SmoothSensitivity
from mahrem.dp.accounting import Event, Spend
from mahrem.types import Integers

Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Step:
    """One use of a mechanism: what went in, what was promised about it, what came out."""

    mechanism: str
    values: tuple[float, ...] = field(repr=False)
    sensitivity: GlobalSensitivity | SmoothSensitivity | float | None
    event: Event | None
    output: Any = field(repr=False)


@dataclass
class Tape:
    """Steps in their order; with ``replay``, outputs come from an earlier run instead of from noise."""

    replay: Sequence[Step] | None = None
    steps: list[Step] = field(default_factory=list)
    spends: list[Spend] = field(default_factory=list)

    def take(self, step: Step, draw: Callable[[], Any]) -> Any:
        """Note a step and give its output."""
        place = len(self.steps)
        known = self.replay is not None and place < len(self.replay)
        output = self.replay[place].output if self.replay is not None and known else draw()
        self.steps.append(Step(step.mechanism, step.values, step.sensitivity, step.event, output))
        return output


_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)
_WHOLE: ContextVar[Event | None] = ContextVar("whole", default=None)


@contextmanager
def listening(tape: Tape) -> Iterator[Tape]:
    """Let everything noised inside pass over this tape."""
    token = _TAPE.set(tape)
    try:
        yield tape
    finally:
        _TAPE.reset(token)


@contextmanager
def part_of(event: Event) -> Iterator[None]:
    """Let everything noised inside be part of one event, which a ledger pays as a whole.

    A search, say, is paid for by what it releases in the end, which is less than its trainings together.
    """
    token = _WHOLE.set(event)
    try:
        yield
    finally:
        _WHOLE.reset(token)


def listened() -> bool:
    """Say whether a tape listens; what is only made for it need not be made otherwise."""
    return _TAPE.get() is not None


def noised(
    mechanism: str,
    values: Sequence[float] | Integers,
    sensitivity: GlobalSensitivity | SmoothSensitivity | float | None,
    event: Event | None,
    draw: Callable[[], Drawn],
) -> Drawn:
    """Draw the noisy output of a mechanism, past the tape if one listens."""
    tape = _TAPE.get()
    if tape is None:
        return draw()
    whole = _WHOLE.get()
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    step = Step(mechanism, tuple(plain), sensitivity, event if whole is None else whole, None)
    output: Drawn = tape.take(step, draw)
    return output


def paid(spend: Spend) -> None:
    """Note what a ledger paid for."""
    tape = _TAPE.get()
    if tape is not None:
        tape.spends.append(spend)
