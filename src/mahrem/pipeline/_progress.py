"""How a verb says what it is doing."""

from __future__ import annotations

from collections.abc import Callable

from mahrem.words import Note

__all__ = ["Progress", "in_silence"]

Progress = Callable[[Note], None]  # called with each stage as it begins; as text it is an English phrase


def in_silence(stage: Note) -> None:
    """Say nothing of a stage that begins."""
