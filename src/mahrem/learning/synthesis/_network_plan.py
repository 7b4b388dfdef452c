"""The budget of a generating network: counts of columns first, noisy steps with the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mahrem.dp import Relation, Unit
from mahrem.dp.accounting import Approximate, Composed, Event, gaussian_multiplier, rho_for
from mahrem.dp.noise import IntegerNoise, global_sensitivity
from mahrem.learning.private import TrainingPlan
from mahrem.learning.private.steps import least_gaussian
from mahrem.learning.synthesis._generators import Generator
from mahrem.learning.synthesis._marginal_plan import ASSUMED_ROWS, count_event, count_noise

COUNTS = 0.12  # share of the budget that counts columns, in squares of inverse multipliers
SUMMED = 0.3  # the same where costs are only added up, in epsilon and delta


@dataclass(frozen=True, kw_only=True)
class NetworkPlan:
    """Every mechanism of a run and what all of them cost together.

    Attributes:
        columns: How many are counted.
        one_way: Noise on the counts of each.
        training: Sampler, clipping and noise of the steps.
        event: What the run costs.
    """

    epsilon: float
    delta: float
    columns: int
    one_way: IntegerNoise
    training: TrainingPlan
    event: Event = field(repr=False)


def plan_network(
    generator: Generator,
    *,
    epsilon: float,
    delta: float,
    columns: int,
    rows: int | None,
    relation: Relation,
    unit: Unit,
) -> NetworkPlan:
    """Split a budget between counts of every column and the steps of a network.

    Where one row of a person is used, both are composed by their privacy loss distributions; else counts are
    bounded by zero-concentrated differential privacy and both costs are added up.

    Guarantees:
        - All mechanisms together are ``(epsilon, delta)``-DP under ``relation`` and ``unit``.
    """
    reach = global_sensitivity(0, 1, relation, unit, grouped=True, optional=True)
    length, exact = math.sqrt(reach.l2_squared * columns), unit.rows == 1
    about = rows or ASSUMED_ROWS
    counts: Event = Approximate(epsilon * SUMMED, delta * SUMMED)
    if exact:
        sigma = math.nextafter(length * gaussian_multiplier(epsilon, delta) / math.sqrt(COUNTS), math.inf)
        counts = count_event(sigma, reach, columns)
        least = least_gaussian(generator.rate, generator.steps, epsilon, delta, relation, beside=(counts,))
        training = generator.plan(about, delta=delta, relation=relation, noise_multiplier=least)
    else:
        sigma = length / math.sqrt(2 * rho_for(epsilon * SUMMED, delta * SUMMED))
        training = generator.plan(
            about,
            delta=delta * (1 - SUMMED),
            relation=relation,
            rows_per_person=unit.rows,
            epsilon=epsilon * (1 - SUMMED),
        )
    return NetworkPlan(
        epsilon=epsilon,
        delta=delta,
        columns=columns,
        one_way=count_noise(sigma, reach, counts, exact=exact),
        training=training,
        event=Composed((counts, training.event)),
    )
