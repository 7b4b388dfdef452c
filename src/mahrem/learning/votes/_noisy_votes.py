"""Noisy votes: the winner of a count that one record can hardly change, at a cost known beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mahrem import check
from mahrem.dp import Relation
from mahrem.dp.accounting import Composed, DiscreteGaussian, DiscreteLaplace, Event, Repeated, epsilon_of
from mahrem.dp.noise import GlobalSensitivity, IntegerNoise
from mahrem.errors import InvalidParameter
from mahrem.types import Integers

PASSED = -1  # a question that gets no answer
MOVED = 2  # a record moves one vote: one count falls by one, another rises by one


class NoisyVotes(Protocol):
    """How votes become answers."""

    def event(self, questions: int) -> Event:
        """Say what so many questions reveal, whatever the votes are."""
        ...

    def __call__(self, votes: Integers, relation: Relation) -> Integers:
        """Give the place of the winner for each row of ``(questions, classes)`` counts; -1 if passed over."""
        ...


def _positive(**named: float) -> None:
    ((name, value),) = named.items()
    if check.finite(**{name: value}) <= 0:
        raise InvalidParameter(f"{name}={value!r} must be above 0")


def _noise(kind: str, scale: float, relation: Relation, event: Event, moved: int) -> IntegerNoise:
    reach = GlobalSensitivity(relation=relation, l1=moved, l2_squared=moved, linf=1, single=moved == 1)
    return IntegerNoise(kind=kind, scale=scale, sensitivity=reach, event=event)


def _winners(votes: Integers, noise: IntegerNoise) -> Integers:
    rows: list[list[int]] = np.asarray(votes, dtype=np.int64).tolist()
    return np.array([int(np.argmax(noise(row))) for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class LaplaceVotes:
    """Laplace noise on every count, as first published; pure.

    Args:
        scale: Of the noise; a question costs ``2 / scale``.

    References:
        Papernot, Abadi, Erlingsson, Goodfellow, Talwar: Semi-supervised knowledge transfer for deep learning
        from private training data, 2017.

    Example:
        >>> LaplaceVotes(20.0).event(1).event
        Repeated(event=DiscreteLaplace(scale=20.0, sensitivity=1), times=2)
    """

    scale: float

    def __post_init__(self) -> None:
        _positive(scale=self.scale)

    def event(self, questions: int) -> Repeated:
        """Say what so many questions reveal: two counts move by one each, with noise of their own."""
        return Repeated(Repeated(DiscreteLaplace(self.scale, 1), MOVED), questions)

    def __call__(self, votes: Integers, relation: Relation) -> Integers:
        """Give the noisy winner of each row of counts."""
        return _winners(votes, _noise("laplace", self.scale, relation, self.event(1).event, MOVED))


@dataclass(frozen=True)
class GaussianVotes:
    """Gaussian noise on every count (GNMax): many questions cost far less than with Laplace noise.

    Args:
        sigma: Of the noise.

    References:
        Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson: Scalable private learning with PATE, 2018.

    Example:
        >>> GaussianVotes(40.0).event(1).event
        Repeated(event=DiscreteGaussian(sigma=40.0, sensitivity=1), times=2)
    """

    sigma: float

    def __post_init__(self) -> None:
        _positive(sigma=self.sigma)

    @classmethod
    def for_epsilon(
        cls, epsilon: float, *, delta: float, questions: int, relation: Relation = Relation.ADD_REMOVE
    ) -> GaussianVotes:
        """Find the least noise for which so many questions cost at most ``epsilon``."""
        _positive(epsilon=epsilon)
        # zCDP bounds it from above; then halve towards the least.
        rho = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
        high = math.sqrt(questions / rho)
        low = high / 4
        for _ in range(12):
            middle = (low + high) / 2
            fits = epsilon_of(cls(middle).event(questions), delta, relation) <= epsilon
            low, high = (low, middle) if fits else (middle, high)
        return cls(high)

    def event(self, questions: int) -> Repeated:
        """Say what so many questions reveal: two counts move by one each, with noise of their own."""
        return Repeated(Repeated(DiscreteGaussian(self.sigma, 1), MOVED), questions)

    def __call__(self, votes: Integers, relation: Relation) -> Integers:
        """Give the noisy winner of each row of counts."""
        return _winners(votes, _noise("gaussian", self.sigma, relation, self.event(1).event, MOVED))


@dataclass(frozen=True, kw_only=True)
class ConfidentVotes:
    """Answers only where the noisy highest count passes a threshold (Confident-GNMax).

    The first noise is large and cheap and asks whether the vote is clear; the second, smaller one names the
    winner. Only so many answers are given as were paid for; then every question is passed over.

    Args:
        sigma: Noise on the counts of an answer.
        threshold: Votes that the highest count must have, with noise.
        threshold_sigma: Noise on the highest count.
        answers: How many answers are paid for.

    References:
        Papernot et al.: Scalable private learning with PATE, 2018.

    Example:
        >>> votes = ConfidentVotes(sigma=20.0, threshold=150.0, threshold_sigma=60.0, answers=5)
        >>> [one.times for one in votes.event(100).events]
        [100, 5]
    """

    sigma: float
    threshold: float
    threshold_sigma: float
    answers: int

    def __post_init__(self) -> None:
        _positive(sigma=self.sigma)
        _positive(threshold_sigma=self.threshold_sigma)
        check.finite(threshold=self.threshold)
        check.at_least(1, answers=check.whole(answers=self.answers))

    def event(self, questions: int) -> Composed:
        """Say what so many questions reveal: each is checked, and at most ``answers`` are answered."""
        checks = Repeated(DiscreteGaussian(self.threshold_sigma, 1), questions)
        return Composed((checks, GaussianVotes(self.sigma).event(min(self.answers, questions))))

    def __call__(self, votes: Integers, relation: Relation) -> Integers:
        """Give the noisy winner of each row of counts whose vote is clear; -1 for the others."""
        one = DiscreteGaussian(self.threshold_sigma, 1)
        check_noise = _noise("gaussian", self.threshold_sigma, relation, one, 1)
        tops: list[int] = np.asarray(votes, dtype=np.int64).max(axis=1).tolist()
        clear = np.array([check_noise([top])[0] >= self.threshold for top in tops], dtype=np.bool_)
        chosen: Any = np.flatnonzero(clear)[: self.answers]
        winners = np.full(len(tops), PASSED, dtype=np.int64)
        winners[chosen] = GaussianVotes(self.sigma)(votes[chosen], relation)
        return winners
