"""Builders of hierarchies: say the levels, get the tree over the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.table.cells import EXACT, NumberGrid, as_text, moments_of_text, numbers_of_text, whole_numbers
from mahrem.table.hierarchies._hierarchy import Hierarchy
from mahrem.table.hierarchies._ladders import (
    TRUNCATE,
    build_tree,
    cut_ladder,
    group_ladder,
    moment_ladder,
    number_ladder,
    prefix_ladder,
    suffix_ladder,
)
from mahrem.types import Floats

_FINEST = 1e-300  # a finer step would leave the range of normal floats


def interval_hierarchy(
    values: pl.Series, widths: Sequence[float | str], *, decimal: str | None = None
) -> Hierarchy:
    """Put numbers into intervals that begin at multiples of each width.

    Args:
        values: The column, typed or as text.
        widths: One for each level, narrowest first; each must divide the next.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - Every number lies in the interval its label names, both ends inside.
        - Every level is a coarsening of the one below it.

    Example:
        >>> interval_hierarchy(pl.Series("age", [20, 34]), [5, 10]).rows()
        [('20', '[20, 24]', '[20, 29]', '*'), ('34', '[30, 34]', '[30, 39]', '*')]
    """
    numbers = [_decimal("intervals", width) for width in widths]
    _refuse_none("intervals", numbers)
    for narrow, wide in pairwise(numbers):
        if wide <= narrow or wide % narrow:
            raise InvalidParameter(
                f"intervals={wide} must be a multiple of {narrow}, the width below it; "
                "else an interval would lie in two wider ones"
            )
    leaves, positions = number_leaves(values, decimal)
    largest = float(np.abs(positions).max(initial=0))
    return build_tree(leaves, number_ladder(positions, [_grid(number, largest) for number in numbers]))


def cut_hierarchy(
    values: pl.Series, cuts: Sequence[Sequence[float | str]], *, decimal: str | None = None
) -> Hierarchy:
    """Cut numbers at the given points; a number on a cut belongs to the interval above it.

    Args:
        values: The column, typed or as text.
        cuts: For each level its cut points, ascending; those of a level must also be cuts of the one below.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - Every number lies in the interval its label names, both ends inside; the outer ones are open.

    Example:
        >>> cut_hierarchy(pl.Series("age", [17, 18, 70]), [[18, 65]]).rows()
        [('17', '[-inf, 17]', '*'), ('18', '[18, 64]', '*'), ('70', '[65, inf]', '*')]
    """
    _refuse_none("cuts", cuts)
    levels = [[_decimal("cuts", cut, positive=False) for cut in level] for level in cuts]
    for level in levels:
        _refuse_none("cuts", level)
        if any(after <= before for before, after in pairwise(level)):
            raise InvalidParameter("cuts must ascend: 18,30,65")
    for fine, coarse in pairwise(levels):
        if len(coarse) >= len(fine) or not set(coarse) <= set(fine):
            raise InvalidParameter(
                "cuts of a level must be some of the cuts of the level below it, not all: 18,30,65/30"
            )
    leaves, positions = number_leaves(values, decimal)
    return build_tree(leaves, cut_ladder(positions, levels))


def group_hierarchy(order: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
    """Put neighbours of a declared order into groups, published as sets.

    Args:
        order: Every value, lowest first.
        sizes: How many values a group holds, one for each level; each must divide the next.

    Guarantees:
        - A group holds neighbours only, and its label names exactly its members.

    Example:
        >>> group_hierarchy(["low", "mid", "high"], [2]).rows()
        [('low', '{low, mid}', '*'), ('mid', '{low, mid}', '*'), ('high', 'high', '*')]
    """
    _refuse_none("groups", sizes)
    for size in sizes:
        if check.whole(groups=size) < 2:
            raise InvalidParameter(f"groups={size} must be at least 2 values")
    for small, large in pairwise(sizes):
        if large <= small or large % small:
            raise InvalidParameter(f"groups={large} must be a multiple of {small}, the size below it")
    names = [name.strip() for name in order]
    if len(set(names)) < len(names):
        raise InvalidInput("order names a value twice; each value needs one place")
    return build_tree(pl.Series(names, dtype=pl.String), group_ladder(names, sizes))


def date_hierarchy(values: pl.Series, units: Sequence[str]) -> Hierarchy:
    """Put days and moments into weeks, months, quarters, years and decades.

    Args:
        values: The column, typed or as text.
        units: ``day``, ``week``, ``month``, ``quarter``, ``year``, ``decade``, narrowest first. A week
            can lie in two months and in two years, so nothing but the root may follow it.

    Guarantees:
        - Every day lies in the period its label names, first and last day inside.

    Example:
        >>> date_hierarchy(pl.Series("born", ["1994-05-03"]), ["month", "decade"]).rows()
        [('1994-05-03', '[1994-05-01, 1994-05-31]', '[1990-01-01, 1999-12-31]', '*')]
    """
    _refuse_none("dates", units)
    ranks = [list(TRUNCATE).index(check.one_of(tuple(TRUNCATE), dates=unit)) for unit in units]
    if any(after <= before for before, after in pairwise(ranks)):
        raise InvalidParameter(f"dates={','.join(units)} must climb: {', '.join(TRUNCATE)}")
    if "week" in units[:-1]:
        raise InvalidParameter(
            f"dates={','.join(units)}: a week can lie in two of the next {units[units.index('week') + 1]}s; "
            "take week last, or leave it out"
        )
    leaves, moments = moment_leaves(values)
    climbed = [unit for unit in units if unit != "day" or moments.dtype != pl.Date]
    return build_tree(leaves, moment_ladder(moments, climbed))


def mask_hierarchy(values: pl.Series, side: str = "right") -> Hierarchy:
    """Replace one more character by ``*`` at each level, from the right (ZIP codes) or from the left.

    Codes are compared by place: a code shorter than the longest one stays as it is until its own characters
    are reached.

    Guarantees:
        - A label shows the characters all its codes share; nothing else of them.

    References:
        Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002
        (its domain generalization hierarchy of ZIP codes).

    Example:
        >>> mask_hierarchy(pl.Series("zip", ["061", "034"])).rows()
        [('034', '03*', '0**', '*'), ('061', '06*', '0**', '*')]
    """
    check.one_of(("right", "left"), mask=side)
    codes = distinct_text(values)
    lengths = range(_longest(codes) - 1, 0, -1)
    if side == "right":
        return build_tree(codes, prefix_ladder(codes, lengths))
    mirrored = codes.gather(codes.str.reverse().arg_sort())
    return build_tree(mirrored, suffix_ladder(mirrored, lengths))


def prefix_hierarchy(values: pl.Series, lengths: Sequence[int]) -> Hierarchy:
    """Keep ever shorter beginnings of codes (ICD chapters and blocks, ZIP regions).

    Args:
        values: The column of codes.
        lengths: How many characters each level keeps, longest first.

    Example:
        >>> prefix_hierarchy(pl.Series("icd", ["E11.9", "E10.1"]), [3, 1]).rows()[0]
        ('E10.1', 'E10**', 'E****', '*')
    """
    _refuse_none("prefix", lengths)
    for length in lengths:
        if check.whole(prefix=length) < 1:
            raise InvalidParameter(f"prefix={length} must keep at least 1 character")
    if any(after >= before for before, after in pairwise(lengths)):
        raise InvalidParameter(f"prefix={','.join(map(str, lengths))} must descend: 3,2,1")
    codes = distinct_text(values)
    longest = _longest(codes)
    if len(codes) and lengths[0] >= longest:
        raise InvalidParameter(
            f"prefix={lengths[0]} keeps every code as it is: the longest one has {longest} characters"
        )
    return build_tree(codes, prefix_ladder(codes, lengths))


def distinct_text(values: pl.Series) -> pl.Series:
    """Give the different values of a column as text, sorted; none is missing."""
    distinct = whole_numbers(values).unique().drop_nulls()
    if distinct.dtype.is_numeric():
        return distinct.sort().cast(pl.String)
    return as_text(distinct).unique().sort()


def number_leaves(values: pl.Series, decimal: str | None) -> tuple[pl.Series, Floats]:
    """Give the different numbers of a column, as they are written and as numbers, in their order."""
    text = distinct_text(values).str.strip_chars().unique()
    numbers = numbers_of_text(text, decimal=decimal)
    unread = len(text) - int(numbers.is_finite().sum())
    if unread:
        raise InvalidInput(
            f"column={values.name!r}: {unread} of {len(text)} distinct values are not finite numbers; "
            f"intervals need numbers (pass {spelled('null', 'TOKEN')} for missing values)"
        )
    order = numbers.arg_sort()
    return text.gather(order), numbers.gather(order).to_numpy() + 0.0  # no negative zero


def moment_leaves(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Give the different days or moments of a column, as they are written and typed, in their order."""
    if values.dtype == pl.Datetime:
        typed = values.unique().drop_nulls().sort()
        return as_text(typed), typed.dt.cast_time_unit("us")
    text = distinct_text(values).str.strip_chars().unique()
    moments = moments_of_text(text)
    if moments.null_count():
        raise InvalidInput(
            f"column={values.name!r}: {moments.null_count()} of {len(text)} distinct values are not ISO or "
            f"DD.MM.YYYY dates; pass {spelled('null', 'TOKEN')} for missing values"
        )
    order = moments.arg_sort()
    return text.gather(order), moments.gather(order)


def _decimal(option: str, given: float | str, *, positive: bool = True) -> Decimal:
    try:
        number = Decimal(str(given))
    except InvalidOperation as error:
        raise InvalidParameter(f"{option}={given!r} must be a number") from error
    if not number.is_finite() or (positive and not _FINEST <= float(number) <= 1 / _FINEST):
        raise InvalidParameter(
            f"{option}={given!r} must be a finite number" + (" above 0" if positive else "")
        )
    return number


def _grid(width: Decimal, largest: float) -> NumberGrid:
    _, digits, exponent = width.normalize().as_tuple()
    grid = NumberGrid(int("".join(map(str, digits))), int(exponent))
    if largest / grid.step > EXACT / 2 or (largest / grid.step + 2) * grid.mantissa > 2**62:
        raise InvalidParameter(f"intervals={width} is too narrow for numbers as large as this column's")
    return grid


def _longest(codes: pl.Series) -> int:
    return max(codes.str.len_chars().to_list(), default=0)


def _refuse_none(option: str, levels: Sequence[object]) -> None:
    if not levels:
        raise InvalidParameter(f"{option} needs at least one level")
