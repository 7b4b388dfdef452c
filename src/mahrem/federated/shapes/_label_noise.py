"""Labels that may be wrong: what slopes say about a label, they then say about a randomised one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, RandomisedResponse, local_event
from mahrem.types import Integers


@dataclass(frozen=True, kw_only=True)
class LabelNoise:
    """Randomised response on labels, once, before anything is learnt from them.

    All that leaves afterwards is made from the randomised labels, so it says as little about the true ones as
    they do, however many rounds there are. Wrong labels are equally likely for every class: with enough rows
    the likeliest class stays the likeliest.

    Args:
        epsilon: The promise to each label (pure, local): each answer is at most ``exp(epsilon)`` times
            likelier for one label than for another. It hides the label, not the columns.

    Guarantees:
        - Every label becomes a class: one that is none (-1) becomes any, so that nobody sees who has none.

    References:
        Ghazi et al.: Deep learning with label differential privacy, 2021.

    Example:
        >>> sorted(set(LabelNoise(epsilon=1.0)(np.array([0, 1, -1] * 99), 2).tolist()))
        [0, 1]
    """

    epsilon: float

    def __post_init__(self) -> None:
        check.between(1e-3, 50, epsilon=check.finite(epsilon=self.epsilon))

    def __call__(self, labels: Integers, classes: int, ledger: Ledger | None = None) -> Integers:
        """Randomise labels; a ledger pays before.

        Args:
            labels: ``(n,)`` classes.
            classes: How many there are.
            ledger: With the relation ``replace``; None promises for this one use alone.
        """
        ask = RandomisedResponse(epsilon=self.epsilon, values=classes)
        if ledger is not None:
            ledger.spend(local_event(ask.event(), ledger), what="labels of split or vertical learning")
        any_class = np.random.default_rng().integers(classes, size=len(labels))
        return ask(np.where(labels >= 0, labels, any_class))
