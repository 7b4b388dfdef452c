"""Hierarchies in ARX's CSV form: one row per leaf, its ancestors bottom-up, the last of them ``*``."""

from __future__ import annotations

from dataclasses import dataclass, field

from mahrem.types import Integers

__all__ = ["Hierarchy"]


@dataclass(frozen=True)
class Hierarchy:
    """A tree over the values of one column.

    Leaves are numbered so that the leaves under any node are neighbours; level 0 holds the leaves
    themselves, the last level the root.
    """

    labels: tuple[tuple[str, ...], ...] = field(repr=False)  # per level: the label of each node
    nodes: Integers = field(repr=False)  # (levels, leaves): node of each leaf at each level

    @property
    def leaves(self) -> int:
        """How many values the tree knows."""
        return self.nodes.shape[1]
