"""Choosing settings privately: a random number of private trainings, of which the best alone is released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import Approximate
from mahrem.errors import InvalidParameter
from mahrem.learning.private._private_networks import PrivateClassifier
from mahrem.learning.private._secret_stream import SecretStream, new_stream
from mahrem.learning.private._training_cost import ORDERS
from mahrem.learning.private._training_plan import TrainingPlan


def search_epsilon(plan: TrainingPlan, *, repeats: float, score_noise: float, delta: float) -> float:
    """Say what a search costs in all.

    Args:
        plan: The plan of every training.
        repeats: Mean of the random number of trainings (geometric).
        score_noise: Standard deviation of the noise on the number of right answers.
        delta: The delta at which epsilon is said.

    References:
        Papernot, Steinke: Hyperparameter tuning with Renyi differential privacy, 2022 (by dp-accounting).

    Example:
        >>> plan = TrainingPlan.make(rows=1000, batch=100, epochs=3, noise_multiplier=2.0, delta=1e-6)
        >>> one = search_epsilon(plan, repeats=1, score_noise=100.0, delta=1e-6)
        >>> one < search_epsilon(plan, repeats=10, score_noise=100.0, delta=1e-6) < 3 * one
        True
    """
    import dp_accounting
    from dp_accounting import dp_event, rdp

    if plan.noise != "gaussian" or plan.relation is not Relation.ADD_REMOVE:
        raise InvalidParameter("search: it is accounted for gaussian noise under add-remove only")
    times, rate = plan.uses(plan.steps)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(plan.noise_multiplier))
    one = dp_accounting.ComposedDpEvent(
        [dp_accounting.SelfComposedDpEvent(step, times), dp_accounting.GaussianDpEvent(score_noise)]
    )
    accountant = rdp.RdpAccountant(list(ORDERS))
    accountant.compose(dp_event.RepeatAndSelectDpEvent(one, mean=float(repeats), shape=1.0))
    return float(accountant.get_epsilon(delta))


@dataclass(frozen=True, kw_only=True)
class PrivateSearch:
    """The best of several settings, chosen with differential privacy.

    A geometric number of times a candidate is drawn, trained privately and scored with noise on the rows it
    was trained on; the best goes out, the rest is forgotten. More candidates cost nothing, more repeats do.

    Args:
        candidates: Classifiers of the same sampling, steps and noise; learning rates, clips, networks differ.
        repeats: Mean number of trainings.
        score_noise: Standard deviation of the noise on the number of right answers.
        seed: For tests only; nothing is private then.

    Guarantees:
        - ``(epsilon, delta)``-DP for the released model and its settings, as :func:`search_epsilon` says.
        - Everything is paid for before the first training.

    References:
        Papernot, Steinke: Hyperparameter tuning with Renyi differential privacy, 2022.
    """

    candidates: Sequence[PrivateClassifier]
    repeats: float = 5.0
    score_noise: float = 50.0
    seed: int | None = None

    def __post_init__(self) -> None:
        check.at_least(1, repeats=self.repeats)
        if not self.candidates:
            raise InvalidParameter("candidates: give at least one")
        check.above_zero(score_noise=self.score_noise)

    def fit(self, X: Any, y: Any, *, ledger: Ledger) -> PrivateClassifier:
        """Pay for the whole search, then run it; gives the best model.

        Args:
            X: ``(n, ...)`` numbers scaled by public constants.
            y: ``(n,)`` labels.
            ledger: Pays; its unit must be single rows, of which one moves the number of right answers by 1.
        """
        if ledger.unit.subject is not None:
            raise InvalidParameter(
                f"ledger: its unit is a person (subject={ledger.unit.subject!r}), and a search protects "
                f"single rows"
            )
        plans = [candidate.plan(ledger) for candidate in self.candidates]
        if any(plan.event != plans[0].event for plan in plans):
            raise InvalidParameter("candidates: batch, epochs and noise_multiplier must be the same for all")
        delta = plans[0].delta / 2  # half is left for whatever else the ledger pays for
        for candidate in self.candidates:
            candidate.tried(X, y, ledger)  # whatever can be refused is refused before anything is paid
        epsilon = search_epsilon(plans[0], repeats=self.repeats, score_noise=self.score_noise, delta=delta)
        ledger.spend(
            Approximate(epsilon, delta),
            what=f"private search over {len(self.candidates)} settings",
            delta=delta,
        )
        stream = new_stream(self.seed)
        best, best_score = None, -math.inf
        for run in range(self._count(stream)):
            own = SecretStream(bytes(stream.words("run", run, 4).tobytes()), seeded=stream.seeded)
            candidate = self.candidates[int(stream.words("candidate", run, 1)[0] % len(self.candidates))]
            fitted = candidate._trained(X, y, ledger, own)  # noqa: SLF001 - the search has paid for it
            right = float(np.sum(fitted.predict(X) == np.asarray(y)))
            score = right + self.score_noise * float(stream.normals("score", run, 1)[0])
            if score > best_score:
                best, best_score = fitted, score
        assert best is not None  # noqa: S101 - a geometric number is at least 1
        best.cost_ = (epsilon, delta)
        best.guarantee_ = ("NOT PRIVATE (a test seed was given). Otherwise: " if stream.seeded else "") + (
            f"({epsilon:.4g}, {delta:g})-differentially private including the choice among "
            f"{len(self.candidates)} settings (geometric number of trainings, mean {self.repeats:g}; "
            f"Papernot, Steinke 2022). Each training: {plans[0].guarantee()}"
        )
        return best

    def _count(self, stream: SecretStream) -> int:
        """Draw a geometric number with the mean asked for."""
        if self.repeats == 1:
            return 1
        uniform = (int(stream.words("count", 0, 1)[0]) + 0.5) / 2**64
        return 1 + math.floor(math.log(uniform) / math.log1p(-1 / self.repeats))
