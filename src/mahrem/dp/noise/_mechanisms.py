"""Noise, drawn by OpenDP on integers and rationals with a secure generator. There are no seeds.

A mechanism here is a frozen dataclass of public numbers; calling it draws. ``event`` says what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mahrem import check
from mahrem.dp._extra import opendp
from mahrem.dp._sensitivity import GlobalSensitivity
from mahrem.dp._tape import noised
from mahrem.dp.accounting import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Pure,
    discrete_gaussian_sigma,
    laplace_scale,
    rho_for,
)
from mahrem.dp.accounting import Gaussian as GaussianEvent
from mahrem.dp.accounting import Laplace as LaplaceEvent
from mahrem.errors import GuaranteeBroken, InvalidParameter
from mahrem.types import Integers

SLACK = 1 + 1e-9  # OpenDP rounds its own figures up
LARGEST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class IntegerNoise:
    """Discrete Laplace or discrete Gaussian noise on every entry of a vector of integers.

    Made by :func:`laplace_integers` and :func:`gaussian_integers`, which fit ``scale`` to a promise.

    Attributes:
        kind: ``laplace`` or ``gaussian``.
        scale: Scale of the Laplace, or sigma of the Gaussian.
        sensitivity: What the proof assumes of the input.
        event: What one call costs.
    """

    kind: str
    scale: float
    sensitivity: GlobalSensitivity
    event: Event

    def __call__(self, values: Sequence[int] | Integers) -> list[int]:
        """Add noise."""
        whole = _whole_numbers(values, "a total is too large for 64 bits; use wider steps")
        draw = integer_sampler(self.kind, self.scale)
        return noised(f"discrete-{self.kind}", whole, self.sensitivity, self.event, lambda: draw(whole))

    def half_width(self, miss: float) -> int:
        """Give the smallest w such that one noise value exceeds w with probability at most ``miss``.

        Example:
            >>> from mahrem.dp import Relation, Unit
            >>> from mahrem.dp.noise import global_sensitivity
            >>> one = global_sensitivity(0, 1, Relation.ADD_REMOVE, Unit(), grouped=False, optional=False)
            >>> laplace_integers(one, epsilon=1.0).half_width(0.05)
            3
        """
        if self.kind == "laplace":
            factor = math.log(2 / (miss * (1 + math.exp(-1 / self.scale))))
            return max(0, math.ceil(self.scale * factor) - 1)
        return math.ceil(self.scale * _normal_quantile(miss / 2))


def laplace_integers(sensitivity: GlobalSensitivity, *, epsilon: float) -> IntegerNoise:
    """Fit discrete Laplace noise: ``epsilon``-DP for vectors of this L1 sensitivity.

    References:
        Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms, 2009.
    """
    scale = laplace_scale(sensitivity.l1, epsilon)
    if _integer_measurement("laplace", scale).map(sensitivity.l1) > epsilon * SLACK:
        raise GuaranteeBroken("discrete Laplace noise does not cover its epsilon")
    event = DiscreteLaplace(scale, sensitivity.l1) if sensitivity.single else Pure(epsilon)
    return IntegerNoise(kind="laplace", scale=scale, sensitivity=sensitivity, event=event)


def gaussian_integers(sensitivity: GlobalSensitivity, *, epsilon: float, delta: float) -> IntegerNoise:
    """Fit discrete Gaussian noise: ``(epsilon, delta)``-DP for vectors of this sensitivity.

    Where at most one entry moves, sigma is the smallest by the exact formula; else it follows from zCDP,
    which discrete Gaussian noise has under its L2 sensitivity in any dimension.

    References:
        Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy, 2020.
    """
    if sensitivity.single:
        sigma = discrete_gaussian_sigma(epsilon, delta, sensitivity.l1)
        event: Event = DiscreteGaussian(sigma, sensitivity.l1)
    else:
        sigma = math.nextafter(math.sqrt(sensitivity.l2_squared / (2 * rho_for(epsilon, delta))), math.inf)
        event = Approximate(epsilon, delta)
    return IntegerNoise(kind="gaussian", scale=sigma, sensitivity=sensitivity, event=event)


@lru_cache(maxsize=128)
def _integer_measurement(kind: str, scale: float) -> Any:
    home = opendp()
    domain = home.domains.vector_domain(home.domains.atom_domain(T="i64"))
    if kind == "laplace":
        return home.measurements.make_laplace(domain, home.metrics.l1_distance(T="i64"), scale=scale)
    return home.measurements.make_gaussian(domain, home.metrics.l2_distance(T="f64"), scale=scale)


def integer_sampler(kind: str, scale: float) -> Callable[[Sequence[int] | Integers], list[int]]:
    """Give the function that adds noise of this scale to integers."""
    measurement = _integer_measurement(kind, scale)

    def draw(values: Sequence[int] | Integers) -> list[int]:
        whole = values if isinstance(values, np.ndarray) else list(values)
        return [int(value) for value in measurement(whole)]

    return draw


def _whole_numbers(values: Sequence[int] | Integers, too_large: str) -> Integers:
    """Give whole numbers as an array, which OpenDP takes at once; refuses what is none or does not fit."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.ndim == 1:
        fits = not len(values) or (values.max() <= LARGEST and values.min() >= -LARGEST)
    else:
        values = [check.whole(value=value) for value in values]
        fits = all(abs(value) <= LARGEST for value in values)
    if not fits:
        raise InvalidParameter(too_large)
    return np.asarray(values, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class LaplaceNoise:
    """Laplace noise on one number; OpenDP draws it exactly on a fine lattice of floats.

    Args:
        scale: Scale of the noise.
        sensitivity: How far one unit can move the value; a neighbour test holds the caller to it.

    Example:
        >>> LaplaceNoise(scale=2.0, sensitivity=1.0).event()
        Laplace(noise_multiplier=2.0)
    """

    scale: float
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        check.above_zero(scale=self.scale)

    def event(self, sensitivity: float | None = None) -> Event:
        """Say what a call costs if one unit moves the value by at most ``sensitivity``."""
        return LaplaceEvent(self.scale / _reach(self.sensitivity, sensitivity))

    def __call__(self, value: float) -> float:
        """Add noise."""
        event = None if self.sensitivity is None else self.event()
        return _float_noise("laplace", self.scale, value, self.sensitivity, event)


@dataclass(frozen=True, kw_only=True)
class GaussianNoise:
    """Gaussian noise on one number; OpenDP draws it exactly on a fine lattice of floats.

    The multiplier for a promise comes from :func:`mahrem.dp.gaussian_multiplier` (analytic, not the loose
    textbook formula).

    Args:
        sigma: Standard deviation of the noise.
        sensitivity: How far one unit can move the value; a neighbour test holds the caller to it.
    """

    sigma: float
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        check.above_zero(sigma=self.sigma)

    def event(self, sensitivity: float | None = None) -> Event:
        """Say what a call costs if one unit moves the value by at most ``sensitivity``."""
        return GaussianEvent(self.sigma / _reach(self.sensitivity, sensitivity))

    def __call__(self, value: float) -> float:
        """Add noise."""
        event = None if self.sensitivity is None else self.event()
        return _float_noise("gaussian", self.sigma, value, self.sensitivity, event)


def _reach(own: float | None, given: float | None) -> float:
    known = own if given is None else given
    if known is None:
        raise InvalidParameter("sensitivity=None: say how far one unit can move the value")
    return check.above_zero(sensitivity=known)


def _float_noise(kind: str, scale: float, value: float, reach: float | None, event: Event | None) -> float:
    measurement, known = _float_measurement(kind, scale), check.finite(value=value)
    return noised(kind, [known], reach, event, lambda: float(measurement(known)))


@lru_cache(maxsize=128)
def _float_measurement(kind: str, scale: float) -> Any:
    home = opendp()
    domain = home.domains.atom_domain(T="f64", nan=False)
    make = home.measurements.make_laplace if kind == "laplace" else home.measurements.make_gaussian
    return make(domain, home.metrics.absolute_distance(T="f64"), scale=scale)


@dataclass(frozen=True, kw_only=True)
class _Selection:
    epsilon: float
    sensitivity: GlobalSensitivity
    kind: ClassVar[str]

    @property
    def event(self) -> Event:
        """What it costs."""
        return Pure(self.epsilon)

    @property
    def scale(self) -> float:
        """The scale of the noise on scores."""
        return laplace_scale(2 * self.sensitivity.l1, self.epsilon)

    def __call__(self, scores: Sequence[int] | Integers) -> int:
        """Select the place of a good score."""
        whole = _whole_numbers(scores, "a score is too large for 64 bits")
        measurement = _selection(self.kind, self.scale)
        return noised(self.kind, whole, self.sensitivity, self.event, lambda: int(measurement(whole)))


@dataclass(frozen=True, kw_only=True)
class Exponential(_Selection):
    """The exponential mechanism: entry i with probability proportional to ``exp(epsilon q_i / (2 l1))``.

    Scores are integers and the largest is best. ``sensitivity.l1`` bounds their change, summed over all
    selections that one unit touches.

    References:
        McSherry, Talwar: Mechanism design via differential privacy, 2007.
    """

    kind: ClassVar[str] = "exponential"


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(_Selection):
    """Private selection as :class:`Exponential`, never worse and up to twice as good at the same cost.

    References:
        McKenna, Sheldon: Permute-and-flip: a new mechanism for differentially private selection, 2020.
    """

    kind: ClassVar[str] = "permute-and-flip"

    def score_width(self, candidates: int, miss: float) -> float:
        """Bound how far the selected score lies below the best, but for probability ``miss``."""
        return self.scale * math.log(candidates / miss)


@lru_cache(maxsize=128)
def _selection(kind: str, scale: float) -> Any:
    home = opendp()
    domain = home.domains.vector_domain(home.domains.atom_domain(T="i64"))
    # Gumbel noise, OpenDP's choice for zCDP, makes exactly the exponential mechanism.
    measures = home.measures
    measure = measures.zero_concentrated_divergence() if kind == "exponential" else measures.max_divergence()
    return home.measurements.make_noisy_max(domain, home.metrics.linf_distance(T="i64"), measure, scale=scale)


def _normal_quantile(tail: float) -> float:
    """Give x such that a standard normal exceeds it with probability ``tail``."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - tail)
