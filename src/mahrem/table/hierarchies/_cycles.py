"""Cycles: a label that is its own ancestor."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from mahrem.errors import InvalidInput

__all__ = ["refuse_cycles"]


def refuse_cycles(columns: Sequence[Sequence[str]], name: str) -> None:
    """Refuse rows in which climbing from a label can lead back to it.

    A label is the same wherever it stands, in whatever row and level: ``a;x;y;*`` and ``b;y;x;*`` together
    make ``x`` its own ancestor. A label repeated from one level to the next is a branch that ends early, and
    no cycle.

    Args:
        columns: For each level, the label of every leaf; the leaves themselves as they are published.
        name: What errors call the tree.
    """
    inner = {label for column in columns[1:] for label in set(column)}
    parents: dict[str, set[str]] = {}
    for level, (children, ancestors) in enumerate(pairwise(columns)):
        for child, parent in set(zip(children, ancestors, strict=True)):
            # A leaf that stands nowhere else can be nobody's ancestor.
            if child == parent or (level == 0 and child not in inner):
                continue
            parents.setdefault(child, set()).add(parent)
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise InvalidInput(
            f"{name}: {len(error.args[1]) - 1} labels stand in a circle, each an ancestor of the next; "
            "climbing from a label must never lead back to it"
        ) from None
