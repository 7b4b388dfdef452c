"""Hierarchies for the columns of a table: make one, or see whether one fits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, in_our_words, spelled
from mahrem.release.decisions import (
    GivenPolicy,
    Policy,
    ReleaseKeywords,
    hierarchy_of,
    policy_from,
    reading_of,
)
from mahrem.table import Hierarchy, Kind, Reading, hold, open_source, read_kind
from mahrem.table.columns import plain_hierarchy
from mahrem.table.hierarchies import (
    HierarchyFacts,
    LearntGroups,
    cut_hierarchy,
    date_hierarchy,
    group_hierarchy,
    hierarchy_facts,
    interval_hierarchy,
    learn_hierarchies,
    mask_hierarchy,
    prefix_hierarchy,
)
from mahrem.words import Note, warn_of


class HierarchySettings(ReleaseKeywords, total=False):
    """What may be said to :func:`make_hierarchy`: a way, how to learn groups, and how the table is read."""

    intervals: Sequence[float | str] | None
    cuts: Sequence[Sequence[float | str]] | None
    groups: Sequence[int] | None
    dates: Sequence[str] | None
    mask: str | None
    prefix: Sequence[int] | None  # type: ignore[misc] # here a way, in a release a column and its length
    auto: Hashable | None
    learnt: LearntGroups | None
    sample: int | None


_WAYS = ("intervals", "cuts", "groups", "dates", "mask", "prefix", "auto")
_LEARNING = ("learnt", "learn_from", "sample")


@in_our_words
def make_hierarchy(
    source: object,
    column: Hashable,
    *,
    policy: GivenPolicy = None,
    **settings: Unpack[HierarchySettings],
) -> Hierarchy:
    """Make a hierarchy over the values of one column; without a way, the one its kind suggests.

    Args:
        source: The table: a file, a frame, a database URI.
        column: The column.
        policy: A policy whose kinds, orders and ways of reading count.
        **settings: At most one way: ``intervals`` (widths, narrowest first, each dividing the next), ``cuts``
            (for each level the points to cut at, ascending; each level keeps some of those below it),
            ``groups`` (sizes of groups of neighbours; needs the column's order), ``dates`` (periods: day,
            week, month, quarter, year, decade), ``mask`` (replace characters by ``*`` one at a time, from the
            right or from the left), ``prefix`` (how many characters of codes to keep, longest first) or
            ``auto`` (a target column: values that foretell it alike are grouped). With ``auto``: ``learnt``
            (how to group), ``learn_from`` (another table to learn from, best a public one; needs the column
            and the target) and ``sample`` (learn from so many rows drawn at random, ``seed``). The rest as in
            a policy.

    Guarantees:
        - The hierarchy knows every value of the column.
        - Every value lies in the range, set or beginning each of its labels names.

    Example:
        >>> make_hierarchy(pl.DataFrame({"age": [20, 34]}), "age", intervals=[10]).rows()
        [('20', '[20, 29]', '*'), ('34', '[30, 39]', '*')]
    """
    given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    ways = {name: given.pop(name) for name in _WAYS if name in given}
    learning = {name: given.pop(name) for name in _LEARNING if name in given}
    policy = policy_from(policy, given)
    if len(ways) > 1:
        raise InvalidParameter(
            f"{' and '.join(ways)} are different ways to make a hierarchy; say one of them"
        )
    if "auto" not in ways and learning:
        raise InvalidParameter(
            f"learn_from, sample and the settings of learning need a target: {spelled('auto', 'TARGET')}"
        )
    source = hold(source)
    opened = open_source(source, _reading(policy))
    name = check.column_name(column=column)
    check.columns_exist([name], opened.columns)
    values = opened.take([name])[name]
    if values.null_count() == len(values):
        raise InvalidInput(f"column={name!r} has no values; a hierarchy needs at least one")
    if "auto" in ways:
        return _learn(source, values, check.column_name(auto=ways["auto"]), policy, **learning)
    hierarchy = _build(values, ways, policy)
    unknown = hierarchy_facts(hierarchy, values).unknown_values
    if unknown:
        raise InvalidInput(
            f"column={name!r}: {unknown} different values are not in its order; "
            f"name every value in {spelled('order', {name: '…'})}"
        )
    return hierarchy


@in_our_words
def check_hierarchy(
    given: Hierarchy | str | Path,
    source: object = None,
    column: Hashable | None = None,
    *,
    policy: GivenPolicy = None,
    **settings: Unpack[ReleaseKeywords],
) -> HierarchyFacts:
    """Say how large a hierarchy is, whether its labels are true, and whether it knows a column's values.

    Args:
        given: The hierarchy or its file.
        source: The table it is for.
        column: The column it is for.
        policy: A policy that says how the table is read.
        settings: The same, said one by one.
    """
    tree = hierarchy_of("given", given)
    if source is None and column is None:
        return hierarchy_facts(tree)
    if source is None or column is None:
        raise InvalidParameter("data and column belong together: say both or none")
    opened = open_source(source, _reading(policy_from(policy, settings)))
    name = check.column_name(column=column)
    check.columns_exist([name], opened.columns)
    return hierarchy_facts(tree, opened.take([name])[name])


def _reading(policy: Policy) -> Reading:
    """Give how a table is read whose values a hierarchy lists: as they are written."""
    return replace(reading_of(policy), spelling=None)


def _build(values: pl.Series, ways: Mapping[str, object], policy: Policy) -> Hierarchy:
    name, decimal = values.name, policy.decimal
    order = policy.order.get(name)
    builders: dict[str, Callable[[Any], Hierarchy]] = {
        "intervals": lambda widths: interval_hierarchy(values, widths, decimal=decimal),
        "cuts": lambda cuts: cut_hierarchy(values, cuts, decimal=decimal),
        "groups": lambda sizes: group_hierarchy(order or (), sizes),
        "dates": lambda units: date_hierarchy(values, units),
        "mask": lambda side: mask_hierarchy(values, side),
        "prefix": lambda lengths: prefix_hierarchy(values, lengths),
    }
    if "groups" in ways and order is None:
        raise InvalidParameter(
            f"groups needs the order of the values: {spelled('order', {name: 'lowest,…,highest'})}"
        )
    for way, levels in ways.items():
        return builders[way](levels)
    kind = policy.kind.get(name) or (Kind.ORDINAL if order else read_kind(values, decimal=decimal)[0])
    if kind is Kind.ORDINAL and order is None:
        raise InvalidParameter(
            f"kind.{name}='ordinal' needs its order: {spelled('order', {name: 'lowest,…,highest'})}"
        )
    return plain_hierarchy(values, kind, order=order or (), decimal=decimal)


def _learn(
    source: object,
    values: pl.Series,
    target: str,
    policy: Policy,
    *,
    learnt: LearntGroups | None = None,
    learn_from: object = None,
    sample: int | None = None,
) -> Hierarchy:
    name = values.name
    if target == name:
        raise InvalidParameter(f"auto={target!r} is the column itself; groups need another column as target")
    if target in policy.quasi:
        raise InvalidParameter(
            f"auto={target!r} is a quasi-identifier; a target that is generalised too foretells nothing"
        )
    teacher = open_source(source if learn_from is None else learn_from, _reading(policy))
    check.columns_exist([name, target], teacher.columns)
    lessons = teacher.take([name, target])
    if sample is not None:
        if check.whole(sample=sample) < 1:
            raise InvalidParameter(f"sample={sample} must be at least 1 row")
        lessons = lessons.sample(min(sample, lessons.height), seed=policy.seed)
    if learn_from is None:
        about = {"column": name, "setting": spelled("learn_from")}
        warn_of(Note("warning.hierarchy_learnt", about), stacklevel=4)
    lessons = lessons.with_columns(_typed(lessons[name], policy))
    leaves = _typed(values, policy).to_frame()
    return learn_hierarchies(lessons, [name], target, groups=learnt or LearntGroups(), leaves=leaves)[name]


def _typed(values: pl.Series, policy: Policy) -> pl.Series:
    """Give numbers as such where that changes no text: then groups list them by size."""
    if policy.kind.get(values.name, Kind.NUMERIC) is not Kind.NUMERIC or values.dtype != pl.String:
        return values
    kind, read = read_kind(values, decimal=policy.decimal)
    if kind is not Kind.NUMERIC or read.dtype == pl.String:
        return values
    whole = read.cast(pl.Int64, strict=False)
    return whole if (whole.cast(pl.String) == values).all() else values
