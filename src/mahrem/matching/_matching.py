"""Which published classes fit which people: distinct values against distinct cells, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.matching._published import People, Published, codes_of
from mahrem.table import Exact, Members, MissingCell, Prefix, Suppressed, read_cell, read_ranges
from mahrem.table.cells import Cell
from mahrem.types import Floats, Integers, Mask

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


_LOOKED_AT = 2000  # classes compared with people to see whether both belong together
_BLOCK = 1 << 23  # pairs of person and class held at a time: bounds memory, not the result


@dataclass(frozen=True)
class ColumnMatch:
    """One quasi-identifier: what people have, what classes show, and which fits which."""

    values: pl.Series = field(repr=False)  # distinct values, as text
    of_person: Integers = field(repr=False)  # (p,) place of each person's value
    cells: pl.Series = field(repr=False)  # distinct cells
    of_class: Integers = field(repr=False)  # (c,) place of each class's cell
    at: Floats = field(repr=False)  # (v,) values as numbers, NaN where they are none
    low: Floats = field(repr=False)  # (m,) ends of cells, NaN where they are no range
    high: Floats = field(repr=False)
    words: Integers = field(repr=False)  # (m,) row of ``covers`` for cells that are no range, else -1
    covers: Mask = field(repr=False)  # (w, v) which values each word covers

    def table(self, values: Integers) -> Mask:
        """Say for some distinct values which distinct cells fit them, ``(len(values), m)``."""
        at = self.at[values, None]
        fits = (self.low <= at) & (at <= self.high)
        by_word = np.flatnonzero(self.words >= 0)
        fits[:, by_word] = self.covers[np.ix_(self.words[by_word], values)].T
        return np.asarray(fits)

    def fitting(self, cell: int) -> Mask:
        """Say which distinct values a cell fits, ``(v,)``."""
        word = int(self.words[cell])
        if word >= 0:
            return np.asarray(self.covers[word])
        return np.asarray((self.low[cell] <= self.at) & (self.at <= self.high[cell]))

    @property
    def seen_as(self) -> pl.Series:
        """Say of distinct values, ``(v,)``, between which ends of cells they lie and which words cover them.

        Values that no cell tells apart are the same here, however they are written.
        """
        ends = np.unique(np.concatenate([self.low, self.high]))
        ends = ends[np.isfinite(ends)]
        place = 2 * np.searchsorted(ends, self.at) + np.isin(self.at, ends)
        place = np.where(np.isnan(self.at), -1, place)
        _, pattern = np.unique(np.packbits(self.covers, axis=0).T, axis=0, return_inverse=True)
        return pl.Series(place).cast(pl.String) + "|" + pl.Series(pattern.reshape(-1)).cast(pl.String)

    @cached_property
    def times(self) -> Integers:
        """How many people have each distinct value, ``(v,)``."""
        return np.bincount(self.of_person, minlength=len(self.values))

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers]:
        return np.argsort(self.of_person, kind="stable"), np.cumsum(self.times) - self.times

    def people_with(self, values: Integers) -> Integers:
        """Give the people who have one of some distinct values."""
        order, starts = self._sorted
        many = self.times[values]
        places = np.repeat(starts[values] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        return np.asarray(order[places])


@dataclass(frozen=True)
class Matching:
    """People against the classes of one release."""

    columns: tuple[ColumnMatch, ...]
    sizes: Integers = field(repr=False)
    unread: int  # rows of the release with a cell that fits nobody and is no range

    @property
    def codes(self) -> Integers:
        """Places of all people's values, ``(p, d)``."""
        return np.column_stack([column.of_person for column in self.columns])

    def masks(self, codes: Integers, *, known: Sequence[int] | None = None) -> Iterator[tuple[slice, Mask]]:
        """Say which classes fit some people, part by part: a slice of them and ``(part, c)``.

        Each distinct value is compared with all classes once and kept as bits; a person is the bits of all
        their values taken together.

        Args:
            codes: ``(b, d)`` places of their values.
            known: Columns to look at; all if None.
        """
        classes = len(self.sizes)
        step = max(1, _BLOCK // max(classes, 1))
        looked_at = range(len(self.columns)) if known is None else known
        bits = [_bits(self.columns[place], codes[:, place], step) for place in looked_at]
        for start in range(0, len(codes), step):
            part = slice(start, min(start + step, len(codes)))
            together: NDArray[np.uint8] | None = None
            for values, inverse in bits:
                own = values[inverse[part]]
                together = own if together is None else together & own
            if together is not None:
                yield part, np.unpackbits(together, axis=1, count=classes).view(np.bool_)

    def fits(self, codes: Integers, *, known: Sequence[int] | None = None) -> Mask:
        """Say which classes fit a few people, ``(len(codes), c)``, all at once."""
        parts = [fits for _, fits in self.masks(codes, known=known)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.sizes)), np.bool_)

    @cached_property
    def weights(self) -> Floats:
        """Rows of each class as floats: a product with a mask is quick with these."""
        return self.sizes.astype(np.float64)

    def members(self, group: int) -> Integers:
        """Give the people one class fits, ascending; the narrowest column is looked up, others checked."""
        fitting = [column.fitting(int(column.of_class[group])) for column in self.columns]
        counts = [int(column.times[fits].sum()) for column, fits in zip(self.columns, fitting, strict=True)]
        first = int(np.argmin(counts))
        people = self.columns[first].people_with(np.flatnonzero(fitting[first]))
        for place, column in enumerate(self.columns):
            if place != first:
                people = people[fitting[place][column.of_person[people]]]
        return np.sort(people)


def match(release: Published, people: People) -> Matching:
    """Compare what a release shows with what people have; once for all attacks with the same two."""
    known = people.matched.get(release)
    if not isinstance(known, Matching):
        known = people.matched[release] = _match(release, people)
    return known


def fit_of(release: Published, people: People, *, seed: int = 0) -> tuple[int, int, int]:
    """Say whether people can be those of a release.

    Returns:
        How many of some classes fit at least as many people as they have rows, how many classes were looked
        at, and the rows of the release that cannot be read against these people.

    Example:
        >>> from mahrem.matching import read_people, read_published
        >>> shown = pl.DataFrame({"age": ["[20, 30]", "[20, 30]"]})
        >>> release = read_published(shown, quasi=["age"])
        >>> fit_of(release, read_people(pl.DataFrame({"age": [21, 29]}), release))
        (1, 1, 0)
        >>> fit_of(release, read_people(pl.DataFrame({"age": [51, 29]}), release))
        (0, 1, 0)
    """
    matching = match(release, people)
    classes = len(release.sizes)
    chosen = np.random.default_rng(seed).choice(classes, min(_LOOKED_AT, classes), replace=False)
    fitting = sum(len(matching.members(int(group))) >= release.sizes[group] for group in chosen)
    return int(fitting), len(chosen), matching.unread


def _match(release: Published, people: People) -> Matching:
    columns = tuple(
        column_match(release.cells[name], people.frame[name].cast(pl.String), release.hierarchies.get(name))
        for name in release.quasi
    )
    strange = np.zeros(len(release.sizes), np.bool_)
    for column in columns:
        dumb = np.zeros(len(column.cells), np.bool_)
        by_word = np.flatnonzero(column.words >= 0)
        dumb[by_word] = ~column.covers[column.words[by_word]].any(axis=1)
        strange |= dumb[column.of_class]
    return Matching(columns, release.sizes, int(release.sizes[strange].sum()))


def _bits(column: ColumnMatch, codes: Integers, step: int) -> tuple[NDArray[np.uint8], Integers]:
    """Give the classes that fit each distinct value among some, as bits, and the value of each."""
    values, inverse = np.unique(codes, return_inverse=True)
    parts = [
        np.packbits(column.table(values[start : start + step])[:, column.of_class], axis=1)
        for start in range(0, len(values), step)
    ]
    width = (len(column.of_class) + 7) // 8
    return np.concatenate(parts) if parts else np.zeros((0, width), np.uint8), inverse


def column_match(cells: pl.Series, values: pl.Series, hierarchy: Hierarchy | None) -> ColumnMatch:
    """Compare what classes show in a column with what people have."""
    shown = cells.unique(maintain_order=True)
    distinct = values.unique(maintain_order=True)
    both = pl.concat([shown.rename("cell"), distinct.rename("cell")])
    low, high = read_ranges(both)  # together, so that days and moments come out in the same unit
    ranged = np.isfinite(low[: len(shown)]) | np.isfinite(high[: len(shown)])
    if hierarchy is not None:
        ranged &= ~np.isin(shown.to_numpy(), _inner_labels(hierarchy))
    words = np.flatnonzero(~ranged)
    covers = [
        _covers(read_cell(shown[int(place)]), shown[int(place)], distinct, hierarchy) for place in words
    ]
    of_word = np.full(len(shown), -1, np.int64)
    of_word[words] = np.arange(len(words))
    return ColumnMatch(
        values=distinct,
        of_person=codes_of(values, distinct),
        cells=shown,
        of_class=codes_of(cells, shown),
        at=low[len(shown) :],
        low=low[: len(shown)],
        high=high[: len(shown)],
        words=of_word,
        covers=np.array(covers, np.bool_).reshape(len(words), len(distinct)),
    )


def _inner_labels(hierarchy: Hierarchy) -> list[str]:
    return sorted({label for level in hierarchy.labels[1:] for label in level})


def _covers(  # noqa: PLR0911 - one return for each form of cell
    cell: Cell, text: str | None, values: pl.Series, hierarchy: Hierarchy | None
) -> Mask:
    """Say which values a cell covers that is no range."""
    label = cell.text if isinstance(cell, Exact) else text
    if hierarchy is not None and label is not None and not isinstance(cell, Suppressed | Members):
        leaves = leaves_under(label, hierarchy)
        if leaves:
            return values.str.strip_chars().is_in(leaves).fill_null(value=False).to_numpy()
    match cell:
        case Suppressed():
            return np.ones(len(values), np.bool_)
        case MissingCell():
            return (values.is_null() | (values == "")).fill_null(value=True).to_numpy()
        case Prefix(beginning):
            return values.str.starts_with(beginning).fill_null(value=False).to_numpy()
        case Members(members):
            return values.is_in(list(members), nulls_equal=True).to_numpy()
        case Exact(word):
            return (values == word).fill_null(value=False).to_numpy()
        case _:
            return np.zeros(len(values), np.bool_)


def leaves_under(label: str, hierarchy: Hierarchy) -> list[str]:
    """Name the leaves below a node, all of them where several have its name."""
    leaves: set[str] = set()
    for names, nodes in zip(hierarchy.labels, hierarchy.nodes, strict=True):
        for node in (place for place, name in enumerate(names) if name == label):
            leaves.update(hierarchy.labels[0][leaf] for leaf in np.flatnonzero(nodes == node))
    return sorted(leaves)
