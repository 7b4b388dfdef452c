"""The plan of private boosting: what every record may give away in all, and the noise that covers it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

from mahrem import check
from mahrem.dp import Relation
from mahrem.dp.accounting import Event, Gaussian, epsilon_of, gaussian_multiplier
from mahrem.dp.noise import GlobalSensitivity
from mahrem.errors import InvalidParameter

FINE = 1 << 16  # steps of a gradient of 1
ROUNDS_PER_COLUMN, FEWEST, MOST = 20, 100, 500


@dataclass(frozen=True, kw_only=True)
class BoostingPlan:
    """Everything about a private boosting that is public; made by :meth:`make`.

    Args:
        epsilon: The promise.
        delta: The same; above 0, as the noise is Gaussian.
        noise_multiplier: Noise in units of what one record may add in all.
        rounds: Trees, each paid for by the rows it sums.
        outputs: Scores a row has: one per class, one for two classes or a number.
        allowance: Squared gradient that a record can afford per round on average. A record with smaller ones
            is never left out; one with larger ones stops when it has used up all of ``rounds``.
        curvature: Weight of second derivatives in what is summed, beside gradients.
        relation: Which tables are neighbours.

    Guarantees:
        - What one record adds to all sums has a squared length of at most ``budget``, whatever the others
          are; noise of deviation ``scale`` on every entry makes the whole ``event``.
    """

    epsilon: float
    delta: float
    noise_multiplier: float
    rounds: int
    outputs: int
    allowance: float
    curvature: float
    relation: Relation = Relation.ADD_REMOVE

    @classmethod
    def make(
        cls, *, epsilon: float | None, delta: float, noise_multiplier: float | None = None, **more: Any
    ) -> Self:
        """Make a plan from the noise, or find the least noise for a promise."""
        if (epsilon is None) == (noise_multiplier is None):
            raise InvalidParameter("give either epsilon or noise_multiplier")
        if not 0 < check.finite(delta=delta) < 1:
            raise InvalidParameter(f"delta={delta!r} must lie between 0 and 1, both outside")
        if noise_multiplier is None:
            promise = check.promised(epsilon=epsilon)
            return cls(
                epsilon=promise, delta=delta, noise_multiplier=gaussian_multiplier(promise, delta), **more
            )
        noise = check.above_zero(noise_multiplier=noise_multiplier)
        cost = epsilon_of(Gaussian(noise), delta, Relation.ADD_REMOVE)  # a Gaussian costs the same under both
        return cls(epsilon=cost, delta=delta, noise_multiplier=noise, **more)

    def __post_init__(self) -> None:
        check.at_least(1, rounds=check.whole(rounds=self.rounds))
        check.above_zero(allowance=self.allowance)
        check.above_zero(curvature=self.curvature)

    @property
    def budget(self) -> int:
        """Squared length, in steps, of what one record may add in all rounds."""
        return max(1, math.floor(self.allowance * self.rounds * FINE**2))

    @property
    def event(self) -> Event:
        """What all rounds reveal: one Gaussian mechanism."""
        return Gaussian(self.noise_multiplier)

    @property
    def scale(self) -> float:
        """Standard deviation of the noise on every sum, in steps."""
        length = self.relation.moves * math.sqrt(self.budget)
        return math.nextafter(self.noise_multiplier * length, math.inf)

    @property
    def reach(self) -> GlobalSensitivity:
        """How far the sums of one round move between neighbours at most."""
        # Gradients of a softmax have a squared length of 2 at most; second derivatives, of 1.
        square = min(self.budget, math.ceil(FINE**2 * (2 + self.curvature**2)))
        moves, length = self.relation.moves, math.ceil(math.sqrt(square))
        return GlobalSensitivity(
            relation=self.relation,
            l1=moves * math.ceil(length * math.sqrt(2 * self.outputs)),
            l2_squared=moves**2 * square,
            linf=moves * length,
            single=False,
        )

    def guarantee(self) -> str:
        """Say the promise and what it idealises, in words."""
        change = "one row more or less" if self.relation is Relation.ADD_REMOVE else "one row exchanged"
        return (
            f"({self.epsilon:g}, {self.delta:g})-differentially private for tables that differ in {change}: "
            f"{self.rounds} boosted trees with cuts drawn without a look at the rows; a row takes part until "
            f"the squares of what it added reach {self.allowance:g} a round, and Gaussian noise of "
            f"{self.noise_multiplier:.4g} times the root of that is added to every sum over a leaf. Sums are "
            f"integers and the noise is rounded to them; idealised: its normal numbers have 53 bits and come "
            f"from a key of the system's generator stretched by SHAKE-128. Not hidden: running time."
        )

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**asdict(self), "relation": str(self.relation), "noise": "gaussian"}


def usual_rounds(columns: int) -> int:
    """Give a number of rounds in which every column has its turns."""
    return min(MOST, max(FEWEST, ROUNDS_PER_COLUMN * columns))
