"""Before and after, column by column: counts coarse enough that the report gives nobody away."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from mahrem.report._grid import moment_edges, number_edges
from mahrem.table import Leaves, Moments, Numbers, Words

if TYPE_CHECKING:
    from mahrem.table import Axis, Cells, Hierarchy
    from mahrem.types import Floats, Integers, Labels, Mask, Sizes

BINS = 24
WORDS = 12
_LARGEST = 1e300  # beyond it edges of bins, and differences of them, would leave the range of floats
# Edges of class sizes beyond the first few, finest first, as digits of one decade.
_LADDERS = ((1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def distribution(axis: Axis, labels: Labels, cells: Cells, *, floor: int) -> dict[str, Any]:
    """Count a quasi-identifier before and after on a few round bins.

    *Before* is the histogram of the values. *After* is what a reader of the release can know: the rows of a
    class are spread evenly over its published range (numbers, dates), over its members (sets), over the
    values between its first and last one (ordinals, codes) or over the leaves of its node (hierarchies); a
    class that shows ``*`` is spread over everything. Missing values and suppressed rows are no part of a
    bin; ``unknown`` counts them.

    Args:
        axis: The column and where each row lies on it.
        labels: Class of each row; -1 = suppressed.
        cells: What each class shows in this column.
        floor: The smallest count that may be shown, usually k.

    Guarantees:
        - Every count of rows is 0 or at least ``floor``; what :func:`guard` hid is in ``hidden``.
        - A value held by fewer than ``floor`` rows is not named; it counts under ``other``.
        - Edges are round and follow the published ranges, not the data.
        - Bins, ``unknown`` and ``hidden`` add up to all rows, before and after.

    Returns:
        ``kind`` with ``edges`` (numeric, date) or ``labels`` (words; ``other`` last, as None), the lists
        ``before`` and ``after``, and ``unknown``, ``hidden`` and ``small`` (places of hidden bins) as pairs
        before, after. Empty where nothing is published, or numbers beyond 1e300.
    """
    shown = _shown(labels, cells)
    match axis.domain:
        case Numbers() | Moments():
            return _ranges(axis, labels, cells, shown, floor)
        case Words() | Leaves():
            return _words(axis, labels, shown, floor, cells.ncp)


def guard(counts: Floats, floor: int) -> Mask:
    """Say which counts must not be shown: the small ones, and the next smallest until they hide in a crowd.

    Guarantees:
        - No count between 0 and ``floor`` (both excluded) is shown.
        - What is hidden adds up to ``floor`` at least or to everything: the total gives no small count away.

    Example:
        >>> guard(np.array([0, 2, 40, 9]), 5).tolist()
        [False, True, False, True]
    """
    hidden = (counts > 0) & (counts < floor)
    rest = float(counts[hidden].sum())
    for place in np.argsort(counts, kind="stable"):
        if not 0 < rest < floor:
            break
        if counts[place] >= floor:
            hidden[place] = True
            rest += float(counts[place])
    return hidden


def class_size_bins(sizes: Sizes) -> list[dict[str, int]]:
    """Count classes and rows by class size on at most 24 bins; ``from`` and ``to`` both lie inside.

    Example:
        >>> class_size_bins(np.array([5, 5, 7]))[0]
        {'from': 5, 'to': 5, 'classes': 2, 'rows': 10}
    """
    present = np.asarray(sizes)[np.asarray(sizes) > 0]
    if not len(present):
        return []
    edges = _size_edges(int(present.min()), int(present.max()))
    place = np.searchsorted(edges, present, side="right") - 1
    classes = np.bincount(place, minlength=len(edges) - 1)
    rows = np.zeros(len(edges) - 1, dtype=np.int64)
    np.add.at(rows, place, present)
    return [
        {"from": int(edges[i]), "to": int(edges[i + 1] - 1), "classes": int(classes[i]), "rows": int(rows[i])}
        for i in range(len(edges) - 1)
    ]


def _size_edges(low: int, high: int) -> Integers:
    if high - low < BINS:
        return np.arange(low, high + 2)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high + 1)) + 1)
    for digits in _LADDERS:
        steps = np.unique([round(digit * 10**power) for power in decades for digit in digits])
        first, last = (
            np.searchsorted(steps, low, side="right") - 1,
            np.searchsorted(steps, high, side="right"),
        )
        if last - first <= BINS:
            break
    return np.asarray(np.maximum(steps[first : last + 1], low), dtype=np.int64)


class _Shown(NamedTuple):
    """Which classes say something, and how many rows they hold."""

    sizes: Floats  # (c,)
    speaks: Mask  # (c,)
    stars: float  # rows of classes that show "*"


def _shown(labels: Labels, cells: Cells) -> _Shown:
    suppressed = np.asarray(cells.suppressed)
    sizes = np.bincount(labels[labels >= 0], minlength=len(suppressed)).astype(np.float64)
    speaks = ~suppressed & cells.text.is_not_null().to_numpy()
    return _Shown(sizes, speaks, float(sizes[suppressed].sum()))


def _ranges(axis: Axis, labels: Labels, cells: Cells, shown: _Shown, floor: int) -> dict[str, Any]:
    low, high = _ends(axis, labels, cells)
    speaks = shown.speaks & ~np.isnan(low) & ~np.isnan(high)
    ends = np.concatenate((low[speaks], high[speaks]))
    ends = ends[np.isfinite(ends)]
    if not len(ends) or np.abs(ends).max() > _LARGEST:
        return {}
    domain = axis.domain
    if isinstance(domain, Moments):
        edges, text = moment_edges(ends.min(), ends.max(), unit=domain.unit)
        names: dict[str, Any] = {"kind": "date", "edges": text}
        width = 1.0
    else:
        whole = isinstance(domain, Numbers) and domain.whole and bool(np.all(ends == np.floor(ends)))
        edges = number_edges(float(ends.min()), float(ends.max()), whole=whole)
        names = {"kind": "numeric", "edges": [float(f"{edge:.12g}") for edge in edges]}
        width = 1.0 if whole else 0.0
    values = axis.positions[~np.isnan(axis.positions)]
    # Rows beyond the published range were suppressed; the outer bins take them, however far off they are.
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    before = np.bincount(place, minlength=len(edges) - 1).astype(np.float64)
    after = _spread(edges, low[speaks], high[speaks] + width, shown.sizes[speaks])
    after += shown.stars * np.diff(edges) / (edges[-1] - edges[0])
    gone = float(len(labels) - shown.sizes[speaks].sum() - shown.stars)
    return {**names, **_counts(before, after, (float(len(labels) - len(values)), gone), floor)}


def _ends(axis: Axis, labels: Labels, cells: Cells) -> tuple[Floats, Floats]:
    """Give the published range of each class on the axis; its own values where cells carry no ends."""
    if cells.low is not None and cells.high is not None:
        unit = axis.domain.unit if isinstance(axis.domain, Moments) else None
        return _positions(cells.low, unit), _positions(cells.high, unit)
    return _extent(axis, labels, len(cells.suppressed))


def _positions(ends: pl.Series, unit: str | None) -> Floats:
    if ends.dtype.is_temporal():
        ends = ends.cast(pl.Date if unit == "D" else pl.Datetime("us")).to_physical()
    return ends.cast(pl.Float64).fill_null(math.nan).to_numpy()


def _extent(axis: Axis, labels: Labels, classes: int) -> tuple[Floats, Floats]:
    known = (labels >= 0) & ~np.isnan(axis.positions)
    low, high = np.full(classes, np.inf), np.full(classes, -np.inf)
    np.minimum.at(low, labels[known], axis.positions[known])
    np.maximum.at(high, labels[known], axis.positions[known])
    empty = low > high
    low[empty], high[empty] = np.nan, np.nan
    return low, high


def _spread(edges: Floats, low: Floats, high: Floats, sizes: Floats) -> Floats:
    """Spread each class's rows evenly over ``[low, high)``; a range of no width is a point."""
    start, stop = np.clip(low, edges[0], edges[-1]), np.clip(high, edges[0], edges[-1])
    width = stop - start
    wide = width > 0
    # Mass below an edge is a sum of clipped ramps: one pass over the classes for each of the few edges.
    density = sizes[wide] / width[wide]
    below = np.array([np.sum(density * np.clip(edge - start[wide], 0.0, width[wide])) for edge in edges])
    place = np.clip(np.searchsorted(edges, start[~wide], side="right") - 1, 0, len(edges) - 2)
    return np.diff(below) + np.bincount(place, weights=sizes[~wide], minlength=len(edges) - 1)


def _words(axis: Axis, labels: Labels, shown: _Shown, floor: int, ncp: Floats) -> dict[str, Any]:
    if not shown.speaks.any():
        return {}
    group, names = _groups(axis)
    known = ~np.isnan(axis.positions)
    leaf_before = np.bincount(axis.positions[known].astype(np.int64), minlength=len(group)).astype(np.float64)
    leaf_after, placed = _leaves_after(axis, labels, shown, len(group), ncp)
    before = np.bincount(group, weights=leaf_before, minlength=len(names))
    after = np.bincount(group, weights=leaf_after, minlength=len(names))
    order = np.argsort(-before, kind="stable")[:WORDS]
    kept = order[before[order] >= floor]
    unknown = float(np.sum(~known))
    while (
        len(kept) and 0 < before.sum() - before[kept].sum() < floor
    ):  # "other" must not be a small count either
        kept = kept[:-1]
    rest = [max(float(side.sum() - side[kept].sum()), 0.0) for side in (before, after)]
    counts = _counts(
        np.append(before[kept], rest[0]),
        np.append(after[kept], rest[1]),
        (unknown, len(labels) - placed),
        floor,
    )
    return {"kind": "words", "labels": [*(names[place] for place in kept), None], **counts}


def _groups(axis: Axis) -> tuple[Integers, list[str]]:
    """Put values into at most a dozen families where the column has any: common beginnings or nodes."""
    domain = axis.domain
    if isinstance(domain, Leaves):
        tree = domain.hierarchy
        levels = [level for level in range(len(tree.labels)) if len(tree.labels[level]) <= WORDS]
        level = levels[0] if levels and len(tree.labels[levels[0]]) > 1 else 0
        return np.asarray(tree.nodes[level], dtype=np.int64), list(tree.labels[level])
    if isinstance(domain, Words):
        words = pl.Series(list(domain.labels), dtype=pl.String)
        if not domain.prefixes or len(words) <= WORDS:
            return np.arange(len(words)), list(domain.labels)
        lengths = range(int(np.asarray(words.str.len_chars()).max()), 0, -1)
        cut = next((n for n in lengths if words.str.slice(0, n).n_unique() <= WORDS), 1)
        begins = words.str.slice(0, cut)
        names = begins.unique(maintain_order=True)
        place = begins.to_frame("name").join(
            names.to_frame("name").with_row_index(), on="name", maintain_order="left"
        )
        return place["index"].to_numpy().astype(np.int64), [f"{name}…" for name in names]
    return np.zeros(0, dtype=np.int64), []


def _leaves_after(
    axis: Axis, labels: Labels, shown: _Shown, leaves: int, ncp: Floats
) -> tuple[Floats, float]:
    """Spread each class's rows over the values its cell stands for; also say how many rows were spread."""
    classes = len(shown.sizes)
    known = (labels >= 0) & ~np.isnan(axis.positions)
    known[known] = shown.speaks[labels[known]]
    sizes = np.bincount(labels[known], minlength=classes).astype(np.float64)
    stars = shown.stars / max(leaves, 1)
    domain = axis.domain
    if isinstance(domain, Words) and not domain.ordered and not domain.prefixes:
        pairs = pl.Series(labels[known] * leaves + axis.positions[known].astype(np.int64)).unique().to_numpy()
        owner, member = np.divmod(pairs, max(leaves, 1))
        share = sizes[owner] / np.bincount(owner, minlength=classes)[owner]
        spread = np.bincount(member, weights=share, minlength=leaves)
        return np.asarray(spread + stars, dtype=np.float64), float(sizes.sum()) + shown.stars
    low, high = _extent(axis, labels, classes)
    full = sizes > 0
    first, last = low[full].astype(np.int64), high[full].astype(np.int64)
    if isinstance(domain, Leaves):
        first, last = _under_node(domain.hierarchy, first, ncp[full])
    share = sizes[full] / (last - first + 1)
    steps = np.bincount(first, weights=share, minlength=leaves + 1)
    steps -= np.bincount(last + 1, weights=share, minlength=leaves + 1)
    return np.maximum(np.cumsum(steps)[:leaves], 0.0) + stars, float(sizes.sum()) + shown.stars


def _under_node(tree: Hierarchy, leaf: Integers, ncp: Floats) -> tuple[Integers, Integers]:
    """Give the first and last leaf under the node that loses so much: the node a class shows."""
    covered = np.rint(ncp * tree.leaves)
    first, last = leaf, leaf
    for level in range(tree.levels - 1, -1, -1):
        node = tree.nodes[level][leaf]
        fits = tree.leaf_counts[level][node] >= covered  # a lower one that does, too, is the better name
        first = np.where(fits, np.searchsorted(tree.nodes[level], node), first)
        last = np.where(fits, np.searchsorted(tree.nodes[level], node, side="right") - 1, last)
    return first, last


def _counts(before: Floats, after: Floats, unknown: tuple[float, float], floor: int) -> dict[str, Any]:
    """Put both sides together, hiding small counts; ``unknown`` is guarded like a bin."""
    sides = []
    for counts, missing in zip((before, after), unknown, strict=True):
        everything = np.append(np.round(counts, 1), missing)
        hidden = guard(everything, floor)
        places = [int(place) for place in np.flatnonzero(hidden[:-1])]
        sides.append((np.where(hidden, 0.0, everything), float(everything[hidden].sum()), places))
    (first, first_hidden, first_places), (second, second_hidden, second_places) = sides
    return {
        "before": [int(count) for count in first[:-1]],
        "after": [float(count) for count in second[:-1]],
        "unknown": [int(first[-1]), int(second[-1])],
        "hidden": [int(first_hidden), round(second_hidden, 1)],
        "small": [first_places, second_places],
        "floor": floor,
    }
