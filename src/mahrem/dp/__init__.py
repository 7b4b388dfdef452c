"""Differential privacy: one ledger, mechanisms on integers, queries with error bars, neighbour tests.

Needs the extra ``dp``. Everything private spends from a :class:`Ledger`; what is not public is never read
without paying.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.dp._accounting import Cost, Spend, composed_cost, epsilon_of
    from mahrem.dp._answer import Answer, answer_query, foretell_query
    from mahrem.dp._bounded_range import RangedExponential, bounded_range_epsilon, bounded_range_multiplier
    from mahrem.dp._calibrate import (
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
    from mahrem.dp._declaration import warn_of_large_delta
    from mahrem.dp._events import (
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
    )
    from mahrem.dp._facts import Facts, PublicColumn
    from mahrem.dp._grammar import parse_query
    from mahrem.dp._ledger import Ledger
    from mahrem.dp._mechanisms import (
        Exponential,
        GaussianNoise,
        IntegerNoise,
        LaplaceNoise,
        PermuteAndFlip,
        gaussian_integers,
        laplace_integers,
    )
    from mahrem.dp._neighbours import Evidence, NotPrivate, assert_dp
    from mahrem.dp._plan import Plan
    from mahrem.dp._planning import plan_query
    from mahrem.dp._public_cells import cells_of, public_cells, refuse_undeclared
    from mahrem.dp._queries import (
        Bounds,
        Count,
        Histogram,
        Mean,
        Median,
        Quantiles,
        Query,
        Range,
        SmoothMedian,
        Sum,
        Variance,
    )
    from mahrem.dp._randomised_response import Frequencies, RandomisedResponse, UnaryEncoding, local_event
    from mahrem.dp._relation import Relation, Unit
    from mahrem.dp._sensitivity import GlobalSensitivity, SmoothSensitivity, global_sensitivity, smooth_median
    from mahrem.dp._smooth import SmoothLaplace
    from mahrem.dp._tally import Condition
    from mahrem.dp._tape import Tape, listened, listening, noised
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Answer",
    "Approximate",
    "Bounds",
    "Composed",
    "Condition",
    "Cost",
    "Count",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Evidence",
    "Exponential",
    "Facts",
    "Foreign",
    "Frequencies",
    "Gaussian",
    "GaussianNoise",
    "GlobalSensitivity",
    "Histogram",
    "IntegerNoise",
    "Laplace",
    "LaplaceNoise",
    "Ledger",
    "Mean",
    "Median",
    "NotPrivate",
    "PermuteAndFlip",
    "Plan",
    "PublicColumn",
    "Pure",
    "Quantiles",
    "Query",
    "RandomisedResponse",
    "Range",
    "RangedExponential",
    "Relation",
    "Repeated",
    "SmoothLaplace",
    "SmoothMedian",
    "SmoothSensitivity",
    "Spend",
    "Sum",
    "Tape",
    "UnaryEncoding",
    "Unit",
    "Variance",
    "answer_query",
    "assert_dp",
    "bounded_range_epsilon",
    "bounded_range_multiplier",
    "cells_of",
    "composed_cost",
    "discrete_gaussian_delta",
    "discrete_gaussian_sigma",
    "epsilon_of",
    "event_from_dict",
    "event_to_dict",
    "foreign",
    "foretell_query",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_integers",
    "gaussian_multiplier",
    "global_sensitivity",
    "laplace_integers",
    "laplace_scale",
    "listened",
    "listening",
    "local_event",
    "noised",
    "parse_query",
    "plan_query",
    "promise_event",
    "public_cells",
    "refuse_undeclared",
    "rho_for",
    "smooth_median",
    "warn_of_large_delta",
    "zcdp_delta",
    "zcdp_epsilon",
]
