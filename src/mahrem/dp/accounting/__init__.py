"""What private work costs: events, the distributions behind them, and how they add up.

An event says what happened (noise of which kind and size, how often); a cost is what that may tell about a
person. Nothing here touches data or a ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.dp.accounting._accounting import Cost, Spend, composed_cost, epsilon_of, plain_sum, proves
    from mahrem.dp.accounting._calibrate import (
        discrete_gaussian_delta,
        discrete_gaussian_sigma,
        gaussian_delta,
        gaussian_epsilon,
        gaussian_multiplier,
        laplace_scale,
        rho_for,
        zcdp_delta,
        zcdp_epsilon,
    )
    from mahrem.dp.accounting._composition import total_cost
    from mahrem.dp.accounting._events import (
        Approximate,
        Composed,
        DiscreteGaussian,
        DiscreteLaplace,
        Event,
        Foreign,
        Gaussian,
        Laplace,
        Pure,
        Repeated,
        event_from_dict,
        event_to_dict,
        foreign,
        promise_event,
        pure_epsilon,
    )
    from mahrem.dp.accounting._meaning import (
        AttackerGain,
        composed_gain,
        epsilon_for_advantage,
        promised_gain,
    )
    from mahrem.dp.accounting._sampled_counts import (
        STEPS,
        largest_rate,
        sampled_counts_delta,
        sampled_counts_threshold,
        sparing_rate,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "STEPS",
    "Approximate",
    "AttackerGain",
    "Composed",
    "Cost",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Foreign",
    "Gaussian",
    "Laplace",
    "Pure",
    "Repeated",
    "Spend",
    "composed_cost",
    "composed_gain",
    "discrete_gaussian_delta",
    "discrete_gaussian_sigma",
    "epsilon_for_advantage",
    "epsilon_of",
    "event_from_dict",
    "event_to_dict",
    "foreign",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_multiplier",
    "laplace_scale",
    "largest_rate",
    "plain_sum",
    "promise_event",
    "promised_gain",
    "proves",
    "pure_epsilon",
    "rho_for",
    "sampled_counts_delta",
    "sampled_counts_threshold",
    "sparing_rate",
    "total_cost",
    "zcdp_delta",
    "zcdp_epsilon",
]
