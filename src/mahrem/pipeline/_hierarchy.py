"""Hierarchies for the columns of a table: make one, or see whether one fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, PrivacyWarning, spelled
from mahrem.pipeline._anonymize import policy_from
from mahrem.pipeline._prepare import hierarchy_of
from mahrem.pipeline._reading import reading_of
from mahrem.release import Policy, Settings
from mahrem.table import (
    Hierarchy,
    HierarchyFacts,
    Kind,
    LearntGroups,
    cut_hierarchy,
    date_hierarchy,
    group_hierarchy,
    hierarchy_facts,
    hold,
    interval_hierarchy,
    learn_hierarchies,
    mask_hierarchy,
    open_source,
    plain_hierarchy,
    prefix_hierarchy,
    read_kind,
)

__all__ = ["check_hierarchy", "make_hierarchy"]


def make_hierarchy(  # type: ignore[misc]  # learn_from is a setting of releases too; here it is any table
    source: object,
    column: Hashable,
    *,
    intervals: Sequence[float | str] | None = None,
    cuts: Sequence[Sequence[float | str]] | None = None,
    groups: Sequence[int] | None = None,
    dates: Sequence[str] | None = None,
    mask: str | None = None,
    prefix: Sequence[int] | None = None,
    auto: Hashable | None = None,
    learnt: LearntGroups | None = None,
    learn_from: object = None,
    sample: int | None = None,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    **settings: Unpack[Settings],
) -> Hierarchy:
    """Make a hierarchy over the values of one column; without a way, the one its kind suggests.

    Args:
        source: The table: a file, a frame, a database URI.
        column: The column.
        intervals: Widths of intervals, narrowest first, each dividing the next.
        cuts: For each level the points to cut at, ascending; each level keeps some of those below it.
        groups: Sizes of groups of neighbours; needs the column's order.
        dates: Periods: day, week, month, quarter, year, decade.
        mask: Replace characters by ``*`` one at a time, from the right or from the left.
        prefix: How many characters of codes to keep, longest first.
        auto: A target column: values that foretell it alike are grouped.
        learnt: How to group them.
        learn_from: Another table to learn from, best a public one; needs the column and the target.
        sample: Learn from so many rows drawn at random (``seed``).
        policy: A policy whose kinds, orders and ways of reading count.
        settings: The same, said one by one.

    Guarantees:
        - The hierarchy knows every value of the column.
        - Every value lies in the range, set or beginning each of its labels names.

    Example:
        >>> make_hierarchy(pl.DataFrame({"age": [20, 34]}), "age", intervals=[10]).rows()
        [('20', '[20, 29]', '*'), ('34', '[30, 39]', '*')]
    """
    said = policy_from(policy, settings)
    ways = {
        name: way
        for name, way in {
            "intervals": intervals,
            "cuts": cuts,
            "groups": groups,
            "dates": dates,
            "mask": mask,
            "prefix": prefix,
            "auto": auto,
        }.items()
        if way is not None
    }
    if len(ways) > 1:
        raise InvalidParameter(
            f"{' and '.join(ways)} are different ways to make a hierarchy; say one of them"
        )
    if auto is None and (learn_from is not None or sample is not None or learnt is not None):
        raise InvalidParameter(
            f"learn_from, sample and the settings of learning need a target: {spelled('auto', 'TARGET')}"
        )
    source = hold(source)
    opened = open_source(source, reading_of(said))
    name = check.column_name(column=column)
    check.columns_exist([name], opened.columns)
    values = opened.take([name])[name]
    if values.null_count() == len(values):
        raise InvalidInput(f"column={name!r} has no values; a hierarchy needs at least one")
    if auto is not None:
        learn = LearntGroups() if learnt is None else learnt
        return _learn(source, values, check.column_name(auto=auto), learn, learn_from, sample, said)
    hierarchy = _build(values, ways, said)
    unknown = hierarchy_facts(hierarchy, values).unknown_values
    if unknown:
        raise InvalidInput(
            f"column={name!r}: {unknown} different values are not in its order; "
            f"name every value in {spelled('order', {name: '…'})}"
        )
    return hierarchy


def check_hierarchy(
    given: Hierarchy | str | Path,
    source: object = None,
    column: Hashable | None = None,
    *,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    **settings: Unpack[Settings],
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
    opened = open_source(source, reading_of(policy_from(policy, settings)))
    name = check.column_name(column=column)
    check.columns_exist([name], opened.columns)
    return hierarchy_facts(tree, opened.take([name])[name])


def _build(values: pl.Series, ways: Mapping[str, Any], policy: Policy) -> Hierarchy:
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
    learn: LearntGroups,
    learn_from: object,
    sample: int | None,
    policy: Policy,
) -> Hierarchy:
    name = values.name
    if target == name:
        raise InvalidParameter(f"auto={target!r} is the column itself; groups need another column as target")
    if target in policy.quasi:
        raise InvalidParameter(
            f"auto={target!r} is a quasi-identifier; a target that is generalised too foretells nothing"
        )
    teacher = open_source(source if learn_from is None else learn_from, reading_of(policy))
    check.columns_exist([name, target], teacher.columns)
    lessons = teacher.take([name, target])
    if sample is not None:
        if check.whole(sample=sample) < 1:
            raise InvalidParameter(f"sample={sample} must be at least 1 row")
        lessons = lessons.sample(min(sample, lessons.height), seed=policy.seed)
    if learn_from is None:
        warnings.warn(
            f"the hierarchy of {name!r} is learnt from the table itself: its groups tell something of the "
            f"target's shares; learn it from public data ({spelled('learn_from')}) to avoid that",
            PrivacyWarning,
            stacklevel=3,
        )
    lessons = lessons.with_columns(_typed(lessons[name], policy))
    return learn_hierarchies(lessons, [name], target, groups=learn, leaves=_typed(values, policy).to_frame())[
        name
    ]


def _typed(values: pl.Series, policy: Policy) -> pl.Series:
    """Give numbers as such where that changes no text: then groups list them by size."""
    if policy.kind.get(values.name, Kind.NUMERIC) is not Kind.NUMERIC or values.dtype != pl.String:
        return values
    kind, read = read_kind(values, decimal=policy.decimal)
    if kind is not Kind.NUMERIC or read.dtype == pl.String:
        return values
    whole = read.cast(pl.Int64, strict=False)
    return whole if (whole.cast(pl.String) == values).all() else values
