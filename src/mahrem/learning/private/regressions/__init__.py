"""Regressions under differential privacy: noise on the loss, the coefficients or a polynomial.

Convex problems are solved below, and released on a grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private.regressions._functional_mechanism import FunctionalLinear, FunctionalLogistic
    from mahrem.learning.private.regressions._last_layer import PolynomialLastLayer, frozen_features
    from mahrem.learning.private.regressions._objective_perturbation import ObjectivePerturbation
    from mahrem.learning.private.regressions._output_perturbation import OutputPerturbation
    from mahrem.learning.private.regressions._private_linear import refuse_people
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "FunctionalLinear",
    "FunctionalLogistic",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PolynomialLastLayer",
    "frozen_features",
    "refuse_people",
]
