"""The recipe of a draft: the cells it shows, and as much of its hierarchies as may be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.drafts._draft import Draft
from mahrem.partition import Levels
from mahrem.release import BY_RECIPE, Recipe
from mahrem.table import Axis, Leaves
from mahrem.threads import in_parallel
from mahrem.types import Integers, Mask

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


SMALLEST_NAMED = 3  # a value of a hierarchy is never named for fewer people, whatever k is
_ONE_NUMBER = 2**62  # choices of cells that a place among all of them can tell
_LEFT_BEHIND = ("automatic", "rho", "smoothing", "minimum_count", "suppressed")  # a recipe does without


def recipe_of(draft: Draft) -> Recipe | None:
    """Give the recipe of a draft; None where its cells do not say which values they stand for.

    Guarantees:
        - Every cell is one that the release shows, and classes come in the order of their cells.
        - A value of a quasi-identifier's hierarchy is named only if at least k people who are shown have it
          (and never fewer than three); of a sensitive one's, only if the release shows it.
    """
    draft = draft.without_starred()  # their values were suppressed
    policy, prepared = draft.policy, draft.prepared
    if (
        policy.cells not in {"text", "pairs"}
        or policy.population is not None  # whom cells fit was counted among everybody
        or draft.method == BY_RECIPE
    ):
        return None
    shown = np.flatnonzero(draft.sizes > 0)
    levels = isinstance(draft.partition.how, Levels)
    cells, codes = _coded({name: cells.text[shown] for name, cells in draft.cells.items()})
    hierarchies = {
        axis.name: tree for axis in prepared.axes if (tree := _named_leaves(draft, axis)) is not None
    }
    for name in prepared.values:
        tree = prepared.columns[name].hierarchy
        if tree is not None:
            rows = pl.Series(np.flatnonzero(prepared.keep)[draft.labels >= 0])
            values = prepared.source.take([name]).to_series().gather(rows)
            present = values.cast(pl.String).unique().drop_nulls().to_list()
            part = _only(tree, np.isin(np.array(tree.labels[0], object), present))
            hierarchies |= {} if part is None else {name: part}
    return Recipe(
        policy={key: value for key, value in policy.public().items() if key not in _LEFT_BEHIND},
        kinds={name: column.kind for name, column in prepared.columns.items()},
        cells=cells,
        classes=None if levels else codes,
        hierarchies=hierarchies,
        published=tuple(name for name in prepared.source.columns if name not in prepared.leave_out),
        pseudonyms=tuple(policy.pseudonym),
    )


def _coded(texts: Mapping[str, pl.Series]) -> tuple[dict[str, tuple[str | None, ...]], Integers]:
    """Give the distinct cells of each column, and the distinct classes as places in them."""

    def code(series: pl.Series) -> tuple[pl.Series, pl.Series]:
        own = series.unique().sort(nulls_last=True)
        named = own.drop_nulls()
        return own, series.cast(pl.Enum(named)).to_physical().cast(pl.Int64).fill_null(len(named))

    coded = in_parallel(code, list(texts.values()), rows=max(map(len, texts.values()), default=0))
    cells = {name: tuple(own.to_list()) for name, (own, _) in zip(texts, coded, strict=True)}
    places = [codes.to_numpy() for _, codes in coded]
    choices = [len(own) for own in cells.values()]
    if math.prod(choices) < _ONE_NUMBER:  # numbers are sorted more quickly than rows
        numbers = pl.Series(np.ravel_multi_index(places, choices)).unique().sort().to_numpy()
        return cells, np.stack(np.unravel_index(numbers, choices), 1)
    return cells, np.unique(np.stack(places, 1), axis=0)


def _named_leaves(draft: Draft, axis: Axis) -> Hierarchy | None:
    """Give the part of a column's hierarchy that may be told; trees made of ranges explain themselves."""
    prepared = draft.prepared
    if not isinstance(axis.domain, Leaves):
        return None
    if prepared.columns[axis.name].hierarchy is None and prepared.automatic is None:
        return None
    tree = axis.domain.hierarchy
    part = slice(0, prepared.taking_part)
    labels = draft.partition.labels[part]
    at = axis.positions[part]
    rows = np.flatnonzero((labels >= 0) & ~np.isnan(at))
    leaf = at[rows].astype(np.int64)
    if prepared.subjects is not None:
        pairs = np.unique(np.column_stack([leaf, prepared.subjects[rows]]), axis=0)
        leaf = pairs[pairs[:, 1] >= 0, 0]
    people = np.bincount(leaf, minlength=tree.leaves)
    return _only(tree, people >= max(draft.policy.k or 1, SMALLEST_NAMED))


def _only(tree: Hierarchy, leaves: Mask) -> Hierarchy | None:
    """Give the part of a tree above some leaves; there is none above nobody's."""
    if not leaves.any():
        return None
    rows = tree.rows()
    from mahrem.table import Hierarchy

    return Hierarchy.from_rows([rows[place] for place in np.flatnonzero(leaves)])
