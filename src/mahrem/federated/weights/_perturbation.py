"""Noise with a promise on what leaves a client, and the paying for it before anything leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import Gaussian, epsilon_of, gaussian_epsilon, gaussian_multiplier
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.federated.weights._booster import Noise, cell_sensitivity
from mahrem.federated.weights._boosting import Growth, SharedBins
from mahrem.federated.weights._norm_bound import bound_norms
from mahrem.learning.private import SecretStream, TrainingPlan, new_stream
from mahrem.types import Floats

if TYPE_CHECKING:
    from mahrem.dp.accounting import Event
    from mahrem.federated.weights._plan import LearningPlan
    from mahrem.federated.weights._schema import SharedSchema

MOVES = 2  # clips between the updates of a silo with some rows and with any others


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """Noise on updates or on gradients, as everybody in a run knows it.

    Args:
        unit: What is hidden: a whole ``client``, or one ``row`` of it.
        clip: Longest update, or gradient of a row (L2).
        noise: Standard deviation of the noise that counts for the promise, in units of ``clip``.
        delta: The delta of the promise.
        rounds: Over how many rounds it is said.
        adders: So many clients of a sum share the noise; 1 where each one's own is enough.
        training: The private training of all rounds; where rows are the unit.
        moves: Clips between what is seen of two tables that are to be hard to tell apart.

    Guarantees:
        - Clients: with the noise of at least ``adders`` clients in what is seen, whatever two tables a silo
          has are hard to tell apart, which covers every row and person in them.
        - Rows: the weights of all rounds together are differentially private for each row of a silo.

    References:
        McMahan et al.: Learning differentially private recurrent language models, 2018. Abadi et al.: Deep
        learning with differential privacy, 2016. Dong, Roth, Su: Gaussian differential privacy, 2022 (how
        rounds add up).
    """

    unit: str
    clip: float
    noise: float
    delta: float
    rounds: int
    adders: int = 1
    training: TrainingPlan | None = None
    moves: int = MOVES

    @property
    def steps(self) -> int:
        """Private steps of one round."""
        return 0 if self.training is None else self.training.steps // self.rounds

    def event(self, releases: int) -> Event:
        """Give what so many rounds reveal."""
        if self.training is not None:
            return replace(self.training, steps=self.steps * releases).event
        return Gaussian(self._multiplier(releases))

    def _multiplier(self, releases: int) -> float:
        """Give the noise of one release that costs as much as so many; Gaussian noise composes exactly."""
        return self.noise / self.moves / math.sqrt(releases)

    def epsilon(self, releases: int | None = None, relation: Relation = Relation.ADD_REMOVE) -> float:
        """Give what so many rounds cost at ``delta``; all of them by default.

        Args:
            releases: How many rounds.
            relation: Which tables are neighbours; where clients are the unit, whatever two tables are.
        """
        many = releases or self.rounds
        if self.training is not None:
            return _sampled_epsilon(self.event(many), self.delta, relation)
        moved = 2 if self.unit == "row" and relation is Relation.REPLACE else 1
        return gaussian_epsilon(self._multiplier(many) / moved, self.delta)

    def update(self, update: Floats, stream: SecretStream, release: int) -> Floats:
        """Clip an update and add this client's part of the noise; one drawn for each release."""
        spread = self.noise * self.clip / math.sqrt(self.adders)
        drawn = stream.normals("update", release, len(update))
        return bound_norms(update, self.clip) + spread * drawn

    def as_dict(self, releases: int | None = None) -> dict[str, Any]:
        """Say the promise as plain data: of all rounds, or of so many releases where they are more."""
        many = max(self.rounds, releases or 0)
        return {
            "unit": self.unit,
            "epsilon": round(self.epsilon(many), 6),
            "delta": self.delta,
            "clip": self.clip,
            "noise": round(self.noise, 6),
            "rounds": many,
            "noise_shared_by": self.adders,
        }


@lru_cache(maxsize=32)
def _sampled_epsilon(event: Event, delta: float, relation: Relation) -> float:
    return epsilon_of(event, delta, relation)


@lru_cache(maxsize=32)
def perturbation_of(plan: LearningPlan) -> Perturbation | None:
    """Give the noise that a plan asks for; None without one."""
    switches = plan.protections
    if plan.noisy_cells:
        return _cell_perturbation(plan)
    if not switches.private or switches.clip is None:
        return None
    common: dict[str, Any] = {
        "unit": switches.unit,
        "clip": switches.clip,
        "delta": switches.delta,
        "rounds": plan.rounds,
    }
    if switches.unit == "row" and switches.rows is not None:
        training = TrainingPlan.make(
            rows=switches.rows,
            batch=plan.batch,
            steps=plan.rounds * math.ceil(plan.epochs * switches.rows / plan.batch),
            clip=switches.clip,
            noise_multiplier=switches.noise or None,
            epsilon=switches.epsilon,
            delta=switches.delta,
        )
        return Perturbation(**common, noise=training.noise_multiplier, training=training)
    noise = switches.noise
    if switches.epsilon is not None:
        noise = MOVES * math.sqrt(plan.rounds) * gaussian_multiplier(switches.epsilon, switches.delta)
    adders = _adders(plan) if switches.noise_by == "sum" else 1
    return Perturbation(**common, noise=noise, adders=adders)


def _adders(plan: LearningPlan) -> int:
    """Say how many share the noise of a sum: a client knows its own, so one of the least does not count."""
    return max(1, plan.least - 1)


def _cell_perturbation(plan: LearningPlan) -> Perturbation:
    """Give the noise on cells of trees; a release is a tree, in units of what a row moves in one level."""
    return Perturbation(
        unit="row",
        clip=1.0,
        noise=math.sqrt(plan.rounds) * gaussian_multiplier(plan.cell_promise, plan.protections.delta),
        delta=plan.protections.delta,
        rounds=plan.rounds,
        adders=_adders(plan) if plan.hides else 1,
        moves=1,
    )


def growth_of(plan: LearningPlan, schema: SharedSchema) -> Growth:
    """Give how trees of a plan grow; the noise is that of as many clients as there must be."""
    noise, deviation = plan.perturbation(), 0.0
    if noise is not None:
        deviation = _level_noise(plan, schema, noise) * math.sqrt(max(plan.least, noise.adders + 1))
    return Growth(
        bins=SharedBins.of(schema), rate=plan.learning_rate, least_leaf=plan.least_leaf, noise=deviation
    )


def _level_noise(plan: LearningPlan, schema: SharedSchema, noise: Perturbation) -> float:
    """Give the deviation of one client's noise in each sum of a level; levels share the cost of a tree."""
    moved = cell_sensitivity(len(schema.columns), len(schema.classes))
    return noise.noise * moved * math.sqrt(plan.depth / noise.adders)


def cell_noise(plan: LearningPlan, schema: SharedSchema, payments: Payments) -> Noise:
    """Give the noise on the cells of trees; each tree is paid for when its first level is asked for."""
    deviation = _level_noise(plan, schema, payments.perturbation)

    def drawn(level: int, count: int) -> Floats:
        release = payments.take() if level == 0 else payments.taken
        return deviation * payments.stream.normals(f"cells of level {level}", release, count)

    return drawn


@dataclass
class Payments:
    """What a silo has paid for, and the secret noise that it adds: nothing leaves that was not paid.

    Args:
        perturbation: The noise.
        ledger: Pays; without one nobody adds up what several runs promise together, and no more leaves than
            the rounds that the promise is about.
    """

    perturbation: Perturbation
    ledger: Ledger | None = None
    stream: SecretStream = field(default_factory=new_stream, init=False, repr=False)
    left: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        if (
            self.ledger is not None
            and self.perturbation.unit == "row"
            and self.ledger.unit.subject is not None
        ):
            raise InvalidParameter(
                f"ledger: its unit is a person (subject={self.ledger.unit.subject!r}), and unit='row' hides "
                "single rows; use unit='client', or a ledger whose unit is a row"
            )

    def pay(self, releases: int) -> None:
        """Pay for so many rounds more than are paid for.

        Raises:
            BudgetExceeded: If the ledger does not cover them; nothing was spent.
        """
        more = releases - self.left
        if more > 0 and self.ledger is not None:
            what = f"{more} rounds of learning together, unit {self.perturbation.unit}"
            event = self.perturbation.event(more)
            cost = self.perturbation.epsilon(more, self.ledger.relation)
            self.ledger.spend(event, what=what, delta=self.perturbation.delta, epsilon=cost)
            self.left += more

    def take(self) -> int:
        """Use one payment, or pay for one; gives the number of the release, which no other has.

        Raises:
            BudgetExceeded: If the ledger does not cover it, or without one all rounds were given.
        """
        if self.ledger is not None:
            self.pay(1)
            self.left -= 1
        elif self.taken >= self.perturbation.rounds:
            raise BudgetExceeded(
                f"rounds={self.perturbation.rounds}: this client has given all updates that its promise is "
                "about; more need a ledger that pays for them"
            )
        self.taken += 1
        return self.taken

    def promise(self) -> dict[str, Any]:
        """Say what is promised, also for what was asked again, and whether a ledger paid."""
        return {**self.perturbation.as_dict(self.taken + self.left), "paid": self.ledger is not None}
