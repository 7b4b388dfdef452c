"""The perturbations: names, where each lives, and what columns each takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

from mahrem.entries import Entries, Entry


@dataclass(frozen=True, kw_only=True)
class PerturbationEntry(Entry):
    """A way to change values.

    Attributes:
        takes: Columns of numbers, together; words, one column at a time; or rows of codes that move together.
    """

    takes: Literal["numbers", "words", "rows"]

    def load(self) -> Callable[..., Any]:
        """Import the dataclass of its settings."""
        return cast("Callable[..., Any]", super().load())


def _entry(name: str, home: str, takes: Literal["numbers", "words", "rows"]) -> PerturbationEntry:
    return PerturbationEntry(name=name, home=f"mahrem.perturbation.{home}", takes=takes)


PERTURBATIONS: Entries[PerturbationEntry] = Entries(
    "mahrem.perturbations",
    PerturbationEntry,
    (
        _entry("noise", "_noise:Noise", "numbers"),
        _entry("rank-swap", "_ranks:RankSwap", "numbers"),
        _entry("shuffle", "_shuffle:Shuffle", "numbers"),
        _entry("coding", "_coding:Coding", "numbers"),
        _entry("rounding", "_coding:Rounding", "numbers"),
        _entry("pram", "_pram:Pram", "words"),
        _entry("household-swap", "_households:HouseholdSwap", "rows"),
    ),
)
