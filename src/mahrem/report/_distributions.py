"""Before and after, column by column: counts coarse enough that the report gives nobody away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mahrem.metrics import cover_words
from mahrem.report._families import WORDS, families
from mahrem.report._grid import lattice_edges, lattice_step, moment_edges, number_edges
from mahrem.table import Axis, Cells, Leaves, Moments, Numbers, Prefix, Words, read_cell
from mahrem.table.cells import write_labels
from mahrem.types import Floats, Integers, Labels, Mask

_LARGEST = 1e300  # beyond it edges of bins, and differences of them, would leave the range of floats
_NARROWEST = 1e-290  # what is narrower is a point: shares of it leave the range of floats


def distribution(
    axis: Axis, labels: Labels, cells: Cells, *, floor: int, bands: bool = False
) -> dict[str, Any]:
    """Count a quasi-identifier before and after on a few round bins.

    *Before* is the histogram of the values of shown rows. *After* is what a reader of the release can know:
    the rows of a class are spread evenly over its published range (numbers, dates), over its members (sets,
    runs of ordinals), over the codes with its beginning or over the leaves of its node (hierarchies); a class
    that shows ``*`` is spread over everything, over words as the others are. Missing values and suppressed
    rows are no part of a bin.

    Args:
        axis: The column and where each row lies on it.
        labels: Class of each row; -1 = suppressed.
        cells: What each class shows in this column.
        floor: How many people a count must stand for, usually k.
        bands: Ranges of whole numbers end just before the next begins.

    Guarantees:
        - Suppressed rows change nothing but ``unknown`` after.
        - Before, bins stand for ``floor`` people at least: neighbours share what they hold until they do,
          empty ones too, and what they share is a multiple of ``floor``.
        - A value held by fewer than ``floor`` rows is not named; it counts under ``other``. Nor is one that
          no published cell names: codes and leaves count under what is shown of them.
        - Edges are round and follow the published ranges, not the data.

    Returns:
        ``kind`` with ``edges`` (numeric, date) or ``labels`` (words; ``other`` last, as None), the lists
        ``before`` and ``after``, ``unknown`` as a pair before, after, and ``floor``. Empty where nothing is
        published, for numbers beyond 1e300, or for fewer than ``floor`` rows.
    """
    shown = _shown(labels, cells)
    seen = replace(axis, positions=axis.positions[labels >= 0])
    kept = labels[labels >= 0]
    if len(kept) < floor:
        return {}
    match axis.domain:
        case Numbers() | Moments():
            counts = _ranges(seen, kept, cells, shown, floor, bands=bands)
        case Words() | Leaves():
            counts = _words(seen, kept, cells, shown, floor)
    if counts:
        counts["unknown"][1] += int((labels < 0).sum())
    return counts


def shared_out(counts: Floats, floor: int) -> Floats:
    """Let neighbouring bins share what they hold until every run of them stands for ``floor`` people.

    Example:
        >>> shared_out(np.array([40.0, 0.0, 2.0, 9.0, 1.0]), 5).tolist()
        [40.0, 2.5, 2.5, 2.5, 2.5]
    """
    starts, held = [0], 0.0
    for place, count in enumerate(counts):
        if held >= floor:
            starts.append(place)
            held = 0.0
        held += count
    if held < floor and len(starts) > 1:  # the last ones join the run before them
        starts.pop()
    owner = np.searchsorted(starts, np.arange(len(counts)), side="right") - 1
    lengths = np.bincount(owner)
    held_by = np.bincount(owner, weights=counts).astype(np.float64)
    return (rounded(held_by, floor) / lengths)[owner]


def rounded(counts: Floats, floor: int) -> Floats:
    """Round counts to multiples of ``floor``: nobody can be subtracted out."""
    return np.rint(np.asarray(counts) / floor) * floor


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


def _ranges(
    axis: Axis, labels: Labels, cells: Cells, shown: _Shown, floor: int, *, bands: bool
) -> dict[str, Any]:
    low, high = _ends(axis, labels, cells)
    speaks = shown.speaks & ~np.isnan(low) & ~np.isnan(high)
    ends = np.concatenate((low[speaks], high[speaks]))
    ends = ends[np.isfinite(ends)]
    if not len(ends) or np.abs(ends).max() > _LARGEST:
        return {}
    domain = axis.domain
    closed = np.isfinite(low) & np.isfinite(high) & speaks
    if isinstance(domain, Moments):
        edges, text = _moment_edges(low[closed], ends, domain.unit)
        names: dict[str, Any] = {"kind": "date", "edges": text}
        width = 1.0
    else:
        whole = isinstance(domain, Numbers) and domain.whole and bool(np.all(ends == np.floor(ends)))
        lattice = lattice_step(low[closed], high[closed], bands=bands) if closed.any() else None
        edges = (
            number_edges(float(ends.min()), float(ends.max()), whole=whole)
            if lattice is None or (whole and lattice <= 1)
            else lattice_edges(
                float(ends.min()), float(ends.max()), lattice, beyond=bool((low == ends.max()).any())
            )
        )
        names = {"kind": "numeric", "edges": [float(f"{edge:.12g}") for edge in edges]}
        width = 1.0 if whole else 0.0
    values = axis.positions[~np.isnan(axis.positions)]
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    before = np.bincount(place, minlength=len(edges) - 1).astype(np.float64)
    after = _spread(edges, low[speaks], high[speaks] + width, shown.sizes[speaks])
    after += shown.stars * np.diff(edges) / (edges[-1] - edges[0])
    gone = float(len(labels) - shown.sizes[speaks].sum() - shown.stars)
    missing = float(len(labels) - len(values))
    return {**names, **_counts(shared_out(before, floor), after, (missing, gone), floor)}


def _moment_edges(low: Floats, ends: Floats, unit: str) -> tuple[Floats, list[str]]:
    """Choose edges between which no published range of whole months ends."""
    first = low.astype(np.int64).astype(f"datetime64[{unit}]")
    months = bool(len(first)) and np.array_equal(first, first.astype("datetime64[M]").astype(first.dtype))
    return moment_edges(float(ends.min()), float(ends.max()), unit=unit, months=months)


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
    wide = width > _NARROWEST
    # Mass below an edge is a sum of clipped ramps: one pass over the classes for each of the few edges.
    density = sizes[wide] / width[wide]
    below = np.array([np.sum(density * np.clip(edge - start[wide], 0.0, width[wide])) for edge in edges])
    place = np.clip(np.searchsorted(edges, start[~wide], side="right") - 1, 0, len(edges) - 2)
    return np.diff(below) + np.bincount(place, weights=sizes[~wide], minlength=len(edges) - 1)


def _words(axis: Axis, labels: Labels, cells: Cells, shown: _Shown, floor: int) -> dict[str, Any]:
    if not shown.speaks.any():
        return {}
    known = ~np.isnan(axis.positions)
    places = axis.positions[known].astype(np.int64)
    leaves = _size(axis)
    leaf_before = np.bincount(places, minlength=leaves).astype(np.float64)
    leaf_after, placed = _leaves_after(axis, labels, cells, shown, leaves)
    texts = cells.text.filter(pl.Series(shown.speaks & (shown.sizes > 0))).unique().sort()
    group, names = families(axis, texts, seen=leaf_before > 0, shown=leaf_after > 0)
    before = np.bincount(group, weights=leaf_before, minlength=len(names) + 1)
    after: Floats = np.bincount(group, weights=leaf_after, minlength=len(names) + 1).astype(np.float64)
    if placed:
        after = after * (1.0 + shown.stars / placed)
    else:  # nothing but stars: they have no name
        after[-1] += shown.stars
    order = np.argsort(-before[:-1], kind="stable")[:WORDS]  # the last one has no name
    kept = order[before[order] >= floor]
    while (
        len(kept) and 0 < before.sum() - before[kept].sum() < floor
    ):  # "other" must not be a small count either
        kept = kept[:-1]
    rest = [max(float(side.sum() - side[kept].sum()), 0.0) for side in (before, after)]
    counts = _counts(
        rounded(np.append(before[kept], rest[0]), floor),
        np.append(after[kept], rest[1]),
        (float(np.sum(~known)), len(labels) - placed - shown.stars),
        floor,
    )
    return {"kind": "words", "labels": [*(names[place] for place in kept), None], **counts}


def _size(axis: Axis) -> int:
    domain = axis.domain
    return domain.hierarchy.leaves if isinstance(domain, Leaves) else len(getattr(domain, "labels", ()))


def _leaves_after(
    axis: Axis, labels: Labels, cells: Cells, shown: _Shown, leaves: int
) -> tuple[Floats, float]:
    """Spread each class's rows over the values its cell stands for; also say how many rows were spread."""
    classes, domain = len(shown.sizes), axis.domain
    known = ~np.isnan(axis.positions)
    known[known] = shown.speaks[labels[known]]
    sizes = np.bincount(labels[known], minlength=classes).astype(np.float64)
    placed = float(sizes.sum())
    full = np.flatnonzero(sizes > 0)
    if isinstance(domain, Words) and not domain.ordered and not domain.prefixes:
        owner, member = _members(axis, labels, cells, known, leaves)
        share = sizes[owner] / np.bincount(owner, minlength=classes)[owner]
        spread = np.bincount(member, weights=share, minlength=leaves).astype(np.float64)
        return spread, placed
    if isinstance(domain, Leaves):
        tree = domain.hierarchy
        texts = cells.text.gather(full)
        distinct = texts.unique().sort()
        place = texts.to_frame("cell").join(
            distinct.to_frame("cell").with_row_index(), on="cell", maintain_order="left"
        )
        counts: Floats = np.zeros(len(distinct))
        np.add.at(counts, place["index"].to_numpy(), sizes[full])
        spread = cover_words(distinct, tree.labels[0], tree).spread(counts[:, None], np.ones(leaves + 1))
        return spread[:leaves, 0], placed
    if isinstance(domain, Words) and domain.prefixes:
        first, last = _family(cells.text.gather(full), domain.labels)
    else:
        low, high = _extent(axis, labels, classes)
        first, last = low[full].astype(np.int64), high[full].astype(np.int64)
    steps = np.bincount(first, weights=sizes[full] / (last - first + 1), minlength=leaves + 1)
    steps -= np.bincount(last + 1, weights=sizes[full] / (last - first + 1), minlength=leaves + 1)
    return np.maximum(np.cumsum(steps)[:leaves], 0.0), placed


def _members(axis: Axis, labels: Labels, cells: Cells, known: Mask, leaves: int) -> tuple[Integers, Integers]:
    """Give the words that each class shows: those of its rows, or the one that stands for them."""
    if cells.behind is not None and isinstance(axis.domain, Words):
        words = write_labels(pl.Series(axis.domain.labels, dtype=pl.String))
        one = cells.text.replace_strict(words, np.arange(leaves), default=-1).fill_null(-1).to_numpy()
        owner = np.unique(labels[known])
        return owner, one[owner].astype(np.int64)
    pairs = pl.Series(labels[known] * leaves + axis.positions[known].astype(np.int64)).unique().to_numpy()
    owner, member = np.divmod(np.sort(pairs), max(leaves, 1))
    return owner, member


def _family(cells: pl.Series, codes: Sequence[str]) -> tuple[Integers, Integers]:
    """Give the first and last of the sorted codes that each cell stands for: one code, or a beginning."""
    texts, place = np.unique(np.asarray(cells.to_list(), dtype=np.str_), return_inverse=True)
    read = [read_cell(str(text)) for text in texts]
    begins = np.array([getattr(cell, "beginning", getattr(cell, "text", "")) for cell in read], np.str_)
    ends = np.array(
        [begin + "\U0010ffff" * isinstance(cell, Prefix) for begin, cell in zip(begins, read, strict=True)]
    )
    names = np.asarray(codes, np.str_)
    first = np.minimum(np.searchsorted(names, begins), len(names) - 1)
    last = np.maximum(np.searchsorted(names, ends, side="right") - 1, first)
    return first[place].astype(np.int64), last[place].astype(np.int64)


def _counts(before: Floats, after: Floats, unknown: tuple[float, float], floor: int) -> dict[str, Any]:
    """Put both sides together; who is missing is rounded like a bin."""
    return {
        "before": [_to_a_tenth(count) for count in before],
        "after": [_to_a_tenth(count) for count in after],
        "unknown": [int(rounded(np.array([unknown[0]]), floor)[0]), int(unknown[1])],
        "floor": floor,
    }


def _to_a_tenth(count: float) -> float:
    """Round a sum over classes; what their order does to its last digits must not tip it."""
    return round(round(float(count), 9), 1)
