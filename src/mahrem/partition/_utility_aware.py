"""The outlier-managed loop around any partitioner: u-Mondrian, u-Canon and their like."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem import arrays, check
from mahrem.partition._canon import by_kinds
from mahrem.partition._leftovers import merge_refused, place_leftovers
from mahrem.partition._mondrian import Mondrian
from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.partition._strata import Within
from mahrem.types import Floats, Integers, Labels, Mask, Offsets, Points, Rows

__all__ = ["ManagedRounds", "UtilityAware", "managed_round", "u_canon", "u_mondrian", "utility_aware"]

REFERENCES = ("tightest", "lof", "distance", "knn")  # in the order of the kernels
STOPS = ("rounds", "empty", "gain")
_CRAWL = 50  # a round that takes less than this part of what it could take is the last one


@dataclass(frozen=True)
class ManagedRounds:
    """What every round did, and what became of the rest."""

    normal: Integers = field(repr=False)  # (r,) rows that got a class
    outliers: Integers = field(repr=False)  # (r,) rows that went on to the next round
    classes: Integers = field(repr=False)  # (r,) classes made
    gcp_sum: Floats = field(repr=False)  # (r,) rows times widths of those classes
    leftovers: int  # rows that no round took
    leftover_classes: int  # classes made of them; 0 when they joined others


def utility_aware(
    points: Points,
    admits: Admits,
    partitioner: Partitioner,
    *,
    rounds: int = 5,
    reference: str = "tightest",
    neighbours: int | None = None,
    manage_normals: bool = False,
    stop: str = "rounds",
    gain: float = 0.01,
) -> Partition:
    """Partition, keep the densest ``k`` records of every part as a class, and partition the others again.

    In every part the reference record and its ``k - 1`` nearest are normal and become a class; the others are
    outliers and go into the next round. What the last round leaves over forms further classes of ``k``, or
    joins the classes that grow least. With a promise beyond ``k``, a class that ``admits`` refuses takes the
    next nearest of its part until it may stand, and leftovers are merged until they may.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        admits: Says of all candidate classes of a round at once which may stand; its minimum is ``k``.
        partitioner: Makes the parts of every round.
        rounds: How many there are with ``stop="rounds"``.
        reference: The record a class is built around: ``tightest`` (its ``k`` nearest have the least widths),
            or the one an outlier detector finds most normal: ``lof`` (as published), ``distance`` (least mean
            distance to all others), ``knn`` (to its ``neighbours`` nearest).
        neighbours: How many ``lof`` and ``knn`` look at, ``k - 1`` by default; never more than there are.
        manage_normals: Let rows change places between near classes afterwards where that lowers the loss.
        stop: ``rounds``; ``empty``: until fewer than ``k`` outliers are left, or a round takes hardly any;
            ``gain``: until another round would lower the loss by less than the share ``gain``.
        gain: See ``stop``.

    Raises:
        InvalidParameter: If a setting is unknown or out of range.
        Infeasible: If ``admits`` refuses the table as one class.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - With a plain minimum ``k``, every class that a round makes has exactly ``k`` rows.

    References:
        Canbay: doctoral thesis, 2019 (u-Mondrian, u-Canon); the tightest reference is ours.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission, Mondrian
        >>> points = np.array([[0.0], [0.1], [0.5], [0.9], [1.0]])
        >>> admits = Admission(((KAnonymity(2), None),), rows=5)
        >>> utility_aware(points, admits, Mondrian()).labels
        array([0, 0, 0, 1, 1])
    """
    _check(rounds, reference, neighbours, stop, gain)
    points = np.ascontiguousarray(points, np.float64)
    minimum = max(1, admits.minimum)
    loop = _Loop(points, admits, minimum, REFERENCES.index(reference), neighbours or max(1, minimum - 1))
    rest, expected = np.arange(len(points), dtype=np.int32), np.inf
    while len(loop.log) < rounds or stop != "rounds":
        if loop.log and not _worth_a_round(rest, minimum, admits):
            break
        before = len(rest)
        parts = loop.parts(partitioner, rest)
        if stop == "gain" and loop.log and expected - parts.expected < gain * expected:
            break
        expected = parts.expected
        rest = loop.keep(parts, rest)
        if len(rest) == before or (stop != "rounds" and before - len(rest) < before // _CRAWL):
            break
    return loop.finish(rest, manage_normals=manage_normals)


def managed_round(
    points: Points,
    admits: Admits,
    partitioner: Partitioner,
    *,
    reference: str = "tightest",
    neighbours: int | None = None,
) -> Partition:
    """Do one round of :func:`utility_aware` and leave the outliers without a class.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        admits: Says of all candidate classes at once which may stand; its minimum is ``k``.
        partitioner: Makes the parts.
        reference: The record a class is built around.
        neighbours: How many outlier detectors look at.

    Guarantees:
        - ``admits`` accepts every class; outliers are labelled -1.
    """
    _check(1, reference, neighbours, "rounds", 0.0)
    points = np.ascontiguousarray(points, np.float64)
    minimum = max(1, admits.minimum)
    loop = _Loop(points, admits, minimum, REFERENCES.index(reference), neighbours or max(1, minimum - 1))
    rest = np.arange(len(points), dtype=np.int32)
    loop.keep(loop.parts(partitioner, rest), rest)
    return Partition(labels=loop.labels, classes=loop.classes)


def _check(rounds: int, reference: str, neighbours: int | None, stop: str, gain: float) -> None:
    check.at_least(1, rounds=check.whole(rounds=rounds))
    check.one_of(REFERENCES, reference=reference)
    check.one_of(STOPS, stop=stop)
    check.between(0, 1, gain=gain)
    if neighbours is not None:
        check.at_least(1, neighbours=check.whole(neighbours=neighbours))


def _worth_a_round(rest: Rows, minimum: int, admits: Admits) -> bool:
    """Say whether the outliers could stand as one class, which is all a partitioner asks for."""
    enough = len(rest) >= minimum
    return enough and (admits.plain or bool(admits(rest, np.array([0, len(rest)], np.int64)).all()))


@dataclass(frozen=True)
class _Parts:
    """The parts of one round, the normal records of each at its front."""

    rows: Rows  # one part after the other
    offsets: Offsets
    widths: Floats  # (p, 2) of the first k, and of all
    expected: float  # loss if this round's parts became classes as they are


class _Loop:
    """The rounds so far."""

    def __init__(self, points: Points, admits: Admits, minimum: int, rule: int, neighbours: int) -> None:
        self.points, self.admits, self.minimum = points, admits, minimum
        self.rule, self.neighbours = rule, neighbours
        self.labels: Labels = np.full(len(points), -1, np.int64)
        self.classes = 0
        self.log: list[tuple[int, int, int, float]] = []  # normal, outliers, classes, gcp_sum

    def parts(self, partitioner: Partitioner, rest: Rows) -> _Parts:
        """Partition what is left and find the normal records of every part."""
        whole = len(rest) == len(self.points)
        here = self.points if whole else self.points[rest]
        partition = partitioner(here, self.admits if whole else Within(self.admits, rest))
        rows, offsets = arrays.rows_by_label(partition.labels, partition.classes)
        widths = arrays.normals_first(
            here,
            rows,
            offsets,
            self.minimum,
            rule=self.rule,
            neighbours=self.neighbours,
            sort=not self.admits.plain,
        )
        losses = sum(loss for *_, loss in self.log)
        expected = losses + float(np.diff(offsets) @ widths[:, 1])
        return _Parts(rows if whole else rest[rows], offsets, widths, expected)

    def keep(self, parts: _Parts, rest: Rows) -> Rows:
        """Make classes of the normal records; gives the outliers."""
        sizes = np.diff(parts.offsets)
        taken = np.where(sizes >= self.minimum, self.minimum, 0)
        if not self.admits.plain:
            taken = self._admitted(parts, taken)
        loss = float(taken @ parts.widths[:, 0])
        kept = taken > 0
        numbers = np.where(kept, np.cumsum(kept) - 1 + self.classes, -1)
        places = np.arange(len(parts.rows)) - np.repeat(parts.offsets[:-1], sizes)
        normal: Mask = places < np.repeat(taken, sizes)
        self.labels[parts.rows[normal]] = np.repeat(numbers, taken)
        if (taken > self.minimum).any():
            loss = self._loss(parts.rows[normal], taken[kept])
        made = int(np.count_nonzero(kept))
        self.classes += made
        left = rest[self.labels[rest] < 0]
        if made:
            self.log.append((int(taken.sum()), len(left), made, loss))
        return left

    def _admitted(self, parts: _Parts, taken: Integers) -> Integers:
        """Let every class grow by the next nearest of its part until it may stand; 0 = it never may."""
        sizes, taken = np.diff(parts.offsets), taken.copy()
        waiting = np.flatnonzero(taken)
        while len(waiting):
            length = taken[waiting]
            offsets = np.concatenate([[0], np.cumsum(length)])
            inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
            rows = parts.rows[np.repeat(parts.offsets[waiting], length) + inside]
            refused = waiting[~self.admits(rows, offsets)]
            hopeless = taken[refused] == sizes[refused]
            taken[refused[hopeless]] = 0
            waiting = refused[~hopeless]
            # one by one while small; larger steps later, so that a large part is not judged a thousand times
            taken[waiting] = np.minimum(taken[waiting] + np.maximum(1, taken[waiting] // 8), sizes[waiting])
        return taken

    def _loss(self, rows: Rows, sizes: Integers) -> float:
        """Add up rows times widths of classes that lie one after the other."""
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        here = self.points[rows]
        widths = np.maximum.reduceat(here, starts, axis=0) - np.minimum.reduceat(here, starts, axis=0)
        return float(sizes @ widths.sum(axis=1))

    def _swapped(self, labels: Labels, classes: int) -> Labels:
        """Let rows change places; where a class may not stand then, its tile stays as it was."""
        swapped, tiles = arrays.swap_rows(self.points, labels, classes)
        if self.admits.plain:
            return swapped
        spoilt = np.zeros(classes, np.bool_)  # by tile, of which there are fewer
        spoilt[tiles[~self.admits(*arrays.rows_by_label(swapped, classes))]] = True
        return np.where(spoilt[tiles[labels]], labels, swapped)

    def finish(self, rest: Rows, *, manage_normals: bool) -> Partition:
        """Give the leftovers a class, merge what may not stand, and number the classes."""
        before, labels = self.classes, self.labels
        classes = place_leftovers(self.points, labels, before, self.minimum)
        made = classes - before
        if not self.admits.plain:
            labels, classes = merge_refused(self.points, labels, classes, self.admits)
        if manage_normals:
            labels = self._swapped(labels, classes)
        normal, outliers, counts, losses = zip(*self.log, strict=True) if self.log else ((),) * 4
        log = ManagedRounds(
            normal=np.array(normal, np.int64),
            outliers=np.array(outliers, np.int64),
            classes=np.array(counts, np.int64),
            gcp_sum=np.array(losses, np.float64),
            leftovers=len(rest),
            leftover_classes=made,
        )
        return Partition(labels=labels, classes=classes, how=log)


@dataclass(frozen=True)
class UtilityAware:
    """:func:`utility_aware` as data: the u-model of any partitioner."""

    partitioner: Partitioner
    rounds: int = 5
    reference: str = "tightest"
    neighbours: int | None = None
    manage_normals: bool = False
    stop: str = "rounds"
    gain: float = 0.01

    def __post_init__(self) -> None:
        _check(self.rounds, self.reference, self.neighbours, self.stop, self.gain)

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        return utility_aware(
            points,
            admits,
            self.partitioner,
            rounds=self.rounds,
            reference=self.reference,
            neighbours=self.neighbours,
            manage_normals=self.manage_normals,
            stop=self.stop,
            gain=self.gain,
        )


def u_mondrian(
    *,
    strict: bool = True,
    cut: str = "median",
    rounds: int = 5,
    reference: str = "tightest",
    neighbours: int | None = None,
    manage_normals: bool = False,
    stop: str = "rounds",
    gain: float = 0.01,
) -> UtilityAware:
    """Make the u-model of Mondrian.

    Example:
        >>> u_mondrian(strict=False).partitioner
        Mondrian(strict=False, cut='median')
    """
    return UtilityAware(Mondrian(strict, cut), rounds, reference, neighbours, manage_normals, stop, gain)


def u_canon(
    *,
    seed: int | None = None,
    categorical: tuple[int, ...] = (),
    distance: str | None = None,
    vantage: str = "far",
    power: float = 3.0,
    share: float = 0.5,
    rounds: int = 5,
    reference: str = "tightest",
    neighbours: int | None = None,
    manage_normals: bool = False,
    stop: str = "rounds",
    gain: float = 0.01,
) -> UtilityAware:
    """Make the u-model of Canon; the distance is ``mixed`` where there are categories, else Euclid's.

    Example:
        >>> u_canon(seed=1).partitioner.vantage
        'far'
    """
    canon = by_kinds(
        seed=seed, categorical=categorical, distance=distance, vantage=vantage, power=power, share=share
    )
    return UtilityAware(canon, rounds, reference, neighbours, manage_normals, stop, gain)
