"""Mechanisms on integers: how noise is drawn, how far off it may be, and what it costs.

Each is a frozen dataclass of its settings with an ``event``; sensitivities say how far one person can move
what is noised. All noise comes from a secure source.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.dp._sensitivity import GlobalSensitivity as GlobalSensitivity
    from mahrem.dp._sensitivity import SmoothSensitivity as SmoothSensitivity
    from mahrem.dp._sensitivity import coarsened as coarsened
    from mahrem.dp._sensitivity import global_sensitivity as global_sensitivity
    from mahrem.dp._sensitivity import smooth_median as smooth_median
    from mahrem.dp.noise._bounded_range import RangedExponential as RangedExponential
    from mahrem.dp.noise._bounded_range import bounded_range_epsilon as bounded_range_epsilon
    from mahrem.dp.noise._bounded_range import bounded_range_multiplier as bounded_range_multiplier
    from mahrem.dp.noise._mechanisms import Exponential as Exponential
    from mahrem.dp.noise._mechanisms import GaussianNoise as GaussianNoise
    from mahrem.dp.noise._mechanisms import IntegerNoise as IntegerNoise
    from mahrem.dp.noise._mechanisms import LaplaceNoise as LaplaceNoise
    from mahrem.dp.noise._mechanisms import PermuteAndFlip as PermuteAndFlip
    from mahrem.dp.noise._mechanisms import gaussian_integers as gaussian_integers
    from mahrem.dp.noise._mechanisms import laplace_integers as laplace_integers
    from mahrem.dp.noise._smooth import SmoothLaplace as SmoothLaplace
else:
    __getattr__, __dir__, __all__ = offered(__name__)
