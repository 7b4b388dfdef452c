"""What parties with different columns agree on before they learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network, even_batches
from mahrem.federated.shapes._plan import ShapePlan
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class VerticalPlan(ShapePlan):
    """What parties with different columns learn together.

    Args:
        network: Rate, batch and passes through the rows in a round; its hidden layers are those above the
            parties' units, at the party with the labels.
        units: What each party's columns become; 0 is logistic regression.
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
    least_rows: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check.between(0, 10_000, units=check.whole(units=self.units))
        check.at_least(2, least_rows=check.whole(least_rows=self.least_rows))
        if self.network.hidden and not self.units:
            raise InvalidParameter("units=0 is logistic regression, which has no hidden layers")

    def steps(self, rows: int) -> int:
        """How many steps a round has."""
        return self.network.epochs * -(-rows // self.network.batch)

    def batch(self, step: int, rows: int) -> Integers:
        """Give the rows of a step, of so many; the same for everybody."""
        number, place = divmod(step, -(-rows // self.network.batch))
        return _batches(self.seed, number, rows, self.network.batch)[place]


@lru_cache(maxsize=2)
def _batches(seed: int, number: int, rows: int, batch: int) -> list[Integers]:
    return even_batches(np.random.default_rng([seed, number]).permutation(rows), batch)
