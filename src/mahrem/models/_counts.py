"""What a privacy model sees of a table, and what a privacy model is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from mahrem.types import Floats, Integers, Levels, Mask, Sizes

__all__ = ["Counts", "PrivacyModel"]


@dataclass(frozen=True)
class Counts:
    """How often each value of one column occurs in each class, as sorted triplets.

    Triplets, not a matrix: 150,000 classes times 100,000 distinct costs would be 120 GB.
    Value codes follow the column's own order (numbers ascending, ordinals as declared).
    """

    sizes: Sizes  # (c,) rows (or people) in each class
    group: Integers = field(repr=False)  # (m,) class of the triplet, ascending
    value: Integers = field(repr=False)  # (m,) value code, ascending within its class
    count: Integers = field(repr=False)  # (m,) how often; never zero
    table: Floats = field(repr=False)  # (values,) share of each value in the whole table
    ancestors: Integers | None = field(default=None, repr=False)  # (levels, values) nodes bottom-up

    @property
    def groups(self) -> int:
        """How many classes there are."""
        return len(self.sizes)


class PrivacyModel(Protocol):
    """A promise about every class; frozen, comparable, and judged for all classes at once.

    ``level`` gives each class's own figure; ``holds`` compares it with what is wanted. ``monotone`` says
    that a union of admissible classes is admissible. ``rising`` says that a larger level is safer, so that
    a table has reached the smallest of its classes' levels (else the largest).
    """

    name: ClassVar[str]
    monotone: ClassVar[bool]
    rising: ClassVar[bool]

    @property
    def wanted(self) -> float:
        """The level asked for."""
        ...

    def level(self, counts: Counts) -> Levels:
        """Say for every class how far it goes."""
        ...

    def holds(self, counts: Counts) -> Mask:
        """Say for every class whether it may stand."""
        ...
