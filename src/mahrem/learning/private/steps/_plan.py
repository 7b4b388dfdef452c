"""The plan of a private training: sampler, clipping, noise and cost come from the same public numbers."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from mahrem import check
from mahrem.dp import Relation, warn_of_large_delta
from mahrem.dp.accounting import Event, Pure, Repeated, epsilon_of
from mahrem.errors import InvalidParameter, PrivacyWarning, either
from mahrem.learning.private._secret_stream import SecretStream
from mahrem.learning.private.steps._choices import NOISES
from mahrem.learning.private.steps._cost import gaussian_steps, least_gaussian, renyi_epsilon
from mahrem.types import Floats, Integers


class PlanKeywords(TypedDict, total=False):
    """Numbers of a plan that are taken as they are.

    Attributes:
        clip: Largest norm of one unit's gradient; 1 by default.
        delta: The delta of the promise; 0 by default.
        noise: ``gaussian`` or ``laplace``.
        relation: Which tables are neighbours.
        rows_per_person: So many rows of one unit are used at most.
        poisson: False for batches that are no Poisson samples; refused unless the bound is accepted.
        accept_no_amplification: Accept that every epoch costs as much as a step over all rows.
    """

    clip: float
    delta: float
    noise: str
    relation: Relation | str
    rows_per_person: int
    poisson: bool
    accept_no_amplification: bool


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything about a private training that is public, as one object; made by :meth:`make`.

    A plan draws the batches, says how gradients are clipped, draws the noise, names the constant the sum is
    divided by, and gives the event that is paid for. None of them can be exchanged alone.

    Args:
        rows: The public number of rows (people, where people are protected); never counted from the data.
        batch: Expected size of a batch; each unit joins with probability ``batch / rows``.
        steps: How many noisy steps.
        clip: Largest norm of one unit's gradient: L2 for Gaussian noise, L1 for Laplace noise.
        noise_multiplier: Noise in units of ``clip``.
        delta: The delta at which ``epsilon`` is said; 0 for Laplace noise.
        noise: ``gaussian`` or ``laplace``.
        relation: Which tables are neighbours.
        rows_per_person: So many rows of one unit are used at most; each is clipped to its share of ``clip``.
        poisson: Whether batches are Poisson samples. Else each unit is used once an epoch, and nothing is
            gained from sampling.

    Guarantees:
        - ``event`` bounds what the noisy sums reveal, whatever the model, the loss and the data are.
        - Two plans with equal numbers are equal.

    References:
        Abadi et al.: Deep learning with differential privacy, 2016. Chua et al.: How private are DP-SGD
        implementations?, 2024 (why shuffled batches must not be accounted as Poisson samples).

    Example:
        >>> plan = TrainingPlan.make(rows=60_000, batch=512, epochs=40, noise_multiplier=1.23, delta=1e-5)
        >>> plan.steps, round(plan.epsilon, 2)
        (4688, 2.36)
    """

    rows: int
    batch: float
    steps: int
    clip: float
    noise_multiplier: float
    delta: float
    noise: str = "gaussian"
    relation: Relation = Relation.ADD_REMOVE
    rows_per_person: int = 1
    poisson: bool = True

    def __post_init__(self) -> None:
        check.at_least(1, rows=check.whole(rows=self.rows))
        check.at_least(1, steps=check.whole(steps=self.steps))
        check.at_least(1, rows_per_person=check.whole(rows_per_person=self.rows_per_person))
        check.one_of(NOISES, noise=self.noise)
        object.__setattr__(self, "relation", Relation(self.relation))
        _check_batch(self.batch, self.rows)
        for name in ("clip", "noise_multiplier"):
            check.above_zero(**{name: getattr(self, name)})
        _check_delta(self.delta, self.noise, self.rows)

    @classmethod
    def make(
        cls,
        *,
        rows: int,
        batch: float,
        epochs: float | None = None,
        steps: int | None = None,
        noise_multiplier: float | None = None,
        epsilon: float | None = None,
        **fixed: Unpack[PlanKeywords],
    ) -> Self:
        """Make a plan from a noise multiplier, or find the least noise for a promise.

        Args:
            rows: The public number of rows.
            batch: Expected size of a batch.
            epochs: How often each unit is seen on average; or ``steps``.
            steps: How many steps.
            noise_multiplier: Noise in units of ``clip``; or ``epsilon``.
            epsilon: The promise to find the noise for, by privacy loss distributions.
            **fixed: Every name of :class:`PlanKeywords`.
        """
        numbers: dict[str, Any] = {"clip": 1.0, "delta": 0.0, **fixed}
        accepted = numbers.pop("accept_no_amplification", False)
        relation = str(numbers.get("relation", Relation.ADD_REMOVE))
        numbers["relation"] = Relation(check.one_of(tuple(map(str, Relation)), relation=relation))
        if not numbers.get("poisson", True) and not accepted:
            raise InvalidParameter(
                "poisson=False must be accepted with accept_no_amplification: without Poisson sampling every "
                "epoch costs as much as one step over all rows (sampling rate 1)"
            )
        check.at_least(1, rows=check.whole(rows=rows))
        _check_batch(batch, rows)
        if (epochs is None) == (steps is None):
            raise InvalidParameter(f"epochs={epochs!r}, steps={steps!r}: give one of the two")
        if epochs is not None:
            check.above_zero(epochs=epochs)
            steps = max(1, math.ceil(epochs * rows / batch - 1e-9))
        if (noise_multiplier is None) == (epsilon is None):
            raise InvalidParameter(
                f"noise_multiplier={noise_multiplier!r}, epsilon={epsilon!r}: give one of the two"
            )
        numbers |= {"rows": rows, "batch": float(batch), "steps": steps}
        if noise_multiplier is None and epsilon is not None:
            check.promised(epsilon=epsilon)
            trial = cls(**numbers, noise_multiplier=1.0)
            times, rate = trial.uses(trial.steps)
            if trial.noise == "laplace":
                noise_multiplier = trial.moves / math.log1p(math.expm1(epsilon / times) / rate) * (1 + 1e-12)
            else:
                noise_multiplier = least_gaussian(rate, times, epsilon, trial.delta, trial.relation)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyWarning)  # the trial has said it
                return cls(**numbers, noise_multiplier=noise_multiplier)
        return cls(**numbers | {"noise_multiplier": noise_multiplier})

    @property
    def rate(self) -> float:
        """The probability with which a unit joins a batch."""
        return self.batch / self.rows

    @property
    def parts(self) -> int:
        """Batches in an epoch, where they are no Poisson samples."""
        return max(1, math.ceil(self.rows / self.batch))

    @property
    def moves(self) -> int:
        """How many clips the sum moves at most between neighbours."""
        return self.relation.moves

    def uses(self, steps: int) -> tuple[int, float]:
        """Say how often the first steps use a unit, and with which probability each time."""
        return (steps, min(1.0, self.rate)) if self.poisson else (-(-steps // self.parts), 1.0)

    @property
    def event(self) -> Event:
        """What all steps reveal."""
        return training_event(self, self.steps)

    @property
    def epsilon(self) -> float:
        """What all steps cost at ``delta``."""
        return epsilon_of(self.event, self.delta, self.relation)

    @property
    def noise_scale(self) -> float:
        """Standard deviation (Gaussian) or scale (Laplace) of the noise on the sum of clipped gradients."""
        return self.noise_multiplier * self.clip

    @property
    def row_clip(self) -> float:
        """Largest norm of the gradient of one row."""
        return self.clip / self.rows_per_person

    @property
    def divisor(self) -> float:
        """The public constant that the noisy sum is divided by."""
        return self.batch

    def sample(self, stream: SecretStream, step: int, units: int) -> Integers:
        """Draw the units of one batch; it may be empty."""
        if self.poisson:
            return stream.chosen(step, units, self.rate)
        epoch, part = divmod(step, self.parts)
        return np.flatnonzero(stream.places(epoch, units, self.parts) == part)

    def draw_noise(self, stream: SecretStream, step: int, count: int) -> Floats:
        """Draw the noise of one step."""
        draw = stream.normals if self.noise == "gaussian" else stream.laplaces
        return draw("noise", step, count) * self.noise_scale

    def epsilon_after(self, steps: int) -> float:
        """Bound what the first steps cost, quickly (by Renyi divergences; never above the whole)."""
        if steps <= 0:
            return 0.0
        if self.noise == "laplace":
            return epsilon_of(training_event(self, steps), 0.0, self.relation)
        times, rate = self.uses(steps)
        bound = renyi_epsilon(rate, self.noise_multiplier, times, self.delta, self.relation)
        return min(self.epsilon, bound)

    def guarantee(self, *, seeded: bool = False) -> str:
        """Say the promise and what it idealises, in words."""
        unit = (
            "one row" if self.rows_per_person == 1 else f"one person with {self.rows_per_person} rows at most"
        )
        change = "more or less" if self.relation is Relation.ADD_REMOVE else "exchanged"
        promise = f"epsilon={self.epsilon:.4g}" + (f", delta={self.delta:g}" if self.delta else "")
        batches = (
            f"Poisson batches at rate {self.rate:.4g}"
            if self.poisson
            else "every unit once an epoch, no gain from sampling"
        )
        text = (
            f"({promise})-differentially private for tables that differ in {unit} {change}: "
            f"{self.steps} steps, {batches}, gradients clipped to {self.clip:g}, {self.noise} noise of "
            f"{self.noise_multiplier:.4g} times that, sums divided by the public constant "
            f"{self.divisor:g}. Holds for the whole sequence of models. Idealised: noise and gradients are "
            f"floating-point numbers, not exact reals; the noise comes from a key of the system's generator "
            f"stretched by SHAKE-128; running times are not hidden."
        )
        return (
            f"NOT PRIVATE (a test seed was given, so the noise is known). Otherwise: {text}"
            if seeded
            else text
        )

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**asdict(self), "relation": str(self.relation), "epsilon": self.epsilon}

    @classmethod
    def from_dict(cls, numbers: dict[str, Any]) -> Self:
        """Read what :meth:`as_dict` gave."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # it was said when the plan was made
            return cls(**{name: value for name, value in numbers.items() if name != "epsilon"})


def training_event(plan: TrainingPlan, steps: int) -> Event:
    """Give what the first ``steps`` steps of a plan reveal.

    Gaussian: Poisson-sampled Gaussian noise, composed by privacy loss distributions. Laplace noise on a
    vector is taken as any mechanism of its epsilon, amplified by sampling: ``log(1 + rate (e^epsilon - 1))``.
    Without Poisson sampling each unit is in one batch an epoch, so an epoch costs one unsampled step.
    """
    times, rate = plan.uses(steps)
    if plan.noise == "gaussian":
        return gaussian_steps(rate, plan.noise_multiplier, times)
    return Repeated(Pure(math.log1p(rate * math.expm1(plan.moves / plan.noise_multiplier))), times)


def declared_rows(rows: int | None) -> int:
    """Give the public number of rows; refuses where nobody has declared it."""
    if rows is None:
        raise InvalidParameter(
            f"rows=None: the public number of rows must be declared "
            f"({either('rows=N', 'ledger new --rows N')}); it is never counted from the data"
        )
    return rows


def _check_batch(batch: float, rows: int) -> None:
    if not 0 < check.finite(batch=batch) <= rows:
        raise InvalidParameter(f"batch={batch!r} must be above 0 and at most rows={rows}")


def _check_delta(delta: float, noise: str, rows: int) -> None:
    if noise == "laplace":
        if delta != 0:
            raise InvalidParameter(f"delta={delta!r} must be 0 for laplace noise: it needs none")
        return
    if not 0 < check.finite(delta=delta) < 1:
        raise InvalidParameter(f"delta={delta!r} must lie between 0 and 1, both outside, for gaussian noise")
    warn_of_large_delta(delta, rows, stacklevel=5)
