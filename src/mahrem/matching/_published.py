"""A release as an attacker reads it, and the people whose values somebody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.models import Counts, counts_of
from mahrem.types import Integers, Labels, Sizes
from mahrem.verify import SUPPRESSED, people_per_class, published_classes

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


def as_words(kind: pl.DataType) -> bool:
    """Tell whether values of a kind can be compared as words."""
    return not kind.is_nested() and not isinstance(kind, pl.Duration | pl.Binary | pl.Object)


@dataclass(frozen=True, eq=False)
class Published:
    """A published table: classes of rows that show the same, and what they show.

    Any file will do: cells of our own grammar, plain values, and labels of the hierarchies given.
    """

    frame: pl.DataFrame = field(repr=False)  # every column that was published
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    cells: pl.DataFrame = field(repr=False)  # (c, d) what each class shows, as text
    labels: Labels = field(repr=False)  # (n,) class of each row; -1 = shows nothing
    sizes: Sizes = field(repr=False)  # (c,) rows in each class
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    people: Integers | None = field(default=None, repr=False)  # (n,) whose row it is, where that is known
    stood: Integers | None = field(default=None, repr=False)  # (n,) where each row stood; as here if None

    @property
    def rows(self) -> int:
        """Rows that show something."""
        return int(self.sizes.sum())

    @property
    def plain(self) -> tuple[str, ...]:
        """Columns that were published as they are, beside the sensitive ones."""
        known = {*self.quasi, *self.sensitive}
        return tuple(name for name, kind in self.frame.schema.items() if name not in known and as_words(kind))

    @cached_property
    def _coded(self) -> dict[str, tuple[Integers, pl.Series]]:
        return {}

    def values(self, column: str) -> tuple[Integers, pl.Series]:
        """Give the code of each row's value (-1 = missing or hidden) and the values themselves.

        Of sensitive columns, and of those that were published as they are.
        """
        if column not in self._coded:
            self._coded[column] = _code(self.frame[column])
        return self._coded[column]

    def counts(self, column: str) -> Counts:
        """Count the sensitive values of every class."""
        codes, values = self.values(column)
        return counts_of(self.labels, codes, len(self.sizes), len(values))

    def people_counts(self, column: str) -> Counts:
        """Count the same in people; in rows where nobody knows whose they are."""
        codes, values = self.values(column)
        return self.counted(codes, len(values))

    def counted(self, codes: Integers, size: int) -> Counts:
        """Count some codes of the rows in every class, in people where they are known."""
        classes = len(self.sizes)
        if self.people is None:
            return counts_of(self.labels, codes, classes, size)
        from mahrem.models import people_counts
        from mahrem.models.people import PeopleHoldings, holdings_of

        shown = self.labels >= 0
        labels, people, codes = self.labels[shown], self.people[shown], codes[shown]
        held = PeopleHoldings(
            holdings_of(labels, people, codes, classes, size),
            holdings_of(np.zeros_like(labels), people, codes, 1, size),
        )
        return people_counts(held, people_per_class(labels, people, classes))

    def pick(self, column: str | None) -> str | None:
        """Give the sensitive column asked for, or the first there is."""
        if column is None:
            return self.sensitive[0] if self.sensitive else None
        if column not in self.sensitive:
            check.columns_exist([column], self.sensitive)
        return column


@dataclass(frozen=True, eq=False)
class People:
    """Raw values somebody knows: the original, or a population it was taken from."""

    frame: pl.DataFrame = field(repr=False)
    quasi: tuple[str, ...]
    owners: Integers | None = field(default=None, repr=False)  # (n,) whose row each is; all differ if None
    stood: Integers | None = field(default=None, repr=False)  # (n,) where each row stood; as here if None
    matched: WeakKeyDictionary[Published, object] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )  # what was compared already

    @property
    def count(self) -> int:
        """How many people there are."""
        return self.frame.height


def read_published(
    frame: pl.DataFrame,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    people: Integers | None = None,
) -> Published:
    """Read a published table; rows that show ``*`` in every quasi-identifier are in no class.

    Args:
        frame: The table, typed or as text.
        quasi: Columns others may know.
        sensitive: Columns that must not be learnt.
        hierarchies: Trees whose labels stand in cells, by column.
        people: Whose row each is, where that is known.

    Guarantees:
        - Classes are numbered in the order of their first rows, so that the same file gives the same draws.

    Raises:
        InvalidParameter: If no quasi-identifier is named.

    Example:
        >>> shown = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "*"], "ill": ["flu", "gout", "*"]})
        >>> read_published(shown, quasi=["age"], sensitive=["ill"]).sizes
        array([2])
    """
    if not quasi:
        raise InvalidParameter("quasi=() names no column; say which columns others may know")
    check.columns_exist([*quasi, *sensitive], frame.columns)
    text = frame.select(pl.col(name).cast(pl.String) for name in quasi)
    hidden = text.select(
        pl.all_horizontal((pl.col(name) == SUPPRESSED).fill_null(value=False) for name in quasi)
    ).to_series()
    shown = ~hidden.to_numpy()
    within, sizes = published_classes(text.filter(pl.Series(shown)), quasi)
    first = np.zeros(len(sizes), np.int64)
    first[within[::-1]] = np.flatnonzero(shown)[::-1]
    order = np.argsort(first)  # classes in the order of their first rows: draws must not depend on grouping
    number = np.empty(len(sizes), np.int64)
    number[order] = np.arange(len(sizes))
    labels = np.full(frame.height, -1, np.int64)
    labels[shown] = number[within]
    first, sizes = first[order], sizes[order]
    trees = dict(hierarchies or {})
    return Published(frame, tuple(quasi), tuple(sensitive), text[first], labels, sizes, trees, people)


def read_people(frame: pl.DataFrame, release: Published) -> People:
    """Take the columns of a raw table that a release is attacked with.

    Raises:
        ColumnNotFound: If a quasi-identifier of the release is not among them.
    """
    check.columns_exist(release.quasi, frame.columns)
    return People(frame, release.quasi)


def as_published(release: Published, people: People) -> list[str]:
    """Name the columns beside quasi-identifiers and sensitive ones that show what people have.

    Pseudonyms and coarser values are none of theirs.
    """

    def is_same(name: str) -> bool:
        own = people.frame[name].cast(pl.String).unique().implode()
        return bool(release.values(name)[1].is_in(own).all())

    return [name for name in release.plain if name in people.frame.columns and is_same(name)]


def _code(series: pl.Series) -> tuple[Integers, pl.Series]:
    text = series.cast(pl.String)
    hidden = (text == SUPPRESSED).fill_null(value=True)
    values = text.filter(~hidden).unique().sort()
    return codes_of(text, values), values


def codes_of(text: pl.Series, values: pl.Series) -> Integers:
    """Give the place of each text among distinct values, -1 where it is none of them."""
    lookup = pl.DataFrame({"value": values, "code": np.arange(len(values))})
    joined = text.to_frame("value").join(
        lookup, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["code"].fill_null(-1).to_numpy().astype(np.int64)
