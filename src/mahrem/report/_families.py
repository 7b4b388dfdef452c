"""Words that a picture of a column may name: those of published cells, and what lies above them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from mahrem.table import Axis, Exact, Hierarchy, Leaves, Prefix, Words, read_cell
from mahrem.types import Integers, Mask

WORDS = 12


def families(axis: Axis, cells: pl.Series, *, seen: Mask, shown: Mask) -> tuple[Integers, list[str]]:
    """Put values into families that a reader of the release knows the names of, a dozen where they have any.

    A code goes under the longest beginning that some cell shows, a leaf under the lowest node that some cell
    shows or that lies above one; other words stand for themselves.

    Args:
        axis: A column of words, codes or leaves.
        cells: Its distinct published cells, without ``*``.
        seen: ``(values,)`` which of its values shown rows have.
        shown: ``(values,)`` which of its values cells stand for.

    Guarantees:
        - No name says more than the published cells do, whatever rows hold.
        - A value that nothing published names has the number after the last name.

    Returns:
        The family of each value, and their names.
    """
    domain = axis.domain
    if isinstance(domain, Leaves):
        return _numbered(_of_leaves(domain.hierarchy, cells))
    if isinstance(domain, Words) and domain.prefixes:
        return _numbered(_of_codes(domain.labels, cells, seen))
    labels = domain.labels if isinstance(domain, Words) else ()
    return _numbered(pl.Series(labels, dtype=pl.String).set(pl.Series(~shown, dtype=pl.Boolean), None))


def _numbered(names: pl.Series) -> tuple[Integers, list[str]]:
    distinct = names.drop_nulls().unique(maintain_order=True)
    place = names.replace_strict(distinct, np.arange(len(distinct)), default=len(distinct))
    return place.cast(pl.Int64).to_numpy(), distinct.to_list()


def _of_leaves(tree: Hierarchy, cells: pl.Series) -> pl.Series:
    """Name the lowest told node above each leaf, from the first level on that has a dozen at most."""
    few = [level for level in range(tree.levels) if len(tree.labels[level]) <= WORDS]
    lowest = few[0] if few and len(tree.labels[few[0]]) > 1 else 0
    shown = np.zeros(tree.leaves, np.bool_)  # whether a cell shows the node of a leaf, or one below it
    names = pl.Series([None], dtype=pl.String).new_from_index(0, tree.leaves)
    for level in range(tree.levels - 1):
        nodes = tree.nodes[level]
        below = np.bincount(nodes, weights=shown) > 0
        shown = (below | tree.cells(level).is_in(cells.implode()).to_numpy())[nodes]
        if level >= lowest:
            labels = pl.Series(tree.labels[level], dtype=pl.String).gather(nodes)
            names = names.zip_with(names.is_not_null() | pl.Series(~shown), labels)
    return names


def _of_codes(codes: Sequence[str], cells: pl.Series, seen: Mask) -> pl.Series:
    """Name the beginning of each code that some cell shows, cut until there are a dozen at most."""
    words = pl.Series(codes, dtype=pl.String)
    read = [read_cell(text) for text in cells.to_list()]
    begins = {cell.beginning for cell in read if isinstance(cell, Prefix)}
    whole = {cell.text for cell in read if isinstance(cell, Exact)}
    shown = pl.Series(np.zeros(len(words), np.int64))  # how many letters of each code cells show
    longest = max(map(len, codes), default=0)
    for letters in range(1, longest + 1):
        known = pl.Series(
            sorted({text[:letters] for text in begins | whole if len(text) >= letters}), dtype=pl.String
        )
        there = words.str.slice(0, letters).is_in(known.implode()) & (words.str.len_chars() >= letters)
        shown = shown.zip_with(~there, pl.Series([letters]).new_from_index(0, len(words)))
    known_of_all = words.str.slice(0, shown)
    present = known_of_all.filter(pl.Series(seen))
    lengths = range(longest, 0, -1)
    cut = next((n for n in lengths if present.str.slice(0, n).n_unique() <= WORDS), 1)
    names = known_of_all.str.slice(0, cut)
    alone = (names == words) & words.is_in(pl.Series(sorted(whole), dtype=pl.String).implode())
    return (names + "…").zip_with(~alone, names).set(names == "", None)
