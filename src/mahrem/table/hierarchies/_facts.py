"""What can be said of a hierarchy, and whether it fits a column: counts, never values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.table.cells import Members, Prefix, as_text, read_cell, read_ranges
from mahrem.table.hierarchies._hierarchy import Hierarchy
from mahrem.types import Mask


@dataclass(frozen=True, kw_only=True)
class HierarchyFacts:
    """Size and soundness of a hierarchy; the last five are None without data."""

    levels: int
    leaves: int
    nodes: tuple[int, ...]  # per level, bottom-up
    misplaced: int  # leaves outside the range, set or beginning that one of their labels names
    rows: int | None = None
    missing: int | None = None  # rows without a value
    unknown: int | None = None  # rows whose value is no leaf
    unknown_values: int | None = None  # different values that are no leaf
    unused: int | None = None  # leaves that no row has

    @property
    def holds(self) -> bool:
        """Whether every label is true and every value of the data is known."""
        return self.misplaced == 0 and not self.unknown


def hierarchy_facts(hierarchy: Hierarchy, values: pl.Series | None = None) -> HierarchyFacts:
    """Count what a hierarchy holds, and what it lacks for a column.

    Args:
        hierarchy: The tree.
        values: The column it is for; null is missing.

    Guarantees:
        - Nothing but counts comes back.

    Example:
        >>> tree = Hierarchy.from_rows([["17", "[18, 29]"], ["18", "[18, 29]"]])
        >>> facts = hierarchy_facts(tree, pl.Series(["18", "40", None]))
        >>> facts.misplaced, facts.unknown, facts.missing, facts.unused
        (1, 1, 1, 1)
    """
    sizes = tuple(map(len, hierarchy.labels))
    misplaced = int(_outside(hierarchy).sum())
    if values is None:
        return HierarchyFacts(
            levels=hierarchy.levels, leaves=hierarchy.leaves, nodes=sizes, misplaced=misplaced
        )
    text = as_text(values)
    looked_up = hierarchy.find(text.unique().drop_nulls())
    strange = looked_up.filter(pl.col("code").is_null())["leaf"]
    return HierarchyFacts(
        levels=hierarchy.levels,
        leaves=hierarchy.leaves,
        nodes=sizes,
        misplaced=misplaced,
        rows=len(text),
        missing=text.null_count(),
        unknown=int(text.is_in(strange.implode()).sum()),
        unknown_values=len(strange),
        unused=hierarchy.leaves - looked_up["code"].n_unique() + bool(len(strange)),
    )


def _outside(hierarchy: Hierarchy) -> Mask:
    """Say which leaves some label of theirs does not cover; a label that names no set covers all."""
    leaves = pl.Series(hierarchy.labels[0], dtype=pl.String)
    outside = np.zeros(hierarchy.leaves, np.bool_)
    for level in range(1, hierarchy.levels):
        nodes = hierarchy.nodes[level]
        cells = hierarchy.cells(level)
        ranged = cells.str.starts_with("[") & cells.str.ends_with("]")
        if ranged.any():  # read beside the leaves, so that days and moments are counted alike
            low, high = read_ranges(pl.concat([leaves, cells.set(~ranged, None).rename(leaves.name)]))
            place, first, last = low[: len(leaves)], low[len(leaves) :], high[len(leaves) :]
            outside |= (place < first[nodes]) | (place > last[nodes])  # what cannot be read is neither
        begins = np.flatnonzero(np.diff(nodes, prepend=-1))
        ends = np.append(begins[1:], len(nodes))
        for node in np.flatnonzero(cells.str.contains(r'^[{"]|.\*$').to_numpy()):
            under = slice(begins[node], ends[node])
            outside[under] |= ~_covered(cells[int(node)], leaves[under])
    return outside


def _covered(cell: str, leaves: pl.Series) -> Mask:
    match read_cell(cell):
        case Members(members):
            return leaves.is_in([member for member in members if member is not None]).to_numpy()
        case Prefix(beginning):
            return leaves.str.starts_with(beginning).to_numpy()
        case _:
            return np.ones(len(leaves), np.bool_)
