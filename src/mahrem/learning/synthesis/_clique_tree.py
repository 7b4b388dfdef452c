"""A joint distribution as a tree of small tables: exact sums by messages, fitted to noisy marginals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.types import Floats

_STEPS_DOWN = 30


@dataclass(frozen=True)
class Clique:
    """One table of the tree: a column that is new here, and columns of an earlier clique it hangs on.

    Attributes:
        columns: Its columns; the new one is last.
        parent: The earlier clique that holds all other columns; -1 for the first.
    """

    columns: tuple[int, ...]
    parent: int


@dataclass(frozen=True)
class Measured:
    """A noisy marginal: counts over some columns of one clique, and the standard deviation of their noise.

    The deviation is one for all cells, or has the shape of the counts.
    """

    columns: tuple[int, ...]
    counts: Floats = field(repr=False)
    deviation: float | Floats


@dataclass(frozen=True)
class CliqueTree:
    """A tree of cliques over columns of given sizes; each clique after the first adds one column.

    Guarantees:
        - :meth:`marginals` gives tables that agree on every column they share.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for place, clique in enumerate(self.cliques):
            others = set(clique.columns[:-1])
            above = set(self.cliques[clique.parent].columns) if place else others
            if clique.columns[-1] in seen or not others <= above or clique.parent >= place:
                raise InvalidParameter(f"clique {place} must add one column to columns of an earlier clique")
            seen |= set(clique.columns)

    def shape(self, clique: int) -> tuple[int, ...]:
        """Give the shape of a clique's table."""
        return tuple(self.sizes[column] for column in self.cliques[clique].columns)

    def home(self, columns: Sequence[int]) -> int:
        """Find a clique that holds these columns."""
        for place, clique in enumerate(self.cliques):
            if set(columns) <= set(clique.columns):
                return place
        raise InvalidParameter("no clique holds all columns of a marginal")

    def zeros(self) -> list[Floats]:
        """Give potentials of the even distribution."""
        return [np.zeros(self.shape(place)) for place in range(len(self.cliques))]

    def marginals(self, potentials: Sequence[Floats]) -> list[Floats]:
        """Give the probabilities of every clique under ``exp(sum of potentials)``."""
        beliefs = list(potentials)
        messages: list[Floats] = [np.zeros(())] * len(beliefs)
        for place in range(len(beliefs) - 1, 0, -1):
            messages[place] = _log_sum(beliefs[place])
            parent = self.cliques[place].parent
            beliefs[parent] = beliefs[parent] + self._spread(messages[place], place)
        beliefs[0] = beliefs[0] - _log_total(beliefs[0])
        marginals = [np.exp(beliefs[0])]
        for place in range(1, len(beliefs)):
            above = self._gathered(marginals[self.cliques[place].parent], place)
            inside = np.exp(beliefs[place] - messages[place][..., None])
            marginals.append(inside * above[..., None])
        return marginals

    def conditionals(self, marginals: Sequence[Floats]) -> list[Floats]:
        """Give, for each clique, the distribution of its new column given the others; rows add up to 1."""
        conditionals = []
        for table in marginals:
            total = table.sum(axis=-1, keepdims=True)
            conditionals.append(
                np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[-1])
            )
        return conditionals

    def _others(self, place: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Give the parent's columns and which of them this clique hangs on, in this clique's order."""
        clique = self.cliques[place]
        above = self.cliques[clique.parent].columns
        return above, tuple(above.index(column) for column in clique.columns[:-1])

    def _spread(self, message: Floats, place: int) -> Floats:
        above, axes = self._others(place)
        return _expanded(message, axes, len(above))

    def _gathered(self, table: Floats, place: int) -> Floats:
        _, axes = self._others(place)
        return _reduced(table, axes)


def _log_sum(table: Floats) -> Floats:
    """Sum out the last axis of logarithms."""
    top = table.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums: Floats = np.log(np.exp(table - top).sum(axis=-1)) + top[..., 0]
    return np.maximum(sums, -1e300)  # finite, so that differences of empty groups are no NaN


def _log_total(table: Floats) -> float:
    top = float(table.max())
    return top + float(np.log(np.exp(table - top).sum()))


def _expanded(table: Floats, axes: tuple[int, ...], count: int) -> Floats:
    """Lay a table with these axes out over ``count`` axes, of length 1 where it says nothing."""
    order = np.argsort(axes)
    shape = [1] * count
    for axis, length in zip(axes, table.shape, strict=True):
        shape[axis] = length
    return table.transpose(tuple(int(one) for one in order)).reshape(shape)


def _reduced(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Sum a table down to some of its axes, in the order given."""
    out = tuple(axis for axis in range(table.ndim) if axis not in axes)
    kept = sorted(axes)
    small: Floats = table.sum(axis=out) if out else table
    return small.transpose(tuple(kept.index(axis) for axis in axes))


@dataclass(frozen=True)
class _Target:
    """A measured marginal and where it lies in the tree."""

    clique: int
    axes: tuple[int, ...]
    shares: Floats
    weight: float | Floats


def fit_tree(
    tree: CliqueTree, measured: Sequence[Measured], total: float, *, rounds: int = 600, close: float = 1e-7
) -> list[Floats]:
    """Fit a tree to noisy marginals by mirror descent; gives potentials.

    The squared distance to every measured marginal, each in units of its noise, is made small over all
    distributions that the tree can hold. Such a distribution is never negative and its marginals agree.

    Args:
        tree: The cliques.
        measured: Noisy counts, each over columns of one clique.
        total: How many rows the counts are of.
        rounds: At most so many steps.
        close: Stop when a step gains less than this share.

    Guarantees:
        - As noise goes to nothing, marginals of the fit go to the measured ones, if these are of one table.
        - The loss never rises from one step to the next.

    References:
        McKenna, Sheldon, Miklau: Graphical-model based estimation and inference for differential privacy,
        2019 (mirror descent over a junction tree).

    Example:
        >>> tree = CliqueTree((2, 2), (Clique((0,), -1), Clique((0, 1), 0)))
        >>> counts = np.array([[40.0, 10.0], [10.0, 40.0]])
        >>> marginals = tree.marginals(fit_tree(tree, [Measured((0, 1), counts, 1.0)], 100.0))
        >>> (100 * marginals[1]).round(1).tolist()
        [[40.0, 10.0], [10.0, 40.0]]
    """
    targets = [_aimed(tree, one, total) for one in measured]
    scale = sum(float(np.mean(target.weight)) for target in targets)
    targets = [_Target(one.clique, one.axes, one.shares, one.weight / scale) for one in targets]
    potentials, step = tree.zeros(), 1.0
    shares = tree.marginals(potentials)
    loss, slopes = _loss(tree, shares, targets)
    for _ in range(rounds):
        gain = 0.0
        for _ in range(_STEPS_DOWN):
            tried = [one - step * slope for one, slope in zip(potentials, slopes, strict=True)]
            there = tree.marginals(tried)
            reached, next_slopes = _loss(tree, there, targets)
            fall = sum(
                float((slope * (one - two)).sum())
                for slope, one, two in zip(slopes, shares, there, strict=True)
            )
            if loss - reached >= 0.5 * fall and reached <= loss:
                gain = loss - reached
                potentials, shares, loss, slopes = tried, there, reached, next_slopes
                break
            step /= 2
        step *= 1.5
        if gain <= close * max(loss, 1e-12):
            break
    return potentials


def _aimed(tree: CliqueTree, one: Measured, total: float) -> _Target:
    home = tree.home(one.columns)
    held = tree.cliques[home].columns
    axes = tuple(held.index(column) for column in one.columns)
    return _Target(home, axes, one.counts / total, (total / one.deviation) ** 2)


def _loss(
    tree: CliqueTree, shares: Sequence[Floats], targets: Sequence[_Target]
) -> tuple[float, list[Floats]]:
    """Give the weighted squared distance and its slope in every clique."""
    slopes, loss = [np.zeros(table.shape) for table in shares], 0.0
    for target in targets:
        off = _reduced(shares[target.clique], target.axes) - target.shares
        loss += 0.5 * float((target.weight * off * off).sum())
        slopes[target.clique] += _expanded(
            target.weight * off, target.axes, len(tree.cliques[target.clique].columns)
        )
    return loss, slopes
