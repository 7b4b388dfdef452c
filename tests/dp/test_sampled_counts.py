"""Counts of a sample that are shown from k on: k by the paper's formula, and by the definition of DP."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from mahrem.dp.accounting import largest_rate, sampled_counts_delta, sampled_counts_threshold, sparing_rate
from mahrem.errors import InvalidParameter


def by_the_paper(k: int, epsilon: float, beta: float) -> float:
    """Theorem 5 of Li, Qardaji and Su, summed term by term; larger classes are ever less likely."""
    gamma = (math.exp(epsilon) - 1 + beta) / math.exp(epsilon)
    first = math.ceil(k / gamma - 1)
    return max(
        sum(
            math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(math.floor(gamma * n) + 1, n + 1)
        )
        for n in range(max(1, first), first + 150)
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("part", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("k", [3, 10, 31])
def test_delta_is_that_of_the_papers_formula(epsilon: float, part: float, k: int) -> None:
    beta = largest_rate(epsilon) * part
    assert sampled_counts_delta(k, epsilon, beta) == pytest.approx(by_the_paper(k, epsilon, beta), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-4), (2.0, 1e-6), (1.0, 1e-6)])
def test_the_threshold_is_the_least_that_is_enough(epsilon: float, delta: float) -> None:
    for beta in (largest_rate(epsilon), sparing_rate(epsilon, delta)):
        k = sampled_counts_threshold(epsilon, delta, beta)
        assert by_the_paper(k, epsilon, beta) <= delta < by_the_paper(k - 1, epsilon, beta)


def shown_chances(rows: int, k: int, beta: Fraction) -> dict[int, Fraction]:
    """How likely each number is shown for a class of so many rows; 0 for nothing."""
    chances = {0: Fraction(0)}
    for count in range(rows + 1):
        chance = math.comb(rows, count) * beta**count * (1 - beta) ** (rows - count)
        chances[count if count >= k else 0] = chances.get(count if count >= k else 0, Fraction(0)) + chance
    return chances


@pytest.mark.parametrize(("epsilon", "delta", "part"), [(1.0, 1e-2, 1.0), (0.7, 1e-3, 0.5), (2.0, 1e-3, 0.6)])
def test_no_class_tells_more_than_the_definition_allows(epsilon: float, delta: float, part: float) -> None:
    """The divergence of the definition itself, in fractions, both ways, for classes of all sizes."""
    beta = Fraction(largest_rate(epsilon) * part)
    k, bound = sampled_counts_threshold(epsilon, delta, float(beta)), Fraction(math.exp(epsilon))
    for rows in range(1, 4 * k + 8):
        more, less = shown_chances(rows, k, beta), shown_chances(rows - 1, k, beta)
        for one, other in ((more, less), (less, more)):
            beyond = sum(max(chance - bound * other.get(count, 0), 0) for count, chance in one.items())
            assert beyond <= delta * (1 + 1e-9)


def test_a_rate_that_tells_who_is_absent_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="rate"):
        sampled_counts_threshold(1.0, 1e-6, 0.64)
    for wrong in ({"delta": 0.0}, {"delta": 2.0}, {"epsilon": 0.0}, {"rate": 0.0}):
        with pytest.raises(InvalidParameter):
            sampled_counts_threshold(**{"epsilon": 1.0, "delta": 1e-6, "rate": 0.3, **wrong})
