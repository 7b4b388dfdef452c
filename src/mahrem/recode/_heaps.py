"""Where values are heaped on round numbers, a grid of round lines would publish them as extremes."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.recode._number_grid import number_grid
from mahrem.table import Axis, Moments, Numbers
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
    known = axis.positions[~np.isnan(axis.positions)]
    if len(known) < _ENOUGH:
        return False
    match axis.domain:
        case Numbers() as domain:
            step = number_grid(domain).step
            lines = known / step
            on = float((np.abs(lines - np.rint(lines)) <= _ROUNDED + _ULPS * np.abs(lines)).mean())
            chance = min((1.0 if domain.whole else _resolution(known)) / step, 1.0)
        case Moments() as domain:
            from mahrem.recode._moment_grid import moment_step, snap_moments

            word = moment_step(domain)
            if word in {"day", "minute"}:
                return False
            places, rows = _counted(known)  # calendars are slow, and most days come again
            typed = domain.typed(pl.Series(places))
            ends = snap_moments(typed, typed, word)
            on = max(float(rows[(end == typed).to_numpy()].sum()) for end in ends) / len(known)
            ticks = places * (86_400_000_000 if domain.unit == "D" else 1)
            unit = next(unit for unit in _UNITS if not np.remainder(ticks, unit).any())
            chance = min(unit / _STEPS.get(word, _YEAR), 1.0)
        case _:
            return False
    slack = max(chance / 4, 3 * np.sqrt(chance * (1 - chance) / len(known)), 0.02)
    return bool(on > chance + slack)


def _counted(values: Floats) -> tuple[Floats, Sizes]:
    """Give every value once, and how often it comes."""
    counted = pl.DataFrame({"value": values}).group_by("value").len("rows")
    return counted["value"].to_numpy(), counted["rows"].cast(pl.Int64).to_numpy()


def _resolution(values: Floats) -> float:
    """Give the last decimal that all values are written with; 0 where they have more than a few."""
    if np.abs(values).max() >= _EXACT:
        return 0.0
    for decimals in range(_DECIMALS + 1):
        if all(_whole(part * 10.0**decimals) for part in (values[:_GLANCE], values)):
            return float(10.0**-decimals)
    return 0.0


def _whole(values: Floats) -> bool:
    return bool(np.abs(values - np.rint(values)).max() <= _ROUNDED * max(1.0, float(np.abs(values).max())))
