"""What members of a class give away by being in it: guesses of who has a value, against chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.types import Codes, Floats, Integers, Labels, Mask, Points

_BINS = 10
_SHARE = 0.05  # of the rows that a value must have: of a handful of people a guess says nothing


@dataclass(frozen=True)
class Guesses:
    """How often guessing who in a class has the rarer value is right, of all who have it."""

    chance: float  # members taken at random
    extremes: float  # those whose cells would shrink most without them
    model: float  # those who look most like it, by a naive model of the whole table

    @property
    def gain(self) -> float:
        """What the better guess has over chance."""
        return max(self.extremes, self.model) - self.chance


def guess_within_classes(
    points: Points, labels: Labels, codes: Codes | Integers, value: int | None = None
) -> Guesses:
    """Guess in every class who has a value, from a published table and everybody's quasi-identifiers.

    A class shows how many of its members have the value, not who. Whoever knows the members takes so many of
    them, in some order. A method that chooses members by their values may give them away: members that were
    taken from afar for their value are the extreme ones.

    Args:
        points: ``(n, d)`` quasi-identifiers, scaled so that widths compare.
        labels: ``(n,)`` class of each row; -1 = suppressed, not counted.
        codes: ``(n,)`` sensitive value of each row; -1 = none.
        value: The value to guess; None for the rarest that a twentieth of the rows have.

    Example:
        >>> points = np.array([[0.0], [0.1], [0.9], [0.0], [0.1], [0.9]])
        >>> guess_within_classes(points, np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 1]), 1)
        Guesses(chance=0.3333333333333333, extremes=1.0, model=1.0)
    """
    shown = labels >= 0
    if value is None:
        value = _rarest(codes[shown & (codes >= 0)])
    points, labels, has = points[shown], labels[shown], (codes[shown] == value)
    classes = int(labels.max(initial=-1)) + 1
    if classes == 0:
        return Guesses(0.0, 0.0, 0.0)
    held, sizes = (np.bincount(one, minlength=classes) for one in (labels[has], labels))
    total = max(int(held.sum()), 1)
    chance = float((held * held / np.maximum(sizes, 1)).sum()) / total
    ties = np.random.default_rng(0).random(len(labels))  # in no order that means anything
    return Guesses(
        chance,
        _right(_shrinking(points, labels, classes), labels, has, held, ties) / total,
        _right(_likeness(points, has), labels, has, held, ties) / total,
    )


def _rarest(codes: Codes | Integers) -> int:
    held = np.bincount(codes, minlength=1)
    enough = held >= min(_SHARE * len(codes), held.max())
    return int(np.where(enough, held, len(codes) + 1).argmin())


def _right(score: Floats, labels: Labels, has: Mask, held: Integers, ties: Floats) -> int:
    """Count who has the value among the highest scores of each class, as many as have it there."""
    order = np.lexsort((ties, -score, labels))
    inside = labels[order]
    place = np.arange(len(order)) - np.searchsorted(inside, inside)
    return int(has[order][place < held[inside]].sum())


def _shrinking(points: Points, labels: Labels, classes: int) -> Floats:
    """Give by how much the box of a row's class shrinks without the row."""
    shrinks: Floats = np.zeros(len(labels))
    sizes = np.bincount(labels, minlength=classes)
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
