"""Mechanisms on integers: how noise is drawn, how far off it may be, and what it costs.

Each is a frozen dataclass of its settings with an ``event``; sensitivities say how far one person can move
what is noised. All noise comes from a secure source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.dp._sensitivity import (
        GlobalSensitivity,
        SmoothSensitivity,
        coarsened,
        global_sensitivity,
        smooth_median,
    )
    from mahrem.dp.noise._bounded_range import (
        RangedExponential,
        bounded_range_epsilon,
        bounded_range_multiplier,
    )
    from mahrem.dp.noise._mechanisms import (
        Exponential,
        GaussianNoise,
        IntegerNoise,
        LaplaceNoise,
        PermuteAndFlip,
        gaussian_integers,
        laplace_integers,
    )
    from mahrem.dp.noise._smooth import SmoothLaplace
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Exponential",
    "GaussianNoise",
    "GlobalSensitivity",
    "IntegerNoise",
    "LaplaceNoise",
    "PermuteAndFlip",
    "RangedExponential",
    "SmoothLaplace",
    "SmoothSensitivity",
    "bounded_range_epsilon",
    "bounded_range_multiplier",
    "coarsened",
    "gaussian_integers",
    "global_sensitivity",
    "laplace_integers",
    "smooth_median",
]
