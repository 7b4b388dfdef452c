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
    spread: float = 0.0  # standard deviation of taking members at random: what luck does to a guess

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
        Guesses(chance=0.3333333333333333, extremes=1.0, model=1.0, spread=0.3333333333333333)
    """
    shown = labels >= 0
    if value is None:
        value = rarest_common(np.bincount(codes[shown & (codes >= 0)], minlength=1))
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
        int(has[take_first(box_shrinks(points, labels), labels, held, ties)].sum()) / total,
        int(has[take_first(_likeness(points, has), labels, held, ties)].sum()) / total,
        _luck(held, sizes) / total,
    )


def _luck(held: Integers, sizes: Integers) -> float:
    """Give the standard deviation of how many guesses are right where members are taken at random."""
    others = sizes - held
    # hypergeometric: so many of a class are taken as have the value
    variance = (held * others / np.maximum(sizes, 1)) ** 2 / np.maximum(sizes - 1, 1)
    return float(np.sqrt(variance.sum()))


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
