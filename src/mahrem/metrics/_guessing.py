"""What members of a class give away by being in it: guesses of who has a value, against chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from mahrem.types import Codes, Floats, Integers, Labels, Mask, Points

_BINS = 10
_SHARE = 0.05  # of the rows that a value must have: of a handful of people a guess says nothing
_MOST = 0.5  # of the rows: who has what most have is known without a guess


@dataclass(frozen=True)
class Guesses:
    """How often guessing who in a class has a value is right, of all who have it."""

    chance: float  # members taken at random
    extremes: float  # those whose cells would shrink most without them
    model: float  # those who look most like it, by a naive model of the whole table
    spread: float = 0.0  # standard deviation of taking members at random, at most: what luck does to a guess

    @property
    def gain(self) -> float:
        """What the better guess has over chance."""
        return max(self.extremes, self.model) - self.chance


class Guesser:
    """Somebody who knows everybody's quasi-identifiers and guesses, class by class, who has a value.

    A class shows how many of its members have a value, not who. Whoever knows the members takes so many of
    them, in some order: the extreme ones first, or those who look most like it. Each value is guessed by
    itself, and the mean over the values counts. Where members are equal in that order, any of them may be
    taken: the share that is right is then an expectation, and no luck of ours is in it.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        codes: ``(n,)`` sensitive value of each row; -1 = none.
        value: The value to guess; None for each that a twentieth of the rows have, and half of them at most.

    Example:
        >>> points = np.array([[0.0], [0.1], [0.9], [0.0], [0.1], [0.9]])
        >>> Guesser(points, np.array([0, 0, 1, 0, 0, 1]), 1)(np.array([0, 0, 0, 1, 1, 1]))
        Guesses(chance=0.3333333333333333, extremes=1.0, model=1.0, spread=0.3333333333333333)
    """

    def __init__(self, points: Points, codes: Codes | Integers, value: int | None = None) -> None:
        """Learn what is known before there are classes: how much each row looks like having a value."""
        self._points = points
        values = _common(np.bincount(codes[codes >= 0], minlength=1)) if value is None else [value]
        self._values = []
        for one in values:
            has = codes == one
            likeness = _likeness(points, has)
            self._values.append((has, likeness, np.argsort(-likeness, kind="stable")))

    def __call__(self, labels: Labels) -> Guesses:
        """Guess in the classes of a partition, every row of which has one."""
        if not self._values or not len(labels):
            return Guesses(0.0, 0.0, 0.0)
        sizes = np.bincount(labels)
        shrinks = box_shrinks(self._points, labels)
        widest = np.argsort(-shrinks, kind="stable")
        rates = []
        for has, likeness, likeliest in self._values:
            held = np.bincount(labels[has], minlength=len(sizes))
            right = (
                fsum(held * held / np.maximum(sizes, 1)),  # however classes are numbered
                _expected(shrinks, widest, labels, held, has),
                _expected(likeness, likeliest, labels, held, has),
                _luck(held, sizes),
            )
            rates.append(np.array(right) / max(int(held.sum()), 1))
        return Guesses(*np.mean(rates, axis=0).tolist())


def guess_within_classes(
    points: Points, labels: Labels, codes: Codes | Integers, value: int | None = None
) -> Guesses:
    """Guess in every class who has a value, from a published table and everybody's quasi-identifiers.

    A method that chooses members by their values may give them away: members that were taken from afar for
    their value are the extreme ones. How it is done :class:`Guesser` says.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        labels: ``(n,)`` class of each row; -1 = suppressed, not counted.
        codes: ``(n,)`` sensitive value of each row; -1 = none.
        value: The value to guess; None for each that a twentieth of the rows have, and half of them at most.

    Example:
        >>> points = np.array([[0.0], [0.1], [0.9], [0.0], [0.1], [0.9]])
        >>> guess_within_classes(points, np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 1])).gain
        0.6666666666666667
    """
    shown = labels >= 0
    return Guesser(points[shown], codes[shown], value)(labels[shown])


def _common(held: Integers) -> list[int]:
    """Give the values worth a guess, from how many have each."""
    rows = int(held.sum())
    common = held >= max(_SHARE * rows, 1)
    rare = np.flatnonzero(common & (held <= _MOST * rows))
    return [int(one) for one in (rare if len(rare) else np.flatnonzero(common))]


def _expected(score: Floats, order: Integers, labels: Labels, held: Integers, has: Mask) -> float:
    """Say how many guesses are right where classes are gone through by falling scores, any first of equals.

    ``order`` sorts rows by falling scores.
    """
    order = order[np.argsort(labels[order], kind="stable")]
    inside, scores = labels[order], score[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (inside[1:] != inside[:-1]) | (scores[1:] != scores[:-1])
    starts = np.flatnonzero(first)
    alike = np.diff(np.append(starts, len(order)))
    right = np.add.reduceat(has[order].astype(np.int64), starts)
    place = starts - np.searchsorted(inside, inside[starts])
    return fsum(np.clip(held[inside[starts]] - place, 0, alike) * right / alike)


def _luck(held: Integers, sizes: Integers) -> float:
    """Give the standard deviation of how many guesses are right where members are taken at random."""
    others = sizes - held
    # hypergeometric: so many of a class are taken as have the value
    variance = (held * others / np.maximum(sizes, 1)) ** 2 / np.maximum(sizes - 1, 1)
    return sqrt(fsum(variance))


def rarest_common(held: Integers) -> int:
    """Give the rarest value that a twentieth of the rows have, from how many have each; else the commonest.

    Example:
        >>> rarest_common(np.array([60, 3, 37]))
        2
    """
    rows = int(held.sum())
    return int(np.where(held >= min(_SHARE * rows, held.max()), held, rows + 1).argmin())


def take_first(score: Floats, labels: Labels, held: Integers, ties: Floats) -> Mask:
    """Take the rows with the highest scores of each class, ``held`` of them; ``ties`` decides among equals.

    Example:
        >>> take_first(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 0]), np.array([2]), np.zeros(3))
        array([False,  True,  True])
    """
    order = np.lexsort((ties, -score, labels))
    inside = labels[order]
    place = np.arange(len(order)) - np.searchsorted(inside, inside)
    taken: Mask = np.zeros(len(labels), np.bool_)
    taken[order] = place < held[inside]
    return taken


def box_shrinks(points: Points, labels: Labels) -> Floats:
    """Give by how much the box of a row's class shrinks without the row.

    Example:
        >>> box_shrinks(np.array([[0.0], [0.5], [2.0]]), np.array([0, 0, 0]))
        array([0.5, 0. , 1.5])
    """
    shrinks: Floats = np.zeros(len(labels))
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    several = sizes > 1
    for column in points.T:
        for values in (column, -column):
            order = np.lexsort((values, labels))
            first, second = order[starts[several]], order[starts[several] + 1]
            shrinks[first] += values[second] - values[first]
    return shrinks


def _likeness(points: Points, has: Mask) -> Floats:
    """Give the logarithm of how much likelier a row's places are among those who have the value."""
    score: Floats = np.zeros(len(points))
    for column in points.T:
        edges = np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1]))
        distinct, numbers = np.unique(column, return_inverse=True)
        bins = numbers if len(distinct) <= 4 * _BINS else np.searchsorted(edges, column, side="right")
        many = int(bins.max(initial=0)) + 1
        with_it, without = (np.bincount(bins, weights=one, minlength=many) + 0.5 for one in (has, ~has))
        score += (np.log(with_it / with_it.sum()) - np.log(without / without.sum()))[bins]
    return score
