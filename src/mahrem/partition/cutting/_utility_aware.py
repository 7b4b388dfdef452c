"""The outlier-managed loop around any partitioner: u-Mondrian, u-Canon and their like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from mahrem import check
from mahrem.arrays import tiling
from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.partition.cutting._canon import by_kinds
from mahrem.partition.cutting._mondrian import Mondrian
from mahrem.partition.judging import Within, merge_refused, place_leftovers
from mahrem.types import Floats, Integers, Labels, Mask, Offsets, Points, Rows

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


@dataclass(frozen=True)
class UtilityAware:
    """Partition, keep the densest ``k`` records of every part as a class, and partition the others again.

    In every part the reference record and its ``k - 1`` nearest are normal and become a class; the others are
    outliers and go into the next round. What the last round leaves over forms further classes of ``k``, or
    joins the classes that grow least. With a promise beyond ``k``, a class that ``admits`` refuses takes the
    next nearest of its part until it may stand, and leftovers are merged until they may.

    Args:
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
        >>> UtilityAware(Mondrian())(points, admits).labels
        array([0, 0, 0, 1, 1])
    """

    partitioner: Partitioner
    rounds: int = 5
    reference: str = "tightest"
    neighbours: int | None = None
    manage_normals: bool = False
    stop: str = "rounds"
    gain: float = 0.01

    def __post_init__(self) -> None:
        check.at_least(1, rounds=check.whole(rounds=self.rounds))
        check.one_of(REFERENCES, reference=self.reference)
        check.one_of(STOPS, stop=self.stop)
        check.between(0, 1, gain=self.gain)
        if self.neighbours is not None:
            check.at_least(1, neighbours=check.whole(neighbours=self.neighbours))

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows into classes that ``admits`` accepts."""
        loop = _Loop(points, admits, self)
        rest, expected = np.arange(len(points), dtype=np.int32), np.inf
        while len(loop.log) < self.rounds or self.stop != "rounds":
            if loop.log and not _worth_a_round(rest, loop.minimum, admits):
                break
            before = len(rest)
            parts = loop.parts(rest)
            if self.stop == "gain" and loop.log and expected - parts.expected < self.gain * expected:
                break
            expected = parts.expected
            rest = loop.keep(parts, rest)
            if len(rest) == before or (self.stop != "rounds" and before - len(rest) < before // _CRAWL):
                break
        return loop.finish(rest)


def managed_round(
    points: Points,
    admits: Admits,
    partitioner: Partitioner,
    *,
    reference: str = "tightest",
    neighbours: int | None = None,
) -> Partition:
    """Do one round of :class:`UtilityAware` and leave the outliers without a class.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        admits: Says of all candidate classes at once which may stand; its minimum is ``k``.
        partitioner: Makes the parts.
        reference: The record a class is built around.
        neighbours: How many outlier detectors look at.

    Guarantees:
        - ``admits`` accepts every class; outliers are labelled -1.
    """
    loop = _Loop(points, admits, UtilityAware(partitioner, reference=reference, neighbours=neighbours))
    rest = np.arange(len(points), dtype=np.int32)
    loop.keep(loop.parts(rest), rest)
    return Partition(labels=loop.labels, classes=loop.classes)


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

    def __init__(self, points: Points, admits: Admits, settings: UtilityAware) -> None:
        self.points, self.admits = np.ascontiguousarray(points, np.float64), admits
        self.settings, self.minimum = settings, max(1, admits.minimum)
        self.labels: Labels = np.full(len(points), -1, np.int64)
        self.classes = 0
        self.log: list[tuple[int, int, int, float]] = []  # normal, outliers, classes, gcp_sum

    def parts(self, rest: Rows) -> _Parts:
        """Partition what is left and find the normal records of every part."""
        whole = len(rest) == len(self.points)
        here = self.points if whole else self.points[rest]
        partition = self.settings.partitioner(here, self.admits if whole else Within(self.admits, rest))
        rows, offsets = tiling.rows_by_label(partition.labels, partition.classes)
        widths = tiling.normals_first(
            here,
            rows,
            offsets,
            self.minimum,
            rule=REFERENCES.index(self.settings.reference),
            neighbours=self.settings.neighbours or max(1, self.minimum - 1),
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
        classes = int(np.count_nonzero(kept))
        self.classes += classes
        left = rest[self.labels[rest] < 0]
        if classes:
            self.log.append((int(taken.sum()), len(left), classes, loss))
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
        swapped, tiles = tiling.swap_rows(self.points, labels, classes)
        if self.admits.plain:
            return swapped
        spoilt = np.zeros(classes, np.bool_)  # by tile, of which there are fewer
        spoilt[tiles[~self.admits(*tiling.rows_by_label(swapped, classes))]] = True
        return np.where(spoilt[tiles[labels]], labels, swapped)

    def finish(self, rest: Rows) -> Partition:
        """Give the leftovers a class, merge what may not stand, and number the classes."""
        before, labels = self.classes, self.labels
        classes = place_leftovers(self.points, labels, before, self.minimum)
        of_leftovers = classes - before
        if not self.admits.plain:
            labels, classes = merge_refused(self.points, labels, classes, self.admits)
        if self.settings.manage_normals:
            labels = self._swapped(labels, classes)
        normal, outliers, counts, losses = zip(*self.log, strict=True) if self.log else ((),) * 4
        log = ManagedRounds(
            normal=np.array(normal, np.int64),
            outliers=np.array(outliers, np.int64),
            classes=np.array(counts, np.int64),
            gcp_sum=np.array(losses, np.float64),
            leftovers=len(rest),
            leftover_classes=of_leftovers,
        )
        return Partition(labels=labels, classes=classes, how=log)


def u_model(method: Callable[..., Partitioner], *, without: str = "") -> Callable[..., UtilityAware]:
    """Give the factory of a method's u-model: it takes the settings of both by name, but for one.

    Example:
        >>> u_mondrian(strict=False, rounds=3)
        UtilityAware(partitioner=Mondrian(strict=False, cut='median'), rounds=3, reference='tightest', \
neighbours=None, manage_normals=False, stop='rounds', gain=0.01)
    """
    inner, outer = signature(method).parameters, signature(UtilityAware).parameters
    known = {name: each for name, each in {**inner, **outer}.items() if name not in {"partitioner", without}}

    def build(**settings: Any) -> UtilityAware:
        own = {name: settings.pop(name) for name in known if name in settings and name in inner}
        return UtilityAware(method(**own), **settings)

    named = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in known.values()]
    build.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return build


u_mondrian = u_model(Mondrian, without="hierarchies")
u_canon = u_model(by_kinds)
