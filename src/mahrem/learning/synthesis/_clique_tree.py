"""A joint distribution as a tree of small tables: exact sums by messages, fitted to noisy marginals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
class Axes:
    """Where the axes of a small table lie in a larger one.

    Attributes:
        order: Of the small table's axes, so that they come as in the large one.
        back: The same, the other way round.
        spread: What lays the small one, in that order, out over the large one.
        out: Axes of the large one that the small one does not have.
    """

    order: tuple[int, ...]
    back: tuple[int, ...]
    spread: tuple[slice | None, ...]
    out: tuple[int, ...]

    @classmethod
    def of(cls, small: Sequence[int], large: Sequence[int]) -> Axes:
        """Find the columns of a small table among those of a large one."""
        axes = [large.index(column) for column in small]
        kept = sorted(axes)
        return cls(
            order=tuple(sorted(range(len(axes)), key=axes.__getitem__)),
            back=tuple(kept.index(axis) for axis in axes),
            spread=tuple(slice(None) if axis in axes else None for axis in range(len(large))),
            out=tuple(axis for axis in range(len(large)) if axis not in axes),
        )

    def expanded(self, table: Floats) -> Floats:
        """Lay a small table out over the large one, of length 1 where it says nothing."""
        return table.transpose(self.order)[self.spread]

    def reduced(self, table: Floats) -> Floats:
        """Sum a large table down to the small one."""
        small: Floats = np.add.reduce(table, axis=self.out) if self.out else table
        return small.transpose(self.back)


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
            beliefs[parent] = beliefs[parent] + self._links[place].expanded(messages[place])
        beliefs[0] = beliefs[0] - _log_total(beliefs[0])
        marginals = [np.exp(beliefs[0])]
        for place in range(1, len(beliefs)):
            above = self._links[place].reduced(marginals[self.cliques[place].parent])
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

    @cached_property
    def _links(self) -> list[Axes]:
        """Say where in the table of its parent the columns lie that a clique hangs on; the first has none."""
        links = [Axes.of((), ())]
        for clique in self.cliques[1:]:
            above = self.cliques[clique.parent].columns
            links.append(Axes.of(clique.columns[:-1], above))
        return links


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


@dataclass(frozen=True)
class _Target:
    """A measured marginal and where it lies in the tree."""

    clique: int
    axes: Axes
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
    loss, slopes = _loss(shares, targets)
    for _ in range(rounds):
        gain = 0.0
        for _ in range(_STEPS_DOWN):
            tried = [one - step * slope for one, slope in zip(potentials, slopes, strict=True)]
            there = tree.marginals(tried)
            reached, next_slopes = _loss(there, targets)
            fall = sum(
                float(np.vdot(slope, one - two))
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
    axes = Axes.of(one.columns, tree.cliques[home].columns)
    return _Target(home, axes, one.counts / total, (total / one.deviation) ** 2)


def _loss(shares: Sequence[Floats], targets: Sequence[_Target]) -> tuple[float, list[Floats]]:
    """Give the weighted squared distance and its slope in every clique."""
    slopes, loss = [np.zeros(table.shape) for table in shares], 0.0
    for target in targets:
        off = target.axes.reduced(shares[target.clique]) - target.shares
        pulled = target.weight * off
        loss += 0.5 * float(np.vdot(pulled, off))
        slopes[target.clique] += target.axes.expanded(pulled)
    return loss, slopes
