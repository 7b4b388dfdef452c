"""People with several rows: who shows which values, and what a privacy model may count on then.

A promise about people must hold however one of their values is chosen for each of them, once in their class
and once in the table: whoever asks about a person asks about one value at a time. ``docs/theory/models.md``
says what that means for each model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.models._counts import distinct_keys

if TYPE_CHECKING:
    from mahrem.types import Codes, Floats, Integers, Labels, Mask


@dataclass(frozen=True)
class Holdings:
    """Who shows which values in which class: every (class, person, value) once, sorted in this order.

    A person counts in every class that shows a row of theirs with a value.
    """

    group: Integers = field(repr=False)  # (h,)
    person: Integers = field(repr=False)  # (h,)
    value: Integers = field(repr=False)  # (h,)
    groups: int  # classes; some may be empty
    size: int  # values the column knows

    @cached_property
    def begins(self) -> Integers:
        """Where the values of each person in each class begin, ``(p,)``."""
        new = np.ones(len(self.group), np.bool_)
        new[1:] = (self.group[1:] != self.group[:-1]) | (self.person[1:] != self.person[:-1])
        return np.flatnonzero(new)

    @cached_property
    def ends(self) -> Integers:
        """Where they end, ``(p,)``."""
        return np.append(self.begins, len(self.group))[1:]

    @cached_property
    def people(self) -> Integers:
        """How many people of each class show a value, ``(c,)``."""
        return np.bincount(self.group[self.begins], minlength=self.groups)

    @cached_property
    def several(self) -> Integers:
        """How many of them show several values, ``(c,)``."""
        return np.bincount(self.group[self.begins[~self._single]], minlength=self.groups)

    @cached_property
    def triplets(self) -> tuple[Integers, Integers, Integers]:
        """Give class and value, and how many people show it there: the most it can be said of."""
        keys, most = distinct_keys(self._keys, self.groups * max(self.size, 1))
        group, value = np.divmod(keys, max(self.size, 1))
        return group, value, most

    @cached_property
    def least(self) -> Integers:
        """Give for the same triplets how many people show nothing else: the fewest it can be said of."""
        alone = self._keys[self.begins[self._single]]
        group, value, _ = self.triplets
        keys = group * max(self.size, 1) + value
        return np.bincount(np.searchsorted(keys, alone), minlength=len(keys))

    @cached_property
    def concentrated(self) -> Integers:
        """Give for the same triplets how many people it is said of where as few values as can be are said.

        Values are taken from the commonest on, each for all who show it, until nobody is left. No choice of
        one value for each person puts more people on any number of values.
        """
        group, _, most = self.triplets
        order = np.lexsort((-most, group))
        before = np.cumsum(most[order]) - most[order]
        first = np.searchsorted(group, group)  # where the class's triplets begin
        before -= before[first]
        counts = np.empty_like(most)
        counts[order] = np.clip(self.people[group] - before, 0, most[order])
        return counts

    @cached_property
    def table(self) -> tuple[Floats, Floats]:
        """Give the least and the largest share of each value among all people of one class, ``(values,)``."""
        _, value, most = self.triplets
        shares = np.zeros((2, self.size))
        shares[:, value] = np.stack([self.least, most]) / max(len(self.begins), 1)
        return shares[0], shares[1]

    def ends_of_people(self) -> tuple[Integers, Integers, Integers]:
        """Give the class, the lowest and the highest value of every person in every class."""
        return self.group[self.begins], self.value[self.begins], self.value[self.ends - 1]

    @cached_property
    def middles(self) -> Floats:
        """Give the share of each value where everybody of one class shows their lowest and their highest."""
        _, low, high = self.ends_of_people()
        shown = np.bincount(low, minlength=self.size) + np.bincount(high, minlength=self.size)
        return shown / max(float(shown.sum()), 1.0)

    @cached_property
    def mean_range(self) -> float:
        """Give how many steps lie between lowest and highest value of the people of one class, on average."""
        _, low, high = self.ends_of_people()
        return float((high - low).sum()) / max(len(low), 1)

    def without_last(self) -> Holdings:
        """Give the same without the last value, which is that of cells that show none."""
        kept = self.value != self.size - 1
        return Holdings(
            self.group[kept], self.person[kept], self.value[kept], self.groups, max(self.size - 1, 0)
        )

    def under(self, nodes: Integers) -> Holdings:
        """Give the same with values replaced by their nodes."""
        size = int(nodes.max(initial=-1)) + 1
        node = nodes[self.value]
        owner = np.repeat(np.arange(len(self.begins)), self.ends - self.begins)
        keys = np.unique(owner * max(size, 1) + node)
        person, value = np.divmod(keys, max(size, 1))
        first = self.begins[person]
        return Holdings(self.group[first], self.person[first], value, self.groups, size)

    @cached_property
    def _single(self) -> Mask:
        return np.asarray(self.ends - self.begins == 1)

    @cached_property
    def _keys(self) -> Integers:
        return self.group * max(self.size, 1) + self.value


@dataclass(frozen=True)
class PeopleShares:
    """What classes are compared with of the people of a whole table, without the people.

    Guarantees:
        - Every privacy model judges classes beside it as beside the :class:`Holdings` it was made of.
        - What it takes depends on values alone, not on how many people there are.
    """

    size: int  # values the column knows
    table: tuple[Floats, Floats]  # least and largest share of each
    middles: Floats = field(repr=False)
    mean_range: float
    levels: dict[bytes, PeopleShares] = field(repr=False)  # by the nodes of values
    rest: PeopleShares | None = field(repr=False)  # without the last value

    @classmethod
    def of(cls, held: Holdings, ancestors: Integers | None = None, *, missing: bool = False) -> PeopleShares:
        """Add up what people of one class show.

        Args:
            held: What they show.
            ancestors: ``(levels, values)`` nodes of each value, bottom-up.
            missing: Whether the last value is that of cells that show none.
        """
        tree = [] if ancestors is None else [np.arange(held.size), *ancestors]
        rest = None
        if missing:
            rest = cls.of(held.without_last(), None if ancestors is None else ancestors[:, :-1])
        levels = {_nodes_key(nodes): cls.of(held.under(nodes)) for nodes in tree}
        return cls(held.size, held.table, held.middles, held.mean_range, levels, rest)

    def without_last(self) -> PeopleShares:
        """Give the same without the last value, which is that of cells that show none."""
        if self.rest is None:
            raise InvalidParameter("missing=True must be said to leave out cells that show no value")
        return self.rest

    def under(self, nodes: Integers) -> PeopleShares:
        """Give the same with values replaced by their nodes, of a level that was added up."""
        return self.levels[_nodes_key(nodes)]


def _nodes_key(nodes: Integers) -> bytes:
    return nodes.astype(np.int64).tobytes()


@dataclass(frozen=True)
class PeopleHoldings:
    """What people show in classes, and what they show in the whole table."""

    classes: Holdings
    table: Holdings | PeopleShares  # of one class

    def without_last(self) -> PeopleHoldings:
        """Give the same without the last value, which is that of cells that show none."""
        return PeopleHoldings(self.classes.without_last(), self.table.without_last())


def holdings_of(
    labels: Labels, people: Codes | Integers, codes: Codes | Integers, classes: int, size: int
) -> Holdings:
    """Say who shows which values, by sorting: plain, for verifying and for tests.

    Args:
        labels: ``(n,)`` class of each row; rows with -1 are not counted anywhere.
        people: ``(n,)`` the person a row is about; -1 is nobody known, who is not counted.
        codes: ``(n,)`` value of each row, ``0 .. size - 1``; -1 is a row without a value.
        classes: How many classes there are; some may be empty.
        size: How many values the column knows.

    Raises:
        InvalidParameter: If a label or a code is out of range, or the lengths differ.

    Example:
        >>> import numpy as np
        >>> held = holdings_of(np.zeros(3, int), np.array([7, 7, 8]), np.array([1, 0, 1]), 1, 2)
        >>> held.triplets[2], held.least, held.concentrated
        (array([1, 2]), array([0, 1]), array([0, 2]))
    """
    columns = [np.asarray(column, np.int64) for column in (labels, people, codes)]
    if len({column.shape for column in columns}) > 1:
        raise InvalidParameter(f"people={columns[1].size} must be as many as the labels, {columns[0].size}")
    if columns[0].max(initial=-1) >= classes or columns[2].max(initial=-1) >= size:
        raise InvalidParameter(f"classes={classes}, size={size} must be above every label and every code")
    known = np.logical_and.reduce([column >= 0 for column in columns])
    group, person, value = (column[known] for column in columns)
    order = np.lexsort((value, person, group))
    group, person, value = group[order], person[order], value[order]
    new = np.ones(len(group), np.bool_)
    new[1:] = (np.diff(group) != 0) | (np.diff(person) != 0) | (np.diff(value) != 0)
    return Holdings(group[new], person[new], value[new], classes, size)
