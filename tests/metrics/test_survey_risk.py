"""Risk of samples: the published example of francdat, facts by hand, and what always holds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.metrics.surveys import household_risk, individual_risk, model_risk, suda

# francdat of sdcMicro, the example of Capobianchi, Polettini and Lucarelli: keys and sampling weights.
KEYS = np.array(
    [
        [1, 2, 5, 1],
        [1, 2, 1, 1],
        [1, 2, 1, 1],
        [3, 3, 1, 5],
        [4, 3, 1, 4],
        [4, 3, 1, 1],
        [6, 2, 1, 5],
        [1, 2, 5, 1],
    ]
)
WEIGHTS = np.array([18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0])


def test_the_example_of_francdat_has_the_risks_that_the_definition_gives() -> None:
    found = individual_risk(KEYS, WEIGHTS)
    assert found.frequency.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population.tolist() == [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
    wanted = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    assert found.risk == pytest.approx(wanted, abs=5e-9)
    assert [found.below(2), found.below(3)] == [4, 8]


def test_eight_records_have_the_risks_that_sdcmicro_states() -> None:
    """Its tests of indivRisk: github.com/sdcTools/sdcMicro, tests/testthat/test_indivRisk.R."""
    keys = np.column_stack([[2, 3, 2, 2, 3, 3, 1, 2], [3, 3, 3, 3, 3, 3, 4, 3], [1, 3, 1, 2, 1, 1, 1, 1]])
    weights = np.array([18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0])
    stated = [0.01369863, 0.08579129, 0.01369863, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01369863]
    assert individual_risk(keys, weights).risk == pytest.approx(stated, abs=5e-9)
    assert individual_risk(keys).risk == pytest.approx([1 / 3, 1, 1 / 3, 1, 0.5, 0.5, 1, 1 / 3])


def by_integral(frequency: int, population: float) -> float:
    """The definition: one over the population's count, which is negative binomial, by summing it up."""
    share = frequency / population
    counts = np.arange(frequency, 400_000)
    logs = np.cumsum(np.log(np.maximum(counts[1:] - 1, 1))) - np.cumsum(np.log(counts[1:] - frequency))
    chances = np.exp(
        frequency * np.log(share) + np.concatenate([[0], logs + (counts[1:] - frequency) * np.log1p(-share)])
    )
    return float((chances / counts).sum())


@pytest.mark.parametrize("frequency", [1, 2])
@pytest.mark.parametrize("weight", [1.5, 10.0, 300.0])
def test_small_frequencies_follow_the_negative_binomial_exactly(frequency: int, weight: float) -> None:
    keys = np.zeros((frequency, 1), np.int64)
    found = individual_risk(keys, np.full(frequency, weight)).risk[0]
    assert found == pytest.approx(by_integral(frequency, frequency * weight), rel=2e-3)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(1, 1e6)), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_risks_are_chances_and_never_above_one_over_the_frequency(rows: list[tuple[int, float]]) -> None:
    keys = np.array([[key] for key, _ in rows])
    weights = np.array([weight for _, weight in rows])
    found, plain = individual_risk(keys, weights), individual_risk(keys)
    assert (found.risk >= 0).all()
    assert (found.risk <= plain.risk + 1e-9).all()
    assert plain.risk == pytest.approx(1 / plain.frequency)
    assert (individual_risk(keys, weights * 2).risk <= found.risk + 1e-6).all()


def test_a_household_is_found_through_anybody_in_it() -> None:
    own = np.array([0.5, 0.2, 0.1, 1.0])
    shared = household_risk(own, np.array([0, 0, -1, 1]))
    assert shared == pytest.approx([0.6, 0.6, 0.1, 1.0])
    assert (shared >= own - 1e-12).all()


@pytest.mark.parametrize("weights", [[0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], [1.0]])
def test_weights_that_stand_for_nobody_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        individual_risk(np.zeros((2, 1), np.int64), np.array(weights))


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=40),
    st.floats(0.01, 0.99),
    st.booleans(),
)
@settings(deadline=None, max_examples=40)
def test_a_model_expects_no_more_than_there_is(
    rows: list[tuple[int, int, int]],
    fraction: float,
    pairs: bool,  # noqa: FBT001 - drawn
) -> None:
    found = model_risk(np.array(rows), fraction, pairs=pairs)
    assert 0 <= found.population_uniques <= found.matches + 1e-9 <= found.uniques + 2e-9


def test_independent_columns_are_expected_as_their_shares_say() -> None:
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # one expected in each of four combinations
    found = model_risk(codes, 0.5, pairs=False)
    assert found.population_uniques == pytest.approx(4 * np.exp(-1))
    assert found.matches == pytest.approx(4 * (1 - np.exp(-1)))


def test_the_verb_says_the_same_and_tells_contributions() -> None:
    names = ["k1", "k2", "k3", "k4"]
    table = pl.DataFrame({name: KEYS[:, place] for place, name in enumerate(names)}).with_columns(
        pl.Series("w", WEIGHTS), pl.Series("house", [1, 1, 2, 2, 3, 3, 4, 4])
    )
    found = mh.risk(table, quasi=names, weight="w", household="house")
    assert found.individual.risk.tolist() == individual_risk(KEYS, WEIGHTS).risk.tolist()
    scored = suda(KEYS, fraction=8 / WEIGHTS.sum())
    assert found.suda.tolist() == scored.scores.tolist()
    assert list(found.contributions.values()) == scored.contributions.tolist()
    told = found.as_dict()
    assert told["violates"] == {"2-anonymity": 4, "3-anonymity": 8, "5-anonymity": 8}
    assert found.records.height == 8
    for wrong in ({"weight": "nobody"}, {"weight": "k1"}, {"quasi": []}, {"rest": "drop"}, {"fraction": 1.0}):
        with pytest.raises((InvalidParameter, KeyError)):
            mh.risk(table, **{"quasi": names, **wrong})
