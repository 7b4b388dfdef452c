"""Repair: classes of any method, changed step by step while their published cells lose less."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mahrem import check
from mahrem.arrays import growing
from mahrem.errors import InvalidParameter
from mahrem.metrics import Guesser
from mahrem.partition._partition import Admits, Levels, Partition, Partitioner
from mahrem.partition.judging import (
    ColumnCosts,
    Within,
    class_means,
    features,
    judge_classes,
    pack_costs,
    pack_promises,
    plain_costs,
)
from mahrem.types import Floats, Integers, Labels, Mask, Points, Rows

FEW_ROWS = 5_000  # up to which time is no matter
_SMALL = 50_000  # rows up to which a thorough repair takes a few seconds
_TILE = 256
_PLACE = 2_048  # rows of a tile where those that fit nowhere nearer look for a class
_PLACINGS = 4  # times that they look, each with other borders
_WORTH = 1e-3  # share of the loss that a round must take away for another to follow
_MANY = 4_096  # rounds times rows of a tile where sizes alone are promised: large tiles take longer
_STEADY = 4, 5e-4  # rounds that are looked at together in tables of some size, and the share they must take
_NEAR = 0.01  # that blind steps may let members be guessed better, over chance, than before
_BARREN = 4  # blind rounds in a row of which nothing may be taken, after which none follows
_SHARES = (0.5, 0.25, 0.125)  # of a round whose whole would let them be guessed better
_ASKED = 16  # rows of the smallest tile where promises must be asked: one that is refused spoils it all


@dataclass(frozen=True, kw_only=True)
class Repair:
    """How classes are repaired.

    Args:
        rounds: Times over the table at most; None for 8, or 16 where numbers of values are promised and 12
            to 32 where sizes alone are, up to 5,000 rows 12, above 50,000 rows 3. It ends when four
            rounds together gain less than 0.05 % of the loss, up to 5,000 rows when one gains less than
            that, above 50,000 rows when one gains less than 0.1 %.
        seconds: Begin no round that, as long as the one before, would end later than so; None for no limit.
        reach: Dissolving a class is tried when it adds at most so many times its loss to others; 0 for moves
            and swaps only; None for 2, or 4 where sizes alone are promised, up to 50,000 rows.
        blind: Let cells alone say where a record should go, and promises only whether it may. Rounds after
            which members are guessed better than at first, by more than a hundredth over chance, do not
            count; after four of them in a row it ends.
        tile: Rows of a tile; None for 16 times the least size (32 times up to 5,000 rows), not below 256, or
            below 128 where sizes alone are promised in tables of 5,000 to 50,000 rows.
    """

    rounds: int | None = None
    seconds: float | None = None
    reach: float | None = None
    blind: bool = False
    tile: int | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None:
            check.at_least(0, rounds=check.whole(rounds=self.rounds))
        if self.seconds is not None:
            check.at_least(0, seconds=self.seconds)
        if self.tile is not None:
            check.at_least(1, tile=check.whole(tile=self.tile))
        if self.reach is not None:
            check.at_least(0, reach=self.reach)


class _Plan(NamedTuple):
    """How classes are repaired, with nothing left open."""

    rounds: int
    tile: int
    thoroughness: growing.Thoroughness
    window: int  # rounds that are looked at together
    worth: float  # share of the loss that they must take away

    def slow(self, totals: Sequence[float]) -> bool:
        """Say whether the last rounds took too little away for another to follow."""
        if len(totals) <= self.window:
            return False
        before = totals[-1 - self.window]
        return before - totals[-1] < self.worth * before


class Bench:
    """A table ready for repair: what cells cost, what classes need, where rows lie."""

    def __init__(
        self, points: Points, admits: Admits, columns: tuple[ColumnCosts, ...], threads: int | None = None
    ) -> None:
        """Lay out a table; ``columns`` says what cells cost."""
        needs = None if (given := getattr(admits, "needs", None)) is None else given()
        self._admits, self._threads, self._refused = admits, threads, False
        self.certain = admits.plain or (needs is not None and needs.certain)
        least = max(1, admits.minimum)
        self.promises = pack_promises(least, (), len(points)) if needs is None else needs.promises
        self.costs = pack_costs(np.ascontiguousarray(points), columns)
        self._points, self._where = points, features(points, columns)

    def total(self, labels: Labels, classes: int) -> float:
        """Give what all cells cost."""
        return float(growing.class_costs(self.costs, self.promises, labels, classes, self._threads).sum())

    @cached_property
    def _guessers(self) -> tuple[Guesser, ...]:
        """Who guesses the values of each column that something is promised about."""
        return tuple(Guesser(self._points, codes) for codes in self.promises.codes)

    def bounds(self, labels: Labels) -> Floats:
        """Give how much better than chance members may be guessed: little better than in these classes."""
        return np.array([guess(labels).gain + _NEAR for guess in self._guessers])

    def within(self, labels: Labels, bounds: Floats | None) -> bool:
        """Say whether the members of classes are guessed no better than that, for every column."""
        return bounds is None or all(
            guess(labels).gain <= most for guess, most in zip(self._guessers, bounds, strict=True)
        )

    def repaired(
        self, labels: Labels, classes: int, how: Repair, bounds: Floats | None = None
    ) -> tuple[Labels, int]:
        """Change classes, all of which keep their promises, while the total falls.

        Gives the last classes that are :meth:`within` bounds; those to begin with if there are none.
        """
        began = time.perf_counter()
        plan = self._plan(how, len(labels))
        labels = in_their_order(labels, classes)  # how a start numbered them must not matter
        first, totals, tile = (labels, classes), [self.total(labels, classes)], plan.tile
        last, barren = first, 0
        for turn in range(1, plan.rounds + 1):
            begun = time.perf_counter()
            labels, classes = growing.repair_round(
                self.costs,
                self.promises,
                labels,
                classes,
                class_means(self._where, labels, classes),
                tile=tile,
                turn=turn,
                thoroughness=plan.thoroughness,
                keeps=None if self.certain else self._keeps,
                threads=self._threads,
            )
            labels, classes = self._taken(last[0], labels, turn, bounds)
            total, now = self.total(labels, classes), time.perf_counter()
            late = how.seconds is not None and 2 * now - begun - began > how.seconds
            if bounds is not None and total >= totals[-1]:
                barren += 1
                if late or barren == _BARREN:
                    break
                continue  # nothing was taken; with other borders something may be
            last, barren = (labels, classes), 0
            totals.append(total)
            over = plan.slow(totals)
            if self._refused and over and tile > _ASKED:  # as a whole: of smaller ones fewer are
                tile = max(_ASKED, tile // 8)
            elif over or late:
                break
        if self.total(*last) >= totals[0] or not self._keeps(*last).all():
            return first
        return last

    def _taken(self, old: Labels, new: Labels, turn: int, bounds: Floats | None) -> tuple[Labels, int]:
        """Take what a round changed if members are then guessed within bounds, else a part of it that is.

        Which part does not depend on values. Classes of a part are made of whole classes before and after.
        """
        if self.within(new, bounds):
            return new, int(new.max()) + 1
        draws = np.random.default_rng(turn).random(int(old.max()) + 1)[_whole_parts(old, new)]
        for share in _SHARES:
            mixed = np.unique(np.where(draws < share, new, int(new.max()) + 1 + old), return_inverse=True)[1]
            if self.within(mixed, bounds):
                return mixed, int(mixed.max()) + 1
        return old, int(old.max()) + 1

    def _plan(self, how: Repair, rows: int) -> _Plan:
        """Say how to repair, with what was not asked for chosen by rows and promises."""
        # where steps ask about sizes alone a round costs little, and dissolving is worth more tries
        people, kinds = len(self.promises.person) > 0, self.promises.kind
        alone = len(kinds) == 0 and not people
        counted = not people and bool((kinds == growing.DISTINCT).all())
        few, small = rows <= FEW_ROWS, rows <= _SMALL
        steady = small and not few and self.certain
        usual = max(_TILE // 2 if steady and alone else _TILE, (32 if few else 16) * self.promises.least)
        if not small:
            rounds = 3
        elif few:
            rounds = 12
        elif alone:
            rounds = max(12, _MANY // usual)
        else:
            rounds = 16 if counted else 8
        reach = how.reach if how.reach is not None else (4.0 if alone and small else 2.0)
        passes = 2 if few else 1  # other borders gain more in a second than another pass
        return _Plan(
            rounds if how.rounds is None else how.rounds,
            how.tile or usual,
            growing.Thoroughness(passes, float(reach), how.blind),
            *(_STEADY if steady else (1, _STEADY[1] if few else _WORTH)),
        )

    def placed(self, labels: Labels, classes: int) -> tuple[Labels, int]:
        """Let rows that wait, -1, join near classes that keep their promises with them, if any does."""
        for turn in range(1, _PLACINGS + 1):
            waiting = np.flatnonzero(labels < 0)
            if not len(waiting) or not classes:
                break
            kept = labels >= 0
            centres = class_means(self._where[kept], labels[kept], classes)
            labels, classes = growing.place_waiting(
                self.costs,
                self.promises,
                labels,
                classes,
                np.concatenate([centres, self._where[waiting]]),
                tile=_PLACE,
                turn=turn,
                threads=self._threads,
            )
        return labels, classes

    def _keeps(self, labels: Labels, classes: int) -> Mask:
        kept = judge_classes(labels, np.arange(classes), classes, self._admits)
        self._refused = not kept.all()
        return kept


def _whole_parts(old: Labels, new: Labels) -> Labels:
    """Number parts that are made of whole classes of both partitions, each by its first old class."""
    part = old
    while True:
        linked = part
        for labels in (new, old):
            first = np.full(int(labels.max()) + 1, len(labels))
            np.minimum.at(first, labels, linked)
            linked = first[labels]
        if (linked == part).all():
            return part
        part = linked


def in_their_order(labels: Labels, classes: int) -> Labels:
    """Number classes by the first row of each."""
    first = np.empty(classes, np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    numbers = np.empty(classes, np.int64)
    numbers[np.argsort(first)] = np.arange(classes)
    return numbers[labels]


def steady_order(points: Points, admits: Admits) -> Rows:
    """Put rows in an order that does not depend on the one they came in: by places, values, and people.

    Rows that are still equal are alike in everything that classes are made by.

    Guarantees:
        - What people are called, or numbered by, has no say in the order.
    """
    keys: list[Floats | Integers] = [points[:, column] for column in reversed(range(points.shape[1]))]
    needs = getattr(admits, "needs", None)
    if needs is not None:
        promises = needs().promises
        keys = [*promises.codes, *keys]
        if len(promises.person):
            keys = [_people_by_rows(promises.person, _ranks(keys, len(points))), *keys]
    return np.lexsort(keys).astype(np.int32) if keys else np.arange(len(points), dtype=np.int32)


def _ranks(keys: Sequence[Floats | Integers], rows: int) -> Integers:
    """Number rows by keys, of which the last counts most; equal ones share a number."""
    order = np.lexsort(keys) if keys else np.arange(rows)
    new = np.zeros(rows, np.bool_)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty(rows, np.int64)
    ranks[order] = np.cumsum(new)
    return ranks


def _people_by_rows(person: Integers, ranks: Integers) -> Integers:
    """Number people by how many rows they have, what these are, and which comes first; -1 stays.

    Two people with the same rows can change places: all that differs is whose row comes first.
    """
    order = np.lexsort((ranks, person))
    order = order[person[order] >= 0]
    begins = np.flatnonzero(np.diff(person[order], prepend=-1))
    many = np.diff(begins, append=len(order))
    numbers = np.empty(len(begins), np.int64)
    given = 0
    for rows in np.unique(many).tolist():
        alike = np.flatnonzero(many == rows)
        theirs = order[begins[alike][:, None] + np.arange(rows)]
        by = np.lexsort((theirs.min(axis=1), *ranks[theirs].T[::-1]))
        numbers[alike[by]] = given + np.arange(len(alike))
        given += len(alike)
    numbered = np.full(len(person), -1)
    numbered[order] = np.repeat(numbers, many)
    return numbered


@dataclass(frozen=True)
class Repaired:
    """Let a method sort rows into classes, then repair them: published cells lose less, promises stay kept.

    A record moves to another class, two records change places, a class is formed of what others can spare, a
    class is dissolved and another formed in its place, each only if the total loss of the published cells
    falls and every class it touches keeps its promises.

    Args:
        method: Makes the classes to begin with; it must give every row one.
        repair: How far to go.
        cells: What published cells cost; by default widths on the scaled axes, or shares of nodes.

    Raises:
        InvalidParameter: If the method lifts whole columns: its cells are levels, not those of a class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - The cells cost no more than those of the method alone.
        - Blind, members are guessed (:func:`mahrem.metrics.guess_within_classes`) at most 0.01 better over
          chance than in its classes, for every column with a promise.
        - The result does not depend on the number of threads.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission, Mondrian
        >>> points = np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])
        >>> Repaired(Mondrian())(points, Admission(((KAnonymity(2), None),), rows=5)).labels
        array([0, 0, 0, 1, 1])
    """

    method: Partitioner
    repair: Repair = field(default_factory=Repair)
    cells: tuple[ColumnCosts, ...] = field(default=(), repr=False)

    def __call__(self, points: Points, admits: Admits, *, threads: int | None = None) -> Partition:
        """Sort rows into classes that ``admits`` accepts; the result does not depend on ``threads``."""
        if getattr(self.method, "whole_table", False):
            raise InvalidParameter(
                "repair is for methods whose cells follow their classes; this one lifts columns"
            )
        began = time.perf_counter()
        start = self.method(points, admits)
        if isinstance(start.how, Levels) or (start.labels < 0).any() or start.classes < 2:
            return start
        columns = self.cells or plain_costs(points, getattr(self.method, "hierarchies", ()))
        order = steady_order(points, admits)
        bench = Bench(points[order], Within(admits, order), columns, threads)
        first = start.labels[order]
        bounds = bench.bounds(first) if self.repair.blind else None
        how, seconds = self.repair, self.repair.seconds
        if seconds is not None:  # the method's own time counts
            how = replace(how, seconds=max(0.0, seconds + began - time.perf_counter()))
        repaired_labels, classes = bench.repaired(first, start.classes, how, bounds)
        labels = np.empty_like(start.labels)
        labels[order] = repaired_labels
        return Partition(labels=in_their_order(labels, classes), classes=classes)
