"""Regressions under differential privacy: noise on the loss, the coefficients or a polynomial.

Convex problems are solved below, and released on a grid.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private.regressions._functional_mechanism import FunctionalLinear as FunctionalLinear
    from mahrem.learning.private.regressions._functional_mechanism import (
        FunctionalLogistic as FunctionalLogistic,
    )
    from mahrem.learning.private.regressions._last_layer import PolynomialLastLayer as PolynomialLastLayer
    from mahrem.learning.private.regressions._last_layer import frozen_features as frozen_features
    from mahrem.learning.private.regressions._objective_perturbation import (
        ObjectivePerturbation as ObjectivePerturbation,
    )
    from mahrem.learning.private.regressions._output_perturbation import (
        OutputPerturbation as OutputPerturbation,
    )
    from mahrem.learning.private.regressions._private_linear import refuse_people as refuse_people
else:
    __getattr__, __dir__, __all__ = offered(__name__)
