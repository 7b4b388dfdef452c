"""Choosing settings privately: a random number of private trainings, of which the best alone is released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, Relation, noised, part_of
from mahrem.dp.accounting import Approximate, Event
from mahrem.errors import InvalidParameter
from mahrem.learning.private._secret_stream import SecretStream, new_stream
from mahrem.learning.private.boosting import BoostedTrees, BoostingPlan
from mahrem.learning.private.inputs import label_codes, target_numbers
from mahrem.learning.private.networks import PrivateNetwork
from mahrem.learning.private.steps import LARGEST, ORDERS, SMALLEST, TrainingPlan

Candidate = PrivateNetwork | BoostedTrees
CLOSE = 0.01  # noise is found to so small a share


@lru_cache(maxsize=256)  # public numbers only; a search asks again and again
def search_epsilon(
    plan: TrainingPlan | BoostingPlan, *, repeats: float, score_noise: float, delta: float
) -> float:
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

    if isinstance(plan, BoostingPlan):
        training: Any = dp_accounting.GaussianDpEvent(plan.noise_multiplier)
    else:
        if plan.noise != "gaussian" or plan.relation is not Relation.ADD_REMOVE:
            raise InvalidParameter("search: it is accounted for gaussian noise under add-remove only")
        times, rate = plan.uses(plan.steps)
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(plan.noise_multiplier))
        training = dp_accounting.SelfComposedDpEvent(step, times)
    # However tables differ, in one row more or another one, the number of right answers moves by one at most.
    one = dp_accounting.ComposedDpEvent([training, dp_accounting.GaussianDpEvent(score_noise)])
    accountant = rdp.RdpAccountant(list(ORDERS))
    accountant.compose(dp_event.RepeatAndSelectDpEvent(one, mean=float(repeats), shape=1.0))
    return float(accountant.get_epsilon(delta))


@dataclass(frozen=True, kw_only=True)
class SearchPlan:
    """What a search will cost, before anything is read.

    Attributes:
        epsilon: All trainings and the choice together.
        delta: The same.
        settings: Among how many is chosen.
        repeats: Mean number of trainings.
        one: The plan of every single training.
    """

    epsilon: float
    delta: float
    settings: int
    repeats: float
    one: TrainingPlan | BoostingPlan

    @property
    def event(self) -> Event:
        """What the whole search reveals."""
        return Approximate(self.epsilon, self.delta)

    def guarantee(self) -> str:
        """Say the promise in words."""
        return (
            f"({self.epsilon:.4g}, {self.delta:g})-differentially private including the choice among "
            f"{self.settings} settings (geometric number of trainings, mean {self.repeats:g}; "
            f"Papernot, Steinke 2022). Each training: {self.one.guarantee()}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data: the plan of a training, and what is searched."""
        whole = {"epsilon": self.epsilon, "delta": self.delta}
        return {**self.one.as_dict(), **whole, "settings": self.settings, "repeats": self.repeats}


@dataclass(frozen=True, kw_only=True)
class PrivateSearch:
    """The best of several settings, chosen with differential privacy.

    A geometric number of times a candidate is drawn, trained privately and scored with noise on the rows it
    was trained on; the best goes out, the rest is forgotten. More candidates cost nothing, more repeats do.

    Args:
        candidates: Models whose training costs the same: networks of the same sampling, steps and noise
            (learning rates, clips, networks differ), or boosted trees.
        repeats: Mean number of trainings.
        score_noise: Standard deviation of the noise on the number of right answers (on errors as shares of
            the bounds, where a number is learnt).
        epsilon: What all may cost together: the noise of every training is found for it. None takes the
            noise that candidates have, and says what it costs.
        delta: The same; by default half of a candidate's, so that half is left for whatever else there is.
        ledger: Pays, where ``fit`` names none.
        seed: For tests only; nothing is private then.

    Guarantees:
        - ``(epsilon, delta)``-DP for the released model and its settings, as :func:`search_epsilon` says.
        - Everything is paid for before the first training.
        - A row moves a score by 1 at most, whatever its label is.

    References:
        Papernot, Steinke: Hyperparameter tuning with Renyi differential privacy, 2022.
    """

    candidates: Sequence[Candidate]
    repeats: float = 5.0
    score_noise: float = 50.0
    epsilon: float | None = None
    delta: float | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)
    seed: int | None = None

    def __post_init__(self) -> None:
        check.at_least(1, repeats=self.repeats)
        if not self.candidates:
            raise InvalidParameter("candidates: give at least one")
        check.above_zero(score_noise=self.score_noise)

    def plan(self, ledger: Ledger | str | Path | None = None) -> SearchPlan:
        """Say what it will cost; nothing is spent."""
        return self._planned(Ledger.paying(self.ledger, ledger))[0]

    def _planned(self, ledger: Ledger) -> tuple[SearchPlan, list[Candidate]]:
        """Give the plan, and candidates with the noise that it needs."""
        if ledger.unit.subject is not None:
            raise InvalidParameter(
                f"ledger: its unit is a person (subject={ledger.unit.subject!r}), and a search protects "
                f"single rows"
            )
        noise = None if self.epsilon is None else self._noise(ledger, self.epsilon)
        candidates = [one if noise is None else one.with_noise(noise) for one in self.candidates]
        plans = [candidate.plan(ledger) for candidate in candidates]
        if any(plan.event != plans[0].event for plan in plans):
            raise InvalidParameter("candidates: batch, epochs and noise_multiplier must be the same for all")
        delta = plans[0].delta / 2 if self.delta is None else self.delta
        cost = search_epsilon(plans[0], repeats=self.repeats, score_noise=self.score_noise, delta=delta)
        epsilon = cost if self.epsilon is None else self.epsilon
        return SearchPlan(
            epsilon=epsilon, delta=delta, settings=len(candidates), repeats=self.repeats, one=plans[0]
        ), candidates

    def _noise(self, ledger: Ledger, epsilon: float) -> float:
        """Find the least noise of a training for what the whole search may cost."""

        def fits(noise: float) -> bool:
            plan = self.candidates[0].with_noise(noise).plan(ledger)
            delta = plan.delta / 2 if self.delta is None else self.delta
            cost = search_epsilon(plan, repeats=self.repeats, score_noise=self.score_noise, delta=delta)
            return cost <= epsilon

        low, high = SMALLEST, 1.0
        while not fits(high):
            low, high = high, 2 * high
            if high > LARGEST:
                raise InvalidParameter(
                    f"epsilon={epsilon:g} does not cover a search: take fewer repeats, or more score_noise"
                )
        while high > low * (1 + CLOSE):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if fits(middle) else (middle, high)
        return high

    def fit(self, X: Any, y: Any, *, ledger: Ledger | str | Path | None = None) -> Any:
        """Pay for the whole search, then run it; gives the best model.

        Args:
            X: ``(n, ...)`` numbers scaled by public constants.
            y: ``(n,)`` labels, or numbers.
            ledger: Pays; its unit must be single rows, of which one moves the number of right answers by 1.
        """
        book = Ledger.paying(self.ledger, ledger)
        plan, candidates = self._planned(book)
        for candidate in candidates:
            candidate.tried(X, y, book)  # whatever can be refused is refused before anything is paid
        what = f"private search over {len(candidates)} settings"
        book.spend(plan.event, what=what, delta=plan.delta, epsilon=plan.epsilon)
        stream = new_stream(self.seed)
        with part_of(plan.event):
            best = self._best(candidates, X, y, book, stream)
        best.cost_ = (plan.epsilon, plan.delta)
        warning = "NOT PRIVATE (a test seed was given). Otherwise: " if stream.seeded else ""
        best.guarantee_ = warning + plan.guarantee()
        return best

    def _best(
        self, candidates: Sequence[Candidate], X: Any, y: Any, ledger: Ledger, stream: SecretStream
    ) -> Any:
        """Train as often as chance says, and keep the model whose noisy score is highest."""
        best, best_score = None, -math.inf
        for run in range(self._count(stream)):
            own = SecretStream(bytes(stream.words("run", run, 4).tobytes()), seeded=stream.seeded)
            place = int(stream.words("candidate", run, 1)[0] % len(candidates))
            fitted: Any = candidates[place]._trained(X, y, ledger, own)  # noqa: SLF001 - the search has paid for it
            fitted.candidate_ = place
            score = self._noisy(right_answers(fitted, X, y), stream, run)
            if score > best_score:
                best, best_score = fitted, score
        assert best is not None  # noqa: S101 - a geometric number is at least 1
        return best

    def _noisy(self, right: float, stream: SecretStream, run: int) -> float:
        """Add noise to the score of a training; a row moves it by 1 at most."""

        def draw() -> float:
            return right + self.score_noise * float(stream.normals("score", run, 1)[0])

        return noised("search-score", [right], 1.0, None, draw)

    def _count(self, stream: SecretStream) -> int:
        """Draw a geometric number with the mean asked for."""
        if self.repeats == 1:
            return 1
        uniform = (int(stream.words("count", 0, 1)[0]) + 0.5) / 2**64
        return 1 + math.floor(math.log(uniform) / math.log1p(-1 / self.repeats))


def right_answers(model: Any, rows: Any, targets: Any) -> float:
    """Count right answers; a number that is off by a share of its bounds is so much less than one.

    Guarantees:
        - A row adds between 0 and 1, whatever it and the others hold.
    """
    if hasattr(model, "classes_"):
        return float(np.sum(model.predict_proba(rows).argmax(axis=1) == label_codes(targets, model.classes_)))
    low, high = model.bounds_
    off = np.abs(model.predict(rows) - np.clip(target_numbers(targets, "y"), low, high)) / (high - low)
    return float(np.sum(1 - np.clip(np.nan_to_num(off, nan=1.0), 0.0, 1.0)))
