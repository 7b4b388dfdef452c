"""What the server does with the mean of updates: take it as it is, or as the gradient of an optimiser."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mahrem.types import Floats

SERVERS: Mapping[str, float] = {"average": 1.0, "momentum": 1.0, "adam": 0.03, "yogi": 0.03}  # usual rates
FIRST, SECOND, STEADY = 0.9, 0.99, 1e-3  # of the source
MOMENT, VARIANCE = "moment", "variance"  # what the server keeps between rounds


def server_step(
    how: str, rate: float, given: Floats, mean: Floats, kept: Mapping[str, object]
) -> tuple[Floats, dict[str, Floats]]:
    """Move the common weights by what clients found together.

    Args:
        how: ``average`` takes the clients' mean (FedAvg); ``momentum``, ``adam`` and ``yogi`` take its
            difference from the given weights as a gradient (FedAvgM, FedAdam, FedYogi).
        rate: Learning rate of the server.
        given: ``(size,)`` weights that clients were given.
        mean: ``(size,)`` mean of the weights that came back.
        kept: What an earlier step kept.

    Returns:
        The new weights, and what the next step needs.

    Guarantees:
        - Only the mean is looked at, so it goes with sums whose parts nobody sees.

    References:
        Reddi et al.: Adaptive federated optimization, 2021 (algorithm 2).

    Example:
        >>> weights, kept = server_step("momentum", 1.0, np.zeros(1), np.ones(1), {})
        >>> weights, _ = server_step("momentum", 1.0, weights, weights + 1, kept)
        >>> weights.tolist()
        [2.9]
    """
    if how == "average":
        return mean, {}
    change = np.asarray(mean, np.float64) - given
    moment = FIRST * np.asarray(kept.get(MOMENT, 0.0), np.float64)
    if how == "momentum":
        moment = moment + change
        return given + rate * moment, {MOMENT: moment}
    moment = moment + (1 - FIRST) * change
    square, before = np.square(change), np.asarray(kept.get(VARIANCE, STEADY**2), np.float64)
    if how == "adam":
        variance = SECOND * before + (1 - SECOND) * square
    else:
        variance = before - (1 - SECOND) * square * np.sign(before - square)
    return given + rate * moment / (np.sqrt(variance) + STEADY), {MOMENT: moment, VARIANCE: variance}
