"""What models about all classes together guarantee: over everything in the room that is one."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from mahrem.errors import InvalidParameter
from mahrem.estimates import population_uniques
from mahrem.models import Counts, Promise, judge, models_of_risk, populations
from mahrem.models.populations import TableModel

TIGHTEST_FIRST = {
    "AverageRisk": [populations.AverageRisk(risk) for risk in (0.05, 0.2, 0.5, 1.0)],
    "MarketerRisk": [populations.MarketerRisk(risk, 0.3) for risk in (0.05, 0.2, 0.5, 1.0)],
    "SampleUniqueness": [populations.SampleUniqueness(share) for share in (0.0, 0.05, 0.3, 1.0)],
    "PopulationUniqueness": [populations.PopulationUniqueness(share, 0.2) for share in (0.0, 0.01, 0.1, 1.0)],
}
EVERY = [name for name in populations.__all__ if TableModel in getattr(populations, name).__mro__[1:]]
NONE = np.zeros(0, np.int64)
sizes_of = st.lists(st.integers(1, 12), min_size=1, max_size=25)


def counts(sizes: list[int]) -> Counts:
    return Counts(np.array(sizes), NONE, NONE, NONE, np.zeros(0))


def slow_figure(model: TableModel, sizes: list[int]) -> float:
    rows = sum(sizes)
    match model:
        case populations.AverageRisk():
            return sum(size * (1 / size) for size in sizes) / rows
        case populations.MarketerRisk():
            a = 1 / model.fraction - 1

            def chance(size: int) -> float:
                return float(quad(lambda v: v ** (size - 1) / (1 + a * v), 0, 1)[0])

            return sum(size * chance(size) for size in sizes) / rows
        case populations.SampleUniqueness():
            return sizes.count(1) / rows
        case populations.PopulationUniqueness():
            if 1 not in sizes:
                return 0.0
            people = max(rows, round(rows / model.fraction))
            return population_uniques(np.array(sizes), people).uniques / people
    raise AssertionError(model)


def test_every_model_of_the_whole_table_is_under_contract() -> None:
    assert sorted(EVERY) == sorted(TIGHTEST_FIRST)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=15, deadline=None)
@given(sizes=sizes_of)
def test_the_level_is_that_of_the_definition_and_the_same_for_all(name: str, sizes: list[int]) -> None:
    for model in TIGHTEST_FIRST[name]:
        levels = model.level(counts(sizes))
        assert levels == pytest.approx([slow_figure(model, sizes)] * len(sizes), rel=1e-7, abs=1e-9)
        held = model.holds(counts(sizes))
        assert held.all() or not held.any()
        assert held.all() == (levels[0] <= model.wanted + 1e-12)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=15, deadline=None)
@given(sizes=sizes_of)
def test_a_tighter_bound_never_admits_more(name: str, sizes: list[int]) -> None:
    for tight, loose in pairwise(TIGHTEST_FIRST[name]):
        assert loose.holds(counts(sizes)).all() or not tight.holds(counts(sizes)).any()


@pytest.mark.parametrize("name", [name for name in EVERY if getattr(populations, name).monotone])
@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(1, 12), min_size=2, max_size=25), data=st.data())
def test_classes_put_together_never_raise_a_monotone_one(
    name: str, sizes: list[int], data: st.DataObject
) -> None:
    first, second = data.draw(st.sampled_from([(0, 1), (0, len(sizes) - 1)]))
    joined = [size for place, size in enumerate(sizes) if place not in (first, second)]
    joined.append(sizes[first] + sizes[second])
    for model in TIGHTEST_FIRST[name]:
        assert model.figure(np.array(joined)) <= model.figure(np.array(sizes)) + 1e-12


@pytest.mark.parametrize("name", EVERY)
def test_the_order_of_classes_and_empty_ones_change_nothing(name: str) -> None:
    for model in TIGHTEST_FIRST[name]:
        one = model.level(counts([1, 4, 1, 3, 9, 0]))[0]
        assert one == pytest.approx(model.level(counts([9, 1, 1, 4, 3]))[0])


@pytest.mark.parametrize("name", EVERY)
def test_models_are_frozen_comparable_and_documented(name: str) -> None:
    model = TIGHTEST_FIRST[name][0]
    assert model == dataclasses.replace(model)
    for section in ("Guarantees:", "References:", "Example:"):
        assert section in (type(model).__doc__ or "")


def test_a_judge_says_of_all_classes_that_they_break_it() -> None:
    outcome = judge(Promise(populations.AverageRisk(0.2)), counts([1, 2, 3]))
    assert (outcome.holds, outcome.reached, outcome.violating_classes) == (False, 0.5, 3)


def test_an_estimator_without_an_answer_promises_nothing() -> None:
    """All alone: Pitman's likelihood has no greatest value."""
    model = populations.PopulationUniqueness(1.0, 0.05, "pitman")
    found = population_uniques(np.ones(6, np.int64), 120)
    assert model.holds(counts([1] * 6)).all() == (found.pitman is not None)


def test_settings_ask_for_models_about_risk() -> None:
    said = {"k_map": 5, "journalist_risk": 0.2, "no_attack": (300.0, 4.0), "average_risk": 0.1}
    found = models_of_risk({**said, "population_uniqueness": 0.01}, fraction=0.1, kind="zayatz")
    assert found == (
        populations.KMap(5, 0.1),
        populations.JournalistRisk(0.2, 0.1),
        populations.NoAttack(300.0, 4.0, 0.1),
        populations.AverageRisk(0.1),
        populations.PopulationUniqueness(0.01, 0.1, "zayatz"),
    )


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ({"k_map": 5}, {"fraction": None}),
        ({"marketer_risk": 0.1}, {"fraction": None}),
        ({"population_uniqueness": 0.1}, {"fraction": None}),
        ({"k_map": 0}, {"fraction": 0.1}),
        ({"average_risk": 0.0}, {"fraction": None}),
        ({"average_risk": 1.5}, {"fraction": None}),
        ({"no_attack": (0.0, 4.0)}, {"fraction": None}),
        ({"no_attack": (300.0, 0.0)}, {"fraction": None}),
        ({"population_uniqueness": 0.1}, {"fraction": 0.1, "kind": "guess"}),
        ({}, {"fraction": 0.1, "kind": "pitman"}),
    ],
)
def test_what_does_not_fit_is_refused(said: dict[str, object], more: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        models_of_risk(said, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("gain", "cost", "rows"), [(300, 4, 76), (10, 4, 3), (8, 4, 3), (1, 4, 1)])
def test_an_attack_does_not_pay_from_so_many_rows_on(gain: float, cost: float, rows: int) -> None:
    """As ARX derives it: more rows than gain over cost."""
    assert populations.NoAttack(gain, cost).least_rows == rows
