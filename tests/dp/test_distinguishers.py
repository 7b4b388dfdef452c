"""The promise as an attacker sees it: many answers about two neighbours, counted.

Verbs whose runs are cheap are tried here, ``benchmarks/distinguishers.py`` tries all of them at length. A
bound lies above the truth in at most ALARM of cases, so all of this fails by chance less than once in a
million times.
"""

from __future__ import annotations

import numpy as np
import pytest

from distinguishers_of import FAULTS, Verb, asked, cheap_verbs, lower_bound, odd_cell

ALARM = 2e-8
RUNS = 2000
CHEAP = list(cheap_verbs())


@pytest.mark.parametrize("verb", CHEAP, ids=lambda verb: verb.name)
def test_answers_give_away_no_more_than_was_promised(verb: Verb) -> None:
    assert verb.bound(RUNS, ALARM) <= verb.epsilon


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str) -> None:
    verb = odd_cell() if "type" in fault else asked("count()", [0.0] * 5, [0.0] * 6)
    with FAULTS[fault]():
        assert verb.bound(2 * RUNS, ALARM) > verb.epsilon


@pytest.mark.parametrize("promise", [0.5, 1.0, 3.0])
def test_bounds_come_near_the_truth_and_stay_below_it(promise: float) -> None:
    rng = np.random.default_rng(int(10 * promise))
    one, other = (rng.laplace(place, 1 / promise, (40_000, 1)) for place in (0, 1))
    found = lower_bound(one, other, 0.0, ALARM)
    assert 0.7 * promise < found <= promise
    shifted = lower_bound(one, other, 0.1, ALARM)  # what delta explains proves nothing
    assert 0 <= shifted < found
