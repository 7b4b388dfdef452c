"""Edges for histograms: on the published grid, the decimal system or the calendar, never at own extremes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mahrem.types import Floats

# Steps of the calendar, finest first: NumPy's unit and how many of it.
_CALENDAR = (
    *(("m", count) for count in (1, 5, 15)),
    *(("h", count) for count in (1, 3, 6, 12)),
    *(("D", count) for count in (1, 2, 5, 10)),
    *(("M", count) for count in (1, 3, 6)),
    *(("Y", count) for count in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000)),
)


def number_edges(low: float, high: float, *, whole: bool, most: int = 24) -> Floats:
    """Give at most ``most`` equal bins that hold ``low`` and ``high``, with edges on 1, 2 or 5 · 10^p.

    Guarantees:
        - ``edges[0] <= low`` and ``high < edges[-1]``.
        - With ``whole``, edges are whole numbers.

    Example:
        >>> number_edges(18, 93, whole=True, most=10).tolist()
        [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    """
    smallest = (
        1.0 if whole else max(abs(low), abs(high), 1e-300) * 1e-9
    )  # a step the floats can still tell apart
    power = math.floor(math.log10(max((high - low) / most, smallest)))
    while True:
        for digit in (1.0, 2.0, 5.0):
            step = digit * 10.0**power
            first, last = math.floor(low / step), math.floor(high / step) + 1
            if step >= smallest and last - first <= most:
                edges: Floats = np.arange(first, last + 1, dtype=np.float64) * step
                if edges[0] <= low and high < edges[-1]:
                    return edges
        power += 1


def lattice_step(low: Floats, high: Floats, *, bands: bool = False) -> float | None:
    """Find the widest lattice that the ends of published ranges lie on; None where there is none.

    Args:
        low: First ends of ranges.
        high: Last ends.
        bands: Ranges of whole numbers end just before the next begins (``[38, 42]``, ``[43, 47]``).

    Example:
        >>> lattice_step(np.array([38.0, 48.0]), np.array([42.0, 57.0]), bands=True)
        5.0
    """
    whole = bands and bool(np.all(low == np.floor(low)) and np.all(high == np.floor(high)))
    ends = np.unique(np.concatenate([low, high + 1 if whole else high]))
    if np.abs(ends).max(initial=0.0) >= 2**53:
        return None
    for decimals in range(7):
        scaled = ends * 10.0**decimals
        if np.abs(scaled).max() < 2**53 and np.array_equal(scaled, np.rint(scaled)):
            best = int(np.gcd.reduce(np.diff(scaled.astype(np.int64))))
            return best / 10.0**decimals if best else None
    return None


def lattice_edges(low: float, high: float, step: float, *, most: int = 24, beyond: bool = False) -> Floats:
    """Give at most ``most`` equal bins from ``low`` to ``high`` or beyond it, each some steps wide.

    Example:
        >>> lattice_edges(38, 62, 5).tolist()
        [38.0, 43.0, 48.0, 53.0, 58.0, 63.0]
    """
    lines = math.floor((high - low) / step) + 1 if beyond else max(math.ceil((high - low) / step), 1)
    times = next(m * 10**p for p in range(20) for m in (1, 2, 5) if -(-lines // (m * 10**p)) <= most)
    bins = -(-lines // times)
    edges: Floats = low + np.arange(bins + 1, dtype=np.float64) * (step * times)
    return edges


def moment_edges(
    low: float, high: float, *, unit: str, most: int = 24, months: bool = False
) -> tuple[Floats, list[str]]:
    """Give at most ``most`` bins on the calendar (minutes to years), and the edges as ISO text.

    Args:
        low: First moment, in ``unit`` since 1970.
        high: Last moment.
        unit: ``D`` (days) or ``us`` (microseconds); days are never cut into hours.
        most: How many bins at most.
        months: Take no step below a month.

    Guarantees:
        - ``edges[0] <= low`` and ``high < edges[-1]``.

    Example:
        >>> moment_edges(19_000, 19_300, unit="D", most=5)[1]
        ['2022-01-01', '2022-04-01', '2022-07-01', '2022-10-01', '2023-01-01']
    """
    ends = np.array([math.floor(low), math.floor(high)], dtype=np.int64).astype(f"datetime64[{unit}]")
    for step, count in _CALENDAR:
        if (unit == "D" and step in {"m", "h"}) or (months and step not in {"M", "Y"}):
            continue
        first, last = ends.astype(f"datetime64[{step}]").astype(np.int64) // count
        if last + 1 - first <= most:
            break
    moments = (np.arange(first, last + 2) * count).astype(f"datetime64[{step}]")
    text = np.datetime_as_string(moments.astype("datetime64[m]" if step in {"m", "h"} else "datetime64[D]"))
    return moments.astype(f"datetime64[{unit}]").astype(np.int64).astype(np.float64), [
        str(edge) for edge in text
    ]
