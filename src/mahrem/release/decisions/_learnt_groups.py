"""Automatic generalisation: groups learnt against a target, and the best of them for every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem import check
from mahrem.arrays import cutting
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.metrics import measure_entropy
from mahrem.recode import Nodes
from mahrem.release.decisions._columns import reading_beside
from mahrem.release.decisions._policy import Policy
from mahrem.table import Axis, Column, Leaves, Moments, Numbers, Source, Words, encode_quasi, open_source
from mahrem.table.hierarchies import LearntGroups, Target, number_target
from mahrem.threads import in_parallel
from mahrem.types import Integers, Labels, Mask
from mahrem.words import Note, warn_of

DEFAULT_RHO = (5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True)
class Automatic:
    """For every column without a hierarchy the groupings it may show, and the target they were learnt for."""

    axes: Mapping[str, tuple[Axis, ...]] = field(repr=False)  # the same rows on each tree; all widths first
    target: Integers = field(repr=False)  # (rows,) -1 = missing, and for the others of a population

    def climbed(self, axes: Sequence[Axis]) -> tuple[Axis, ...]:
        """Put columns on the trees of all widths, for methods that climb trees themselves."""
        return tuple(self.axes[axis.name][0] if axis.name in self.axes else axis for axis in axes)


def learn_groups(
    source: Source,
    rows: Mask,
    axes: Sequence[Axis],
    columns: Mapping[str, Column],
    target: str,
    policy: Policy,
) -> Automatic:
    """Learn the groupings a policy asks for.

    A grouping is learnt with all widths at once (cut at each other so that they nest), and with every chain
    of widths that nest by themselves.

    Args:
        source: The table.
        rows: Which of its rows take part.
        axes: The quasi-identifiers on axes of their own, others of a population after the table's rows.
        columns: What they are.
        target: The column that groups should foretell.
        policy: Names the widths, and what to learn from.
    """
    goal, taught = _teacher(source, rows, columns, target, policy)
    grouped = [axis for axis in axes if not isinstance(axis.domain, Leaves)]
    chains = _chains(policy.rho or DEFAULT_RHO)

    def learn(axis: Axis) -> tuple[Axis, ...]:
        own = _typed(axis, axis)
        lessons = own[: len(goal.codes)] if taught is None else _typed(taught[axis.name], axis)
        trees: list[Axis] = []
        for chain in chains:
            groups = LearntGroups(
                rho=chain, smoothing=policy.smoothing or 0.0, minimum_count=policy.minimum_count or 1
            )
            on_tree = _on(axis, own, groups, lessons, goal)
            if all(on_tree.domain != other.domain for other in trees):
                trees.append(on_tree)
        return tuple(trees)

    shown = _codes(source.take([target])[target].filter(pl.Series(rows)))
    padded = np.full(len(axes[0].positions), -1, np.int64)
    padded[: len(shown)] = shown
    learnt = in_parallel(learn, grouped, rows=len(shown))
    return Automatic({axis.name: grown for axis, grown in zip(grouped, learnt, strict=True)}, padded)


def best_groups(
    automatic: Automatic, axes: Sequence[Axis], labels: Labels, classes: int, published: int
) -> tuple[Axis, ...]:
    """Choose for every column, given the classes, the grouping its cells are taken from.

    Least suppression comes first, then the least height climbed relative to the tree, then the least entropy
    loss: all three over rows.

    Args:
        automatic: The groupings.
        axes: The columns on axes of their own.
        labels: Class of each row; -1 = suppressed.
        classes: How many classes there are.
        published: So many rows, the first ones, are published.
    """

    def choose(axis: Axis) -> Axis:
        trees = automatic.axes.get(axis.name, (axis,))
        if len(trees) == 1:
            return trees[0]
        return min(trees, key=lambda tried: _cost(tried, automatic.target, labels, classes, published))

    return tuple(in_parallel(choose, axes, rows=len(labels)))


def _cost(
    axis: Axis, target: Integers, labels: Labels, classes: int, published: int
) -> tuple[int, float, float]:
    assert isinstance(axis.domain, Leaves)  # noqa: S101 - for the type checker
    tree = axis.domain.hierarchy
    cells = Nodes()(axis, labels, classes)
    shown = labels[:published]
    sizes = np.bincount(shown[shown >= 0], minlength=classes)
    low, high, _ = cutting.class_extremes(axis.positions, labels, classes)
    there = low <= high
    first, last = (np.where(there, ends, 0).astype(np.int64) for ends in (low, high))
    height, _ = tree.lowest_common(first, last)
    climbed = float((sizes * height).sum()) / max(1, int(sizes.sum()) * (tree.levels - 1))
    part = replace(axis, positions=axis.positions[:published])
    lost = 0.0
    if len(np.unique(target[target >= 0])) > 1:
        lost = measure_entropy([part], {axis.name: cells.text}, shown, target[:published]).entropy_loss
    return int(sizes[cells.suppressed].sum()), round(climbed, 12), lost


def _teacher(
    source: Source, rows: Mask, columns: Mapping[str, Column], name: str, policy: Policy
) -> tuple[Target, dict[str, Axis] | None]:
    """Give the target of the table to learn from, and that table's columns if it is another one."""
    check.columns_exist([name], source.columns)
    if name in policy.quasi:
        raise InvalidParameter(
            f"automatic={name!r} is a quasi-identifier; a target that is generalised too foretells nothing"
        )
    published = {*policy.sensitive, *policy.insensitive}
    if name not in published and (policy.rest != "insensitive" or name in policy.identifier):
        raise InvalidParameter(
            f"automatic={name!r} must be published, as sensitive or insensitive: groups tell of it"
        )
    if policy.learn_from is None:
        warn_of(Note("warning.groups_learnt", {"setting": spelled("learn_from")}), stacklevel=4)
        return number_target(source.take([name])[name].filter(pl.Series(rows))), None
    teacher = open_source(policy.learn_from, reading_beside(policy))
    grouped = [column for column in policy.quasi if columns[column].hierarchy is None]
    check.columns_exist([*grouped, name], teacher.columns)
    try:
        taught = {
            column: encode_quasi(teacher.take([column])[column], columns[column], decimal=policy.decimal)
            for column in grouped
        }
    except InvalidInput:
        raise InvalidInput(
            "learn_from has other kinds of values than the table in a quasi-identifier"
        ) from None  # what it holds is not told
    return number_target(teacher.take([name])[name]), taught


def _typed(axis: Axis, like: Axis) -> pl.Series:
    """Give the values of a column in its own type; whole numbers only where the table's are whole."""
    missing = np.isnan(axis.positions)
    held = np.where(missing, 0, axis.positions)
    keep = pl.Series(~missing)
    match axis.domain, like.domain:
        case Words(labels), _:
            codes = pl.Series(held.astype(np.int64))
            values = pl.Series(labels, dtype=pl.String).gather(codes) if labels else codes.cast(pl.String)
        case Moments() as domain, _:
            values = domain.typed(pl.Series(held))
        case _, Numbers(whole=True):
            keep &= pl.Series(held == np.floor(held)) & pl.Series(np.abs(held) < 2.0**53)
            values = pl.Series(np.where(keep.to_numpy(), held, 0).astype(np.int64))
        case _:
            values = pl.Series(held)
    nothing = pl.Series([None], dtype=values.dtype).new_from_index(0, len(values))
    return values.zip_with(keep, nothing).alias(axis.name)


def _on(axis: Axis, own: pl.Series, groups: LearntGroups, lessons: pl.Series, goal: Target) -> Axis:
    tree = groups(lessons, goal, leaves=own)
    codes = tree.codes(own.cast(pl.String)).astype(np.float64)
    return Axis(axis.name, np.where(codes < 0, np.nan, codes), Leaves(tree))


def _chains(widths: Sequence[float]) -> list[tuple[float, ...]]:
    """Give all widths together, then every longest chain of widths in which each divides the next.

    Example:
        >>> _chains([5, 10, 20, 50])
        [(5, 10, 20, 50), (5, 10, 20), (5, 10, 50)]
    """
    ordered = sorted(set(widths))
    chains: list[tuple[float, ...]] = []

    def grow(chain: tuple[float, ...]) -> None:
        beyond = [width for width in ordered if width > chain[-1] and _divides(chain[-1], width)]
        nearest = [
            width for width in beyond if not any(_divides(other, width) for other in beyond if other < width)
        ]
        if not nearest:
            chains.append(chain)
        for width in nearest:
            grow((*chain, width))

    for first in ordered:
        if not any(_divides(other, first) for other in ordered if other < first):
            grow((first,))
    return list(dict.fromkeys([tuple(ordered), *chains]))


def _divides(narrow: float, wide: float) -> bool:
    return abs(wide / narrow - round(wide / narrow)) < 1e-9


def _codes(target: pl.Series) -> Integers:
    codes: Integers = (target.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()
    return codes
