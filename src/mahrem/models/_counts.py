"""What a privacy model sees of a table, and what a privacy model is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.models.people import PeopleHoldings
    from mahrem.types import Codes, Floats, Integers, Labels, Levels, Mask, Sizes


@dataclass(frozen=True)
class Counts:
    """How often each value of one column occurs in each class, as sorted triplets.

    Triplets, not a matrix: 150,000 classes times 100,000 distinct costs would be 120 GB.
    Value codes follow the column's own order (numbers ascending, ordinals as declared).

    Where people are counted (:func:`people_counts`), each person stands under one of their values, and on as
    few values as can be. That is the worst choice for a model that only looks at how even the counts are; one
    that asks which value it is, or what share it has in the table, takes :func:`~mahrem.models.spans_of`.
    """

    sizes: Sizes  # (c,) rows (or people) in each class
    group: Integers = field(repr=False)  # (m,) class of the triplet, ascending
    value: Integers = field(repr=False)  # (m,) value code, ascending within its class
    count: Integers = field(repr=False)  # (m,) how often; never zero
    table: Floats = field(repr=False)  # (values,) share of each value in the whole table
    ancestors: Integers | None = field(default=None, repr=False)  # (levels, values) nodes bottom-up
    held: PeopleHoldings | None = field(default=None, repr=False)  # where people are counted: who shows what
    missing: bool = False  # the last value is that of cells that show none

    @property
    def groups(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @cached_property
    def distinct(self) -> Integers:
        """How many different values each class shows, ``(c,)``."""
        return np.bincount(self.group, minlength=self.groups)

    @cached_property
    def ends(self) -> Integers:
        """Where each class's triplets end, ``(c,)``."""
        return np.cumsum(self.distinct)

    @cached_property
    def starts(self) -> Integers:
        """Where the triplets begin of each class that has any; what ``reduceat`` wants."""
        shown = self.distinct > 0
        return self.ends[shown] - self.distinct[shown]

    @cached_property
    def totals(self) -> Integers:
        """How many values each class shows in all, ``(c,)``: the denominator of its shares.

        Below ``sizes`` where values are missing.
        """
        totals = np.zeros(self.groups, dtype=np.int64)
        totals[self.distinct > 0] = np.add.reduceat(self.count, self.starts)
        return totals

    @cached_property
    def shares(self) -> Floats:
        """The share of each triplet's value in its class."""
        # triplets are sorted: quicker than look-ups
        return self.count / np.repeat(self.totals, self.distinct)

    def against(self, table: Floats) -> Counts:
        """Give the same classes beside another table; what was added up in them is not added up again."""
        other = replace(self, table=table)
        for name in ("distinct", "ends", "starts", "totals", "shares"):
            other.__dict__[name] = getattr(self, name)
        return other

    @cached_property
    def shown(self) -> Counts:
        """The same without the cells that show no value; they still count in the sizes of classes."""
        if not self.missing:
            return self
        ancestors = None if self.ancestors is None else self.ancestors[:, :-1]
        if self.held is not None:
            return people_counts(self.held.without_last(), self.sizes, ancestors)
        counted = self.value != len(self.table) - 1
        table = self.table[:-1]
        return Counts(
            sizes=self.sizes,
            group=self.group[counted],
            value=self.value[counted],
            count=self.count[counted],
            table=table / (table.sum() or 1.0),
            ancestors=ancestors,
        )


NeedKind = Literal[
    "size", "distinct", "tail", "entropy", "bounds", "surplus", "nodes", "ordered", "divergence"
]


@dataclass(frozen=True)
class Need:
    """One bound on the counts of a class, from which a lower bound of the rows it lacks can be worked out.

    With counts ``n`` and their sum ``N`` in a class, ``q`` the shares of the table:

    ==============  ==================================================  ======================================
    kind            holds when                                          rows missing, at least
    ==============  ==================================================  ======================================
    ``size``        rows or people >= amount                            amount less what there is
    ``distinct``    values shown >= amount                              amount less values shown
    ``tail``        n1 < amount * (n_rank + ...), counts descending     n1 / amount less the tail
    ``entropy``     exp(H) >= amount                                    filling up the rarest values
    ``bounds``      low <= n / N <= high for each value                 n / high - N, and what lacks
    ``surplus``     sum of n - q N, where above 0, <= amount * N        over / (their shares + amount)
    ``nodes``       the same, mean over the levels of a tree            the same over all levels
    ``ordered``     mean gap of cumulative shares <= amount             over / what one row closes at most
    ``divergence``  sum of p ln(p / q) <= amount                        filling up those farthest below q
    ==============  ==================================================  ======================================

    No row eases a bound by more than is assumed of every one, so no fewer rows will do.
    """

    kind: NeedKind
    amount: float = 0.0
    rank: int = 0
    low: Floats | None = field(default=None, repr=False)  # (values,) of bounds
    high: Floats | None = field(default=None, repr=False)  # (values,) of bounds
    nodes: Integers | None = field(default=None, repr=False)  # (levels, values) of nodes, the root left out


class Allowance(NamedTuple):
    """How far a class may lie from the table, up to rounding: infinity where that is not asked."""

    surplus: float = math.inf  # what all values together may have too much of
    gain: float = math.inf  # by what part of its share in the table a value may gain


class PrivacyModel(Protocol):
    """A promise about every class; frozen, comparable, and judged for all classes at once.

    ``level`` gives each class's own figure; ``holds`` compares it with what is wanted. ``monotone`` says
    that a union of admissible classes is admissible. ``rising`` says that a larger level is safer, so that
    a table has reached the smallest of its classes' levels (else the largest). ``compares`` says that a class
    is compared with the whole table, so that it matters who else is in it. A class that shows no value
    of the column proves nothing: its level is the worst there is, unless a model says otherwise.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool]
    rising: ClassVar[bool]
    compares: ClassVar[bool] = True
    by_size: ClassVar[bool] = False  # ``least_rows`` are all that a class needs
    growing: ClassVar[bool] = False  # a class that holds does so whatever joins it
    of_members: ClassVar[bool] = False  # about who is in the table at all, not about what a column shows
    of_table: ClassVar[bool] = False  # about all classes together: no single one shows whether it holds
    of_cells: ClassVar[bool] = False  # about what the cells of a class lose: counts alone do not show it
    of_people: ClassVar[bool] = False  # of those: people of a population are counted

    @property
    def wanted(self) -> float:
        """The level asked for."""
        ...

    @property
    def least_rows(self) -> int:
        """No class with fewer rows can hold: lets a method stop early."""
        return 1

    @property
    def unshown(self) -> PrivacyModel:
        """What is asked for people who fit no published class: the same, unless a model says otherwise."""
        return self

    def needs(self, table: Floats, ancestors: Integers | None) -> tuple[Need, ...] | None:  # noqa: ARG002
        """Give what a class needs as algebra, for methods that grow classes row by row.

        Args:
            table: ``(values,)`` share of each value in the whole table.
            ancestors: ``(levels, values)`` nodes of a hierarchy of the column, where there is one.

        Returns:
            Bounds that all hold exactly when the promise does; None: nobody knows but :meth:`holds`.
        """
        return None

    def loosened(self, share: float) -> PrivacyModel | None:  # noqa: ARG002
        """Give what a class keeps in the whole table if it keeps this one when a share of it is taken away.

        Args:
            share: How much of the table is taken away at most, below 1.

        Returns:
            A model that admits every class which this one admits in some such smaller table; None: nobody
            knows one.
        """
        return None if self.compares else self

    def allowance(self) -> Allowance | None:
        """Say how far a class may lie from the table, where that is all there is to it; None: it is not."""
        return None

    def level(self, counts: Counts) -> Levels:
        """Say for every class how far it goes."""
        ...

    def admits(self, levels: Levels, counts: Counts) -> Mask:  # noqa: ARG002
        """Say the same where levels are known already; most models need nothing else, and say this alone."""
        return self.holds(counts)

    def holds(self, counts: Counts) -> Mask:
        """Say for every class whether it may stand."""
        return self.admits(self.level(counts), counts)


def holds_either_way(model: PrivacyModel, counts: Counts) -> Mask:
    """Say for every class whether it may stand, be a cell without a value one more value or none at all."""
    held = model.holds(counts)
    return held & model.holds(counts.shown) if counts.missing else held


def judge_either_way(model: PrivacyModel, counts: Counts) -> tuple[Levels, Mask]:
    """Say for every class how far it goes in the worse of these two readings, and whether it may stand."""
    levels = model.level(counts)
    held = model.admits(levels, counts)
    if not counts.missing:
        return levels, held
    others = model.level(counts.shown)
    worse = np.minimum if model.rising else np.maximum
    return worse(levels, others), held & model.admits(others, counts.shown)


def counts_of(
    labels: Labels, codes: Codes | Integers, classes: int, size: int, ancestors: Integers | None = None
) -> Counts:
    """Count the values of one column in every class, by sorting: plain, for verifying and for tests.

    Args:
        labels: ``(n,)`` class of each row; rows with -1 are not counted anywhere.
        codes: ``(n,)`` value of each row, ``0 .. size - 1``; -1 is a row without a value, which counts in
            the size of its class only.
        classes: How many classes there are; some may be empty.
        size: How many values the column knows.
        ancestors: ``(levels, size)`` nodes of each value, bottom-up.

    Raises:
        InvalidParameter: If a label or a code is out of range, or the lengths differ.

    Example:
        >>> import numpy as np
        >>> counts = counts_of(np.array([0, 0, 1, 0]), np.array([1, 1, 0, 2]), classes=2, size=3)
        >>> counts.group, counts.value, counts.count
        (array([0, 0, 1]), array([1, 2, 0]), array([2, 1, 1]))
    """
    labels, codes = np.asarray(labels, dtype=np.int64), np.asarray(codes, dtype=np.int64)
    if labels.shape != codes.shape:
        raise InvalidParameter(f"codes={codes.size} must be as many as the labels, {labels.size}")
    if labels.max(initial=-1) >= classes or codes.max(initial=-1) >= size:
        raise InvalidParameter(f"classes={classes}, size={size} must be above every label and every code")
    sizes = np.bincount(labels[labels >= 0] if labels.min(initial=0) < 0 else labels, minlength=classes)
    if min(labels.min(initial=0), codes.min(initial=0)) < 0:
        counted = (labels >= 0) & (codes >= 0)
        labels, codes = labels[counted], codes[counted]
    keys, count = distinct_keys(labels * size + codes, classes * size)
    group, value = np.divmod(keys, max(size, 1))
    shown = np.bincount(codes, minlength=size)
    return Counts(
        sizes=sizes,
        group=group,
        value=value,
        count=count,
        table=shown / max(int(shown.sum()), 1),
        ancestors=ancestors,
    )


def people_counts(held: PeopleHoldings, sizes: Sizes, ancestors: Integers | None = None) -> Counts:
    """Count people instead of rows: one value for each person, in the worst way for diversity.

    Args:
        held: Who shows which values.
        sizes: ``(c,)`` people in each class, those without a value too.
        ancestors: ``(levels, values)`` nodes of each value, bottom-up.

    Guarantees:
        - Where every person has one value, the counts are those of their rows.
        - A row more of a person in a class never spreads its counts over more values, nor more evenly.

    Example:
        >>> from mahrem.models import DistinctDiversity
        >>> from mahrem.models.people import PeopleHoldings, holdings_of
        >>> people, ill = np.array([0, 1, 2, 3, 3]), np.array([0, 0, 0, 0, 1])  # the last has two rows
        >>> held = holdings_of(np.zeros(5, int), people, ill, classes=1, size=2)
        >>> DistinctDiversity(2).holds(people_counts(PeopleHoldings(held, held), np.array([4])))
        array([False])
    """
    group, value, _ = held.classes.triplets
    count = held.classes.concentrated
    counted = count > 0
    most = held.table.table[1]
    return Counts(
        sizes=sizes,
        group=group[counted],
        value=value[counted],
        count=count[counted],
        table=most / max(float(most.sum()), 1.0),
        ancestors=ancestors,
        held=held,
    )


def distinct_keys(keys: Integers, most: int) -> tuple[Integers, Integers]:
    """Give distinct keys below ``most``, ascending, and how often each occurs; without sorting where few."""
    if most > 4 * len(keys) + 1024:
        distinct, count = np.unique(keys, return_counts=True)
        return distinct, count
    times = np.bincount(keys, minlength=most)
    distinct = np.flatnonzero(times)
    return distinct, times[distinct]
