"""Local differential privacy for one question: everybody answers at random, frequencies are estimated."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mahrem import check
from mahrem.dp._ledger import Ledger
from mahrem.dp._relation import Relation
from mahrem.dp.accounting import Event, Pure, Repeated
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.types import Floats, Integers, Mask

WHOLE = 1 << 53  # probabilities are multiples of one over this, so that epsilon is exact


@dataclass(frozen=True)
class Frequencies:
    """Estimated shares of the values and how far off they may be.

    Attributes:
        shares: One per value; unbiased, so they may be below 0 or above 1.
        errors: Half-widths that hold for each share by itself with the confidence asked for (normal
            approximation, no look at more than the answers).
        answers: How many answers were counted.
    """

    shares: Floats
    errors: Floats
    answers: int


def local_event(event: Event, ledger: Ledger, times: int = 1) -> Event:
    """Give what ``times`` local answers of each record cost a ledger.

    Whoever sends a noisy answer is seen to send one: what a record says is hidden, not that it is there. A
    ledger must therefore have the relation ``replace``.

    Args:
        event: What one answer of a record costs.
        ledger: Will pay. Where it protects people, each may send as many records as it says, and all of
            them are paid for.
        times: How often each record is asked.
    """
    check.at_least(1, times=check.whole(times=times))
    if ledger.relation is not Relation.REPLACE:
        raise InvalidParameter(
            f"relation={ledger.relation}: local noise hides what a record says, not that it is there; it "
            f"needs a ledger with relation='replace'"
        )
    answers = times * ledger.unit.rows
    return event if answers == 1 else Repeated(event, answers)


def _coins(probability: int, shape: tuple[int, ...]) -> Mask:
    """Throw coins of probability ``probability / 2**53`` with the system's generator."""
    count = math.prod(shape)
    words = np.frombuffer(secrets.token_bytes(8 * count), dtype="<u8") >> np.uint64(11)
    return np.asarray(words.reshape(shape) < np.uint64(probability))


def _uniform(most: int, count: int) -> Integers:
    """Draw whole numbers below ``most``, each exactly equally likely."""
    numbers = np.empty(0, dtype=np.int64)
    limit = (1 << 62) // most * most
    while len(numbers) < count:  # the first try nearly always suffices
        words = np.frombuffer(secrets.token_bytes(8 * count), dtype="<u8") >> np.uint64(2)
        numbers = np.concatenate(
            [numbers, (words[words < np.uint64(limit)] % np.uint64(most)).astype(np.int64)]
        )
    return numbers[:count]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """One question that everybody answers at random."""

    epsilon: float
    values: int

    def __post_init__(self) -> None:
        check.promised(epsilon=self.epsilon)
        check.at_least(2, values=check.whole(values=self.values))

    def event(self) -> Event:
        """What one answer of a record costs."""
        return Pure(self.epsilon)


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse(_Asked):
    """k-ary randomised response: the truth with one probability, else any other value.

    Args:
        epsilon: The promise to each person, whoever collects the answers.
        values: How many values there may be; declared, never counted.

    Guarantees:
        - The largest quotient in a column of :meth:`matrix` is at most ``exp(epsilon)``: pure local DP.
        - Estimates are unbiased.
        - No code outside ``0 .. values-1`` passes.

    References:
        Warner, 1965; Kairouz, Oh, Viswanath: Extremal mechanisms for local differential privacy, 2014.

    Example:
        >>> ask = RandomisedResponse(epsilon=math.log(3), values=2)
        >>> ask.matrix().round(2).tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """

    @property
    def keep(self) -> float:
        """The probability of the truth, rounded down to a multiple of ``2**-53``."""
        return self._kept / WHOLE

    @property
    def _kept(self) -> int:
        exact = 1.0 / (1.0 + (self.values - 1) * math.exp(-self.epsilon))
        return max(math.ceil(WHOLE / self.values), math.floor(exact * WHOLE * (1 - 2.0**-50)))

    def matrix(self) -> Floats:
        """Give the probability of each answer (column) for each truth (row)."""
        other = (1.0 - self.keep) / (self.values - 1)
        return np.full((self.values, self.values), other) + np.eye(self.values) * (self.keep - other)

    def __call__(self, codes: Sequence[int] | Integers) -> Integers:
        """Answer for each record; this belongs on the side of the person asked."""
        true = _codes(codes, self.values)
        honest = _coins(self._kept, (len(true),))
        others = (true + 1 + _uniform(self.values - 1, len(true))) % self.values
        return np.where(honest, true, others)

    def estimate(self, answers: Sequence[int] | Integers, *, confidence: float = 0.95) -> Frequencies:
        """Estimate how frequent each value is among the records."""
        seen = _codes(answers, self.values)
        other = (1.0 - self.keep) / (self.values - 1)
        return _frequencies(np.bincount(seen, minlength=self.values), len(seen), self.keep, other, confidence)


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(_Asked):
    """Optimised unary encoding: one noisy flag per value; better than k-ary answers for many values.

    Args:
        epsilon: The promise to each person.
        values: How many values there may be; declared, never counted.

    Guarantees:
        - Two truths differ in two flags, whose quotients multiply to at most ``exp(epsilon)``.
        - Estimates are unbiased; their error does not grow with the number of values.

    References:
        Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation, 2017.

    Example:
        >>> UnaryEncoding(epsilon=1.0, values=50)([3, 4]).shape
        (2, 50)
    """

    @property
    def _lit(self) -> int:
        """How often, of ``2**53``, a flag that should be dark is lit: rounded up."""
        return min(WHOLE // 2, math.ceil(WHOLE / (1.0 + math.exp(self.epsilon)) * (1 + 2.0**-50)))

    def __call__(self, codes: Sequence[int] | Integers) -> Mask:
        """Answer for each record: ``(n, values)`` flags."""
        true = _codes(codes, self.values)
        flags = _coins(self._lit, (len(true), self.values))
        flags[np.arange(len(true)), true] = _coins(WHOLE // 2, (len(true),))
        return flags

    def estimate(self, answers: Mask, *, confidence: float = 0.95) -> Frequencies:
        """Estimate how frequent each value is among the records."""
        flags = np.asarray(answers, dtype=bool)
        if flags.ndim != 2 or flags.shape[1] != self.values:
            raise InvalidInput(f"answers must be (n, {self.values}) flags; they have {flags.shape}")
        return _frequencies(flags.sum(axis=0), len(flags), 0.5, self._lit / WHOLE, confidence)


def _codes(codes: Sequence[int] | Integers, values: int) -> Integers:
    taken = np.asarray(codes)
    if taken.ndim != 1 or (len(taken) and taken.dtype.kind not in "iu"):
        raise InvalidInput(f"codes must be a list of whole numbers below values={values}")
    whole = taken.astype(np.int64)
    outside = np.count_nonzero((whole < 0) | (whole >= values))
    if outside:
        raise InvalidInput(
            f"codes: {outside} of {len(whole)} are not declared; they must lie in 0..{values - 1}"
        )
    return whole


def _frequencies(counts: Integers, n: int, hit: float, miss: float, confidence: float) -> Frequencies:
    if n == 0:
        raise InvalidInput("answers=0: nothing can be estimated")
    seen = counts / n
    shares = (seen - miss) / (hit - miss)
    quantile = NormalDist().inv_cdf(0.5 + check.between(0, 1 - 1e-12, confidence=confidence) / 2)
    wide = np.sqrt(np.maximum(seen * (1 - seen), 1 / n) / n)
    return Frequencies(shares, quantile * wide / (hit - miss), n)
