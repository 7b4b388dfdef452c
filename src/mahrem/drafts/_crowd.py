"""What a report may compare a release with: shown rows of the source, no finer than the published grid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from mahrem.drafts._draft import Draft
from mahrem.partition import METHODS
from mahrem.recode import Intervals, Recoding, Whole, moment_step, snap_moments
from mahrem.report import lattice_step
from mahrem.table import Axis, Cells, Leaves, Moments, Numbers, Words
from mahrem.types import Codes, Floats, Integers, Labels

_LINES = 32  # whole numbers within so few steps have a grid of their own values


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """The shown rows, seen so coarsely that nothing hidden changes a figure about them.

    Guarantees:
        - Suppressed and dropped rows are no part of it, nor is what they hold.
        - A number or a date stands for its place between two lines of the grid that cells end on: wherever an
          extreme of a class lies within its cell, the crowd is the same. A code stands for the beginning that
          may be shown of it, and in a column that shows nothing everybody is alike.
        - Samples do not depend on the order of rows.
    """

    axes: tuple[Axis, ...] = field(repr=False)  # (shown rows,)
    labels: Labels = field(repr=False)  # (shown rows,) published classes, numbered by what they show
    values: dict[str, Codes] = field(repr=False)  # (shown rows,) sensitive columns
    rows: Integers = field(repr=False)  # (shown rows,) their places among the rows taking part
    coarse: frozenset[str] = frozenset()  # columns of which only the published node is known, by its number

    @cached_property
    def _keys(self) -> Integers:
        """A number for each row that is made of nothing but its content."""
        columns = {
            "class": self.labels,
            **{f"q{place}": axis.positions for place, axis in enumerate(self.axes)},
            **{f"s{place}": codes for place, codes in enumerate(self.values.values())},
        }
        return pl.DataFrame(columns).hash_rows(seed=0).to_numpy()

    def arranged(self, shown: pl.DataFrame) -> Crowd:
        """Put rows in order by what each shows: where they are within their cells moves no row past another.

        Args:
            shown: What is published of every row.
        """
        return self.take(np.lexsort((self._keys, shown.hash_rows(seed=0).to_numpy())))

    def sample(self, most: int) -> Crowd:
        """Give so many rows at most, chosen and put in order by their content."""
        keys = self._keys
        few = np.arange(len(keys))
        if len(keys) > most > 0:  # sorting all of them to keep a few takes ten times longer
            few = np.flatnonzero(keys <= np.partition(keys, most - 1)[most - 1])
        return self.take(few[np.argsort(keys[few], kind="stable")][:most])

    def sample_classes(self, most: int) -> Crowd:
        """Give whole classes, chosen by what they show, until there are so many rows; in order, too."""
        sizes = np.bincount(self.labels)
        within = np.cumsum(sizes) - sizes < most  # classes are numbered by hashes of their cells
        rows = np.flatnonzero(within[self.labels])
        return self.take(rows[np.lexsort((self._keys[rows], self.labels[rows]))])

    def take(self, rows: Integers) -> Crowd:
        """Give some of the rows, in this order."""
        return Crowd(
            axes=tuple(replace(axis, positions=axis.positions[rows]) for axis in self.axes),
            labels=self.labels[rows],
            values={name: codes[rows] for name, codes in self.values.items()},
            rows=self.rows[rows],
            coarse=self.coarse,
        )


def crowd_of(draft: Draft) -> Crowd:
    """See the rows of a draft as a report may."""
    draft = draft.without_starred()  # what suppressed rows hold is hidden, though they form a class
    prepared = draft.prepared
    labels = draft.partition.labels[: prepared.taking_part]
    rows = np.flatnonzero(labels >= 0)
    own = labels[rows]
    return Crowd(
        axes=tuple(
            _snapped(
                _shown_alone(replace(axis, positions=axis.positions[rows]), draft, own),
                draft.cells[axis.name],
                own,
                draft.recodings[axis.name],
                given=axis.name in draft.trees,
            )
            for axis in prepared.axes
        ),
        labels=_numbered_by_cells(draft)[own],
        values={name: _renumbered(values.codes[rows]) for name, values in prepared.values.items()},
        rows=rows,
        coarse=frozenset(name for name in draft.cells if _is_coarse(draft, name)),
    )


def _shown_alone(axis: Axis, draft: Draft, labels: Labels) -> Axis:
    """Take a hidden cell for a missing one where a method shows values or nothing."""
    method = METHODS.get(draft.method)
    if method is None or not method.hides:
        return axis
    hidden = draft.cells[axis.name].suppressed[labels]
    return replace(axis, positions=np.where(hidden, np.nan, axis.positions))


def _is_coarse(draft: Draft, name: str) -> bool:
    """Say whether a column shows nodes of a tree that was made of the data: its leaves are its values."""
    return name not in draft.trees and getattr(draft.recodings[name], "level", None) is not None


def _numbered_by_cells(draft: Draft) -> Labels:
    """Number classes by hashes of what they show; those that show the same get the same number."""
    shown = pl.DataFrame({str(place): cells.text for place, cells in enumerate(draft.cells.values())})
    return np.unique(shown.hash_rows(seed=0).to_numpy(), return_inverse=True)[1].reshape(-1)


def _renumbered(codes: Codes) -> Codes:
    """Number the values that shown rows have, in their order."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int32)


def is_shifted(recoding: Recoding | None) -> bool:
    """Say whether the lines of a column's grid lie half a step off the round numbers."""
    return bool(getattr(getattr(recoding, "inner", recoding), "shifted", False))


def _snapped(axis: Axis, cells: Cells, labels: Labels, recoding: Recoding, *, given: bool) -> Axis:
    """See a column no finer than it may be shown."""
    if isinstance(recoding, Whole):  # nothing is said of the column: everybody is alike in it
        return replace(axis, positions=np.zeros(len(axis.positions)))
    level = getattr(recoding, "level", None)
    if level is not None and not given and isinstance(axis.domain, Leaves):
        known = ~np.isnan(axis.positions)
        nodes = np.full(len(known), np.nan)
        shown_nodes = axis.domain.hierarchy.nodes[level, axis.positions[known].astype(np.int64)]
        nodes[known] = np.unique(shown_nodes, return_inverse=True)[1].reshape(-1)
        return replace(axis, positions=nodes)
    letters = getattr(recoding, "most", None)
    if letters is not None and isinstance(axis.domain, Words):
        return _beginnings(axis, axis.domain, letters)
    return _on_lines(axis, cells, labels, recoding)


def _on_lines(axis: Axis, cells: Cells, labels: Labels, recoding: Recoding) -> Axis:
    """Put numbers and dates into the middle or at the beginning of their step of the grid."""
    inner = getattr(recoding, "inner", recoding)  # of cells that are open at an end
    shown = cells.behind or cells
    if shown.low is None or shown.high is None:
        return axis
    if isinstance(axis.domain, Numbers):
        if axis.domain.whole and axis.domain.high - axis.domain.low <= _LINES:
            return axis  # a grid of whole numbers: what cells end on are the values themselves
        low, high = (end.cast(pl.Float64).fill_null(np.nan).to_numpy() for end in (shown.low, shown.high))
        return replace(
            axis, positions=_between_lines(axis.positions, low, high, labels, bands=is_shifted(recoding))
        )
    if isinstance(axis.domain, Moments) and isinstance(inner, Intervals) and inner.bounds == "grid":
        return replace(axis, positions=_since_lines(axis.positions, axis.domain, inner))
    return axis


def _beginnings(axis: Axis, codes: Words, letters: int) -> Axis:
    """Take codes for the beginnings that are all that may be shown of them."""
    begins = pl.Series(codes.labels, dtype=pl.String).str.slice(0, letters)
    distinct = begins.unique().sort()
    places = np.append(begins.replace_strict(distinct, np.arange(len(distinct))).to_numpy(), np.nan)
    known = np.where(np.isnan(axis.positions), len(begins), axis.positions).astype(np.int64)
    return replace(axis, positions=places[known], domain=replace(codes, labels=tuple(distinct.to_list())))


def _between_lines(positions: Floats, low: Floats, high: Floats, labels: Labels, *, bands: bool) -> Floats:
    """Move values to the middle between the lines around them; one on its cell's last line counts below."""
    closed = np.isfinite(low) & np.isfinite(high)
    step = lattice_step(low[closed], high[closed], bands=bands) if closed.any() else None
    first, last = low[labels], high[labels]
    if step is None:  # ends on no grid that could be named: the middle of the cell is all that may be known
        closed_here = closed[labels]
        middle = np.where(closed_here, first, 0.0) / 2 + np.where(closed_here, last, 0.0) / 2
        return np.where(closed_here, middle, positions)
    base = float(low[closed].min())
    place = np.floor((positions - base) / step)
    line = np.remainder(np.where(np.isfinite(last), last, base) - base, step) == 0
    on_last = (positions == last) & (last > first) & line
    return np.where(first == last, positions, base + (place - on_last + 0.5) * step)


def _since_lines(positions: Floats, domain: Moments, intervals: Intervals) -> Floats:
    """Move days and moments to the beginning of their step of the calendar."""
    known = ~np.isnan(positions)
    if not known.any():
        return positions
    typed = domain.typed(pl.Series(positions[known]))
    begins, _ = snap_moments(typed, typed, moment_step(domain, intervals.step), shifted=intervals.shifted)
    moved = positions.copy()
    moved[known] = begins.cast(typed.dtype).to_physical().cast(pl.Float64).to_numpy()
    return moved
