"""How a verb says what it is doing."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "in_silence"]

Progress = Callable[[str], None]  # called with the name of each stage as it begins


def in_silence(stage: str) -> None:
    """Say nothing of a stage that begins."""
