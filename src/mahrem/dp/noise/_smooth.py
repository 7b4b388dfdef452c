"""Noise fitted to the very table: smooth sensitivity, on an integer lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem.dp._sensitivity import SmoothSensitivity, smooth_median
from mahrem.dp._tape import noised
from mahrem.dp.accounting import Approximate, Event
from mahrem.dp.noise._mechanisms import integer_sampler
from mahrem.types import Integers

LEAST = 1e-3  # of a step; the maximum with a constant is as smooth, and a scale is never 0


@dataclass(frozen=True, kw_only=True)
class SmoothLaplace:
    r"""Discrete Laplace noise of scale ``2 S / epsilon``, S the smooth sensitivity of a whole number.

    Guarantees:
        - ``(epsilon, delta)``-DP under the relation that the smooth sensitivity holds for; of a median, that
          is replacement of one value.

    Why: let ``S, S'`` belong to neighbours, ``t = 2 S / epsilon``. Shifting by at most S costs a factor
    ``exp(epsilon / 2)``. Going from t to a larger t' costs at most ``t'/t <= exp(beta) <= exp(epsilon / 2)``;
    to a smaller one ``exp(|k| / t * (exp(beta) - 1))``, which is at most ``exp(epsilon / 2)`` unless
    ``|k| > t ln(2 / d)``; that has probability at most d. So delta is ``exp(epsilon / 2) d``, and
    ``beta = ln(1 + epsilon / (2 ln(2 / d)))``.

    References:
        Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis, 2007.
    """

    epsilon: float
    delta: float

    @property
    def event(self) -> Event:
        """What it costs."""
        return Approximate(self.epsilon, self.delta)

    @property
    def beta(self) -> float:
        """How smooth the sensitivity must be; a little smoother, which covers the rounding of scales."""
        rarely = math.log(2 / self.delta) + self.epsilon / 2  # ln(2 / d)
        exact = math.log1p(self.epsilon / (2 * rarely))
        return min(exact, self.epsilon / 2) * (1 - 1e-9)

    def __call__(self, counts: Integers) -> int:
        """Release the median of a lattice; ``counts[i]`` values stand at point i."""
        values = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
        top = len(counts) - 1
        sensitivity = smooth_median(values, 0, top, self.beta, least=LEAST)
        middle = int(np.sort(values)[(len(values) - 1) // 2]) if len(values) else top // 2
        return min(max(self.release(middle, sensitivity), 0), top)

    def release(self, value: int, sensitivity: SmoothSensitivity) -> int:
        """Release a whole number whose smooth sensitivity, at this ``beta``, was found."""
        scale = math.nextafter(2 * sensitivity.value / self.epsilon, math.inf)
        draw = integer_sampler("laplace", scale)
        (noisy,) = noised("smooth-laplace", [value], sensitivity, self.event, lambda: draw([value]))
        return int(noisy)
