"""What parties with different columns agree on before they learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mahrem import check
from mahrem.dp.accounting import gaussian_multiplier
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network, even_batches
from mahrem.federated.shapes._plan import AlignedPlan
from mahrem.federated.weights import LearningPlan, cell_sensitivity
from mahrem.learning.classifiers import DeclaredNumbers
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class VerticalPlan(AlignedPlan):
    """What parties with different columns learn together.

    Args:
        network: Rate, batch and passes through the rows in a round; its hidden layers are those above the
            parties' units, at the party with the labels.
        units: What each party's columns become; 0 is logistic regression.
        hide_slopes: Of logistic regression: other parties learn the gradient by their own columns alone, and
            no row's slope, whose sign is the label. The coordinator deals the noise for it.
        rounds: How many rounds.
        least_rows: Fewer rows in common are an error.
        seed: Of the order of the rows and of the first weights.

    Example:
        >>> VerticalPlan(units=8, network=Network(hidden=(16,), rate=0.1)).rounds
        10
        >>> VerticalPlan(network=Network(hidden=(16,)))
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: units=0 is logistic regression, which has no hidden layers
    """

    network: Network = field(default_factory=lambda: Network(hidden=(), rate=0.1, batch=128))
    units: int = 0
    hide_slopes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check.between(0, 10_000, units=check.whole(units=self.units))
        if self.network.hidden and not self.units:
            raise InvalidParameter("units=0 is logistic regression, which has no hidden layers")
        if self.hide_slopes and self.units:
            raise InvalidParameter("hide_slopes: it is for logistic regression, which has no units")

    def steps(self, rows: int) -> int:
        """How many steps a round has."""
        return self.network.epochs * -(-rows // self.network.batch)

    def batch(self, step: int, rows: int) -> Integers:
        """Give the rows of a step, of so many; the same for everybody."""
        number, place = divmod(step, -(-rows // self.network.batch))
        return _batches(self.seed, number, rows, self.network.batch)[place]


@dataclass(frozen=True, kw_only=True)
class VerticalTreesPlan(AlignedPlan):
    """Boosted trees of parties with different columns.

    Args:
        rounds: How many trees, for each class where there are more than two.
        depth: Their depth.
        rate: What a leaf counts.
        least_leaf: Least rows on each side of a cut.
        cell_epsilon: What the sums that a party gives promise each of its rows over all trees, by noise that
            it adds; 0 is none.
        delta: Of that promise.
        least_rows: Fewer rows in common are an error.
        seed: Not used: nothing is drawn but noise.

    Example:
        >>> plan = VerticalTreesPlan(rounds=5, depth=3)
        >>> plan.width(4, 2), plan.width(3, 3)
        (4, 6)
    """

    depth: int = 4
    rate: float = 0.2
    least_leaf: int = 10
    cell_epsilon: float = 4.0
    delta: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning()  # refuses what trees cannot be
        check.at_least(0, cell_epsilon=check.finite(cell_epsilon=self.cell_epsilon))
        check.between(1e-12, 0.5, delta=self.delta)

    def learning(self) -> LearningPlan:
        """Give the plan of the same trees in one place."""
        return LearningPlan(
            model="boosting",
            rounds=self.rounds,
            rate=self.rate,
            depth=self.depth,
            least_leaf=self.least_leaf,
            cell_epsilon=0.0,
        )

    def width(self, level: int, classes: int) -> int:
        """Say how many vectors a level asks about: two for each node and output."""
        return (2 << level % self.depth) * (1 if classes == 2 else classes)

    def deviation(self, columns: Mapping[str, object], classes: int) -> float:
        """Give the deviation of the noise in each sum over cells of a party with these columns; 0 for none.

        Another row in the place of one leaves a cell of each column, and of a number perhaps the one of
        missing values, and enters as many, in one node of each level.
        """
        if not self.cell_epsilon:
            return 0.0
        cells = len(columns) + sum(isinstance(column, DeclaredNumbers) for column in columns.values())
        moved = math.sqrt(2) * cell_sensitivity(cells, classes)
        levels = math.sqrt(self.rounds * self.depth)
        return moved * levels * gaussian_multiplier(self.cell_epsilon, self.delta)


@lru_cache(maxsize=2)
def _batches(seed: int, number: int, rows: int, batch: int) -> list[Integers]:
    return even_batches(np.random.default_rng([seed, number]).permutation(rows), batch)
