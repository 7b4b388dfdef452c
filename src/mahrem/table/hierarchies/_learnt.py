"""Hierarchies learnt from the data: values that foretell a target alike are one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.table.cells import write_labels, write_set
from mahrem.table.hierarchies._builders import distinct_text
from mahrem.table.hierarchies._hierarchy import Hierarchy
from mahrem.table.hierarchies._ladders import build_tree
from mahrem.table.hierarchies._majority_targets import (
    MajorityTargets,
    Target,
    majority_targets,
    number_target,
)
from mahrem.types import Integers

_SHOWN = 12  # a group of at most so many values is published as a set
_LETTERS = 200  # ... if the set is not longer than this


def learn_hierarchy(
    values: pl.Series,
    target: pl.Series | Target,
    *,
    rho: Sequence[float] = (5, 10, 20, 50),
    smoothing: float = 0.0,
    minimum_count: int = 1,
    leaves: pl.Series | None = None,
) -> Hierarchy:
    """Group values by the target value most frequent with them and by how frequent it is.

    With ``t`` that target value and ``f`` its share in percent, a value belongs to the group
    ``(t, min(floor(f / rho), 100 / rho - 1))``. Each ``rho`` is a level; where a narrow one does not divide
    the next, its groups are cut at those of the next, so that levels nest. Of equally frequent target values
    the one more frequent in the whole column counts, then the first in their own order.

    Args:
        values: The column to group; missing values take no part.
        target: What the groups are to keep apart, row by row; rows without it take no part. Number it once
            (``number_target``) where many columns are learnt against it.
        rho: Widths in percent; ``100 / rho`` must be a whole number. Wide ones generalise more.
        smoothing: So many rows, with the targets of the whole column, are added to each value: rare values
            move towards the group of the column as a whole.
        minimum_count: A value with fewer rows does not decide for itself: it gets the group of the column as
            a whole, as does a value of ``leaves`` that was never seen.
        leaves: The values the tree is to know; without it those of ``values``. For trees learnt on a sample
            or on public data.

    Guarantees:
        - Levels nest; every value has one group at each level.
        - The order of the rows does not matter.
        - A label is the set of the group's values or a number; no share and no target is in it.

    References:
        Saleh: the automatic value generalisation hierarchies of a framework for anonymisation and learning.

    Example:
        >>> degree = pl.Series("degree", ["none"] * 4 + ["school"] * 4 + ["phd"] * 4)
        >>> income = pl.Series("income", ["low"] * 4 + ["low", "low", "low", "high"] + ["high"] * 4)
        >>> learn_hierarchy(degree, income, rho=[50]).rows()
        [('none', '{none, school}', '*'), ('school', '{none, school}', '*'), ('phd', 'phd', '*')]
    """
    bins = _bins(rho)
    check.at_least(0, smoothing=smoothing)
    if check.whole(minimum_count=minimum_count) < 1:
        raise InvalidParameter(f"minimum_count={minimum_count} must be at least 1")
    goal = target if isinstance(target, Target) else number_target(target)
    seen = majority_targets(values, goal, smoothing=smoothing, minimum_count=minimum_count)
    if leaves is not None:
        seen = _over(seen, distinct_text(leaves).str.strip_chars().unique().sort(), goal)
    if len(seen.values) == 0:
        return build_tree(seen.values, [])
    levels = _nested(seen, bins)
    named = [_names(seen.values, groups, f"{values.name} L{at}") for at, groups in enumerate(levels, 1)]
    return Hierarchy.from_nodes(seen.values, list(zip(named, levels, strict=True)))


@dataclass(frozen=True, kw_only=True)
class LearntGroups:
    """:func:`learn_hierarchy` as data: its settings can be printed, compared and stored."""

    rho: tuple[float, ...] = (5, 10, 20, 50)
    smoothing: float = 0.0
    minimum_count: int = 1

    def __call__(
        self, values: pl.Series, target: pl.Series | Target, leaves: pl.Series | None = None
    ) -> Hierarchy:
        """Learn the hierarchy of one column."""
        return learn_hierarchy(
            values,
            target,
            rho=self.rho,
            smoothing=self.smoothing,
            minimum_count=self.minimum_count,
            leaves=leaves,
        )


def learn_hierarchies(
    frame: pl.DataFrame,
    columns: Sequence[str],
    target: str,
    *,
    groups: LearntGroups | None = None,
    leaves: pl.DataFrame | None = None,
) -> dict[str, Hierarchy]:
    """Learn the hierarchies of several columns against one target.

    Args:
        frame: The table to learn from.
        columns: Which columns to group.
        target: The column whose values they foretell; it cannot be one of them.
        groups: The settings.
        leaves: The table whose values the trees are to know; without it the one they are learnt from.

    Example:
        >>> table = pl.DataFrame({"town": ["a", "b", "c"], "ill": [True, True, False]})
        >>> learn_hierarchies(table, ["town"], "ill", groups=LearntGroups(rho=(100,)))["town"].rows()[0]
        ('a', '{a, b}', '*')
    """
    check.columns_exist([*columns, target], frame.columns)
    if target in columns:
        raise InvalidParameter(
            f"target={target!r} is one of the columns to be grouped: it would foretell itself; leave it out"
        )
    learn = LearntGroups() if groups is None else groups
    if leaves is not None:
        check.columns_exist(columns, leaves.columns)
    goal = number_target(frame[target])
    return {
        name: learn(frame[name], goal, leaves=None if leaves is None else leaves[name]) for name in columns
    }


def _bins(rho: Sequence[float]) -> list[int]:
    """Turn widths in percent into numbers of bins, few first."""
    if not rho:
        raise InvalidParameter("rho needs at least one width: 5,10,25")
    bins = set()
    for width in rho:
        number = check.finite(rho=width)
        count = round(100 / number) if 0 < number <= 100 else 0
        if count < 1 or abs(count * number - 100) > 1e-9:
            raise InvalidParameter(f"rho={width} must divide 100 (100/rho a whole number): 5, 10, 20, 25, 50")
        bins.add(count)
    return sorted(bins)


def _over(seen: MajorityTargets, leaves: pl.Series, target: Target) -> MajorityTargets:
    """Give what was learnt for other values; one that was never seen gets what the whole table has."""
    known = pl.DataFrame({"leaf": seen.values}).with_row_index("place")
    place = leaves.to_frame("leaf").join(known, on="leaf", how="left", maintain_order="left")["place"]
    new = place.is_null().to_numpy()
    at = place.fill_null(0).to_numpy()
    if len(seen.values) == 0:
        nothing = np.zeros(len(leaves), np.int64)
        rows, best, score, weight = nothing, nothing, nothing.astype(np.float64), nothing.astype(np.float64)
    else:
        rows, best, score, weight = (part[at] for part in (seen.rows, seen.target, seen.score, seen.weight))
    return MajorityTargets(
        leaves,
        np.where(new, 0, rows),
        np.where(new, 0, best),
        np.where(new, target.totals[0], score),
        np.where(new, target.totals.sum(), weight),
    )


def _nested(seen: MajorityTargets, bins: Sequence[int]) -> list[Integers]:
    """Give the group of each value at each level, fine ones first; a level that adds nothing is left out."""
    groups = np.unique(seen.target, return_inverse=True)[1].astype(np.int64)
    levels: list[Integers] = []
    known = 1
    for count in bins:
        # Multiplied before it is divided: 29 of 100 rows lie exactly on the line of 29 %.
        place = np.minimum(np.floor(seen.score * count / seen.weight), count - 1).astype(np.int64)
        groups = np.unique(groups * count + place, return_inverse=True)[1].astype(np.int64)
        count_now = int(groups.max()) + 1
        if known < count_now < len(groups):
            levels.append(groups)
        known = count_now
    return levels[::-1]


def _names(values: pl.Series, groups: Integers, stem: str) -> pl.Series:
    """Name a small group as the set of its values, a large one by its number in the order of the values."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(order[starts], kind="stable")] = np.arange(1, len(sizes) + 1)
    numbered = pl.Series(rank).cast(pl.String)
    names = (f"{stem}#" + numbered).to_list()
    for group in np.flatnonzero((sizes > 1) & (sizes <= _SHOWN)):
        members = values.gather(order[starts[group] : starts[group] + sizes[group]])
        text = write_set(members.to_list())
        if len(text) <= _LETTERS:
            names[group] = text
    alone = write_labels(values.gather(order[starts]))
    return alone.zip_with(pl.Series(sizes == 1), pl.Series(names, dtype=pl.String))
