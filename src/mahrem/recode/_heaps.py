"""Where values are heaped on round numbers, a grid of round lines would publish them as extremes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.recode._number_grid import number_grid
from mahrem.table import Axis, Domain, Moments, Numbers
from mahrem.types import Floats, Sizes

_ENOUGH = 50  # values from which on a heap is told from chance
_DECIMALS = 9
_GLANCE = 1_000  # values that are looked at before all of them: most decimals are ruled out by these
_ROUNDED = 1e-9  # how far arithmetic may take a multiple off its line
_ULPS = 4 * np.finfo(np.float64).eps
_EXACT = 2.0**53  # whole numbers up to here are exact as floats
_UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1)  # of moments, in microseconds
_STEPS = {"hour": 3_600e6, "week": 7 * 86_400e6, "month": 30.4 * 86_400e6, "quarter": 91.3 * 86_400e6}
_YEAR = 365.25 * 86_400e6
_EVERY_LINE = {"day", "minute"}  # steps so fine that nothing is heaped on their lines


def heaped(axis: Axis) -> bool:
    """Say whether values lie on the lines of the grid that is chosen for them more often than by chance.

    People work 40 hours and are born on the first of January where nobody knows better: on lines at such
    values the ends of cells would be the real extremes of their classes far too often. Half a step off they
    are so less often than by chance.

    Example:
        >>> hours = np.array([40.0] * 60 + [38.0, 42.0, 7.0, 90.0] * 10)
        >>> heaped(Axis("hours", hours, Numbers(7, 90, True)))
        True
    """
    return count_heaps(axis).heaped(axis.domain)


@dataclass(frozen=True)
class HeapCount:
    """How many values lie on lines of the grid, and how finely they are written; parts of a table add up."""

    values: int = 0
    on_first: int = 0  # lines where ranges begin
    on_last: int = 0  # lines where they end
    decimals: int = 0  # that all numbers are written with; beyond the last one: none is
    unit: int = 0  # of moments, as a place in :data:`_UNITS`

    def __add__(self, other: HeapCount) -> HeapCount:
        return HeapCount(
            self.values + other.values,
            self.on_first + other.on_first,
            self.on_last + other.on_last,
            max(self.decimals, other.decimals),
            max(self.unit, other.unit),
        )

    def heaped(self, domain: Domain) -> bool:
        """Say whether more values lie on lines than by chance."""
        if self.values < _ENOUGH:
            return False
        match domain:
            case Numbers():
                finest = 1.0 if domain.whole else _finest(self.decimals)
                chance = min(finest / number_grid(domain).step, 1.0)
            case Moments():
                from mahrem.recode._moment_grid import moment_step

                word = moment_step(domain)
                if word in _EVERY_LINE:
                    return False
                chance = min(_UNITS[self.unit] / _STEPS.get(word, _YEAR), 1.0)
            case _:
                return False
        on = max(self.on_first, self.on_last) / self.values
        slack = max(chance / 4, 3 * np.sqrt(chance * (1 - chance) / self.values), 0.02)
        return bool(on > chance + slack)


def count_heaps(axis: Axis) -> HeapCount:
    """Count the values of an axis, or of some of its rows, that lie on lines of the grid of its domain."""
    known = axis.positions[~np.isnan(axis.positions)]
    match axis.domain:
        case Numbers() as domain if len(known):
            lines = known / number_grid(domain).step
            on = int((np.abs(lines - np.rint(lines)) <= _ROUNDED + _ULPS * np.abs(lines)).sum())
            return HeapCount(len(known), on, on, decimals=0 if domain.whole else _decimals(known))
        case Moments() as domain if len(known):
            return _count_moments(known, domain)
        case _:
            return HeapCount(len(known))


def _count_moments(known: Floats, domain: Moments) -> HeapCount:
    from mahrem.recode._moment_grid import moment_step, snap_moments  # only tables with dates need calendars

    word = moment_step(domain)
    if word in _EVERY_LINE:
        return HeapCount(len(known))
    places, rows = _counted(known)  # calendars are slow, and most days come again
    typed = domain.typed(pl.Series(places))
    first, last = (int(rows[(end == typed).to_numpy()].sum()) for end in snap_moments(typed, typed, word))
    ticks = places * (86_400_000_000 if domain.unit == "D" else 1)
    unit = next(place for place, unit in enumerate(_UNITS) if not np.remainder(ticks, unit).any())
    return HeapCount(len(known), first, last, unit=unit)


def _counted(values: Floats) -> tuple[Floats, Sizes]:
    """Give every value once, and how often it comes."""
    counted = pl.DataFrame({"value": values}).group_by("value").len("rows")
    return counted["value"].to_numpy(), counted["rows"].cast(pl.Int64).to_numpy()


def _decimals(values: Floats) -> int:
    """Give how many decimals all values are written with; more than a few count as one more than these."""
    if np.abs(values).max() < _EXACT:
        for decimals in range(_DECIMALS + 1):
            if all(_whole(part * 10.0**decimals) for part in (values[:_GLANCE], values)):
                return decimals
    return _DECIMALS + 1


def _finest(decimals: int) -> float:
    """Give the step of the last decimal; 0 where there are more than a few."""
    return 0.0 if decimals > _DECIMALS else float(10.0**-decimals)


def _whole(values: Floats) -> bool:
    return bool(np.abs(values - np.rint(values)).max() <= _ROUNDED * max(1.0, float(np.abs(values).max())))
