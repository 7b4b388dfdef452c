"""Membership in models: figures against slow ones, memory that must be found, chance that must not alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mahrem.attacks.on_models import (
    Examples,
    FewShadows,
    Lira,
    LossThreshold,
    Shadows,
    SyntheticMembership,
    chance_rates,
    likelihood_ratios,
    membership_finding,
    shrunk_ratios,
    train_shadows,
    true_chances,
)
from mahrem.attacks.on_models._membership_finding import area_under_curve
from mahrem.errors import InvalidInput, InvalidParameter

rng = np.random.default_rng(5)
ROWS = rng.normal(size=(1200, 6))
NOISY = ((ROWS[:, 0] + rng.normal(0, 1.5, 1200)) > 0).astype(int)
MEMBERS, OTHERS = Examples(ROWS[:400], NOISY[:400]), Examples(ROWS[400:800], NOISY[400:800])
REFERENCE = Examples(ROWS[800:], NOISY[800:])


def forest(seed: int) -> Any:
    return RandomForestClassifier(20, random_state=seed)


@pytest.fixture(scope="module")
def memory() -> Any:
    return forest(99).fit(MEMBERS.inputs, MEMBERS.labels)


scores = st.lists(st.integers(0, 8).map(float), min_size=20, max_size=60).map(np.array)


@given(members=scores, others=scores)
@settings(max_examples=50, deadline=None)
def test_the_area_is_the_share_of_pairs_in_order(members: Any, others: Any) -> None:
    pairs = (members[:, None] > others) + 0.5 * (members[:, None] == others)
    area, error = area_under_curve(np.sort(members), np.sort(others))
    assert area == pytest.approx(pairs.mean())
    assert error > 0


@given(members=scores, others=scores)
@settings(max_examples=50, deadline=None)
def test_no_more_of_the_others_pass_than_false_alarms_are_allowed(members: Any, others: Any) -> None:
    found = membership_finding("any", members, others, meaning="")
    top = others.max()  # fewer than a hundred others: none may pass
    assert found.rate == pytest.approx(np.mean(members > top))
    assert found.interval is not None
    assert found.interval[0] <= (found.rate or 0.0) <= found.interval[1]
    assert "lower bound" in str(found.details["at_0.01_note"])


@pytest.mark.parametrize(
    ("members", "others", "share"), [(1000, 1000, 0.01), (50, 70, 0.1), (300, 2000, 0.001)]
)
def test_chance_is_negative_hypergeometric(members: int, others: int, share: float) -> None:
    known = stats.nhypergeom(members + others, members, int(share * others + 1e-9) + 1)
    assert chance_rates(members, others, share) == (known.ppf(0.025) / members, known.ppf(0.975) / members)


def test_where_nothing_leaks_alarms_are_as_rare_as_said() -> None:
    # Two tests of 2.5 % each: more than 40 alarms of 500 have a chance below 1e-3 (seed fixed).
    draws = np.random.default_rng(1)
    alarms = sum(
        membership_finding("none", draws.normal(size=300), draws.normal(size=300), meaning="").alarming
        for _ in range(500)
    )
    assert alarms <= 40


def test_a_model_that_learnt_by_heart_is_caught_by_every_attack(memory: Any) -> None:
    loss = LossThreshold()(memory, MEMBERS, OTHERS)
    few = FewShadows(shadows=4)(memory, MEMBERS, OTHERS, make=forest)
    lira = Lira(shadows=8)(memory, MEMBERS, OTHERS, make=forest)
    offline = Lira(shadows=4, online=False)(memory, MEMBERS, OTHERS, make=forest, reference=REFERENCE)
    few_offline = FewShadows(online=False)(memory, MEMBERS, OTHERS, make=forest, reference=REFERENCE)
    for finding in (loss, few, lira, offline, few_offline):
        assert finding.alarming
        assert finding.area > 0.7
    assert lira.details["shadows"] == 8
    assert (lira.rate or 0.0) > (loss.rate or 0.0)  # few are found for sure: what the area does not show
    assert lira.as_dict()["alarming"]


def test_a_model_that_forgot_is_not_accused() -> None:
    model = LogisticRegression(C=1e-4).fit(MEMBERS.inputs, MEMBERS.labels)
    assert not LossThreshold()(model, MEMBERS, OTHERS).alarming


def test_others_that_were_in_the_training_table_are_refused(memory: Any) -> None:
    mixed = OTHERS.joined(MEMBERS.take(slice(0, 100)))
    with pytest.raises(InvalidInput, match="100 of its 500 rows"):
        LossThreshold()(memory, MEMBERS, mixed)
    with pytest.raises(InvalidInput, match="never saw"):
        Lira(online=False)(memory, MEMBERS, OTHERS, make=forest, reference=MEMBERS)


def test_equal_rows_of_a_small_domain_are_no_overlap() -> None:
    few = np.random.default_rng(2).integers(0, 3, (600, 2)).astype(float)
    labels = few[:, 0] > 0
    tree = DecisionTreeClassifier().fit(few[:300], labels[:300])
    found = LossThreshold()(tree, Examples(few[:300], labels[:300]), Examples(few[300:], labels[300:]))
    assert not found.alarming


def test_the_same_rows_of_a_small_domain_are_refused_in_any_order() -> None:
    few = np.repeat(np.arange(20.0), 10)[:, None]
    labels = (few[:, 0] > 9).astype(int)
    tree = DecisionTreeClassifier().fit(few, labels)
    with pytest.raises(InvalidInput, match="200 of its 200 rows"):
        LossThreshold()(tree, Examples(few, labels), Examples(few[::-1], labels[::-1]))


def test_what_cannot_be_attacked_says_why(memory: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 20"):
        LossThreshold()(memory, MEMBERS.take(slice(0, 5)), OTHERS)
    with pytest.raises(InvalidInput, match="every row needs both"):
        Examples(ROWS[:3], NOISY[:2])
    with pytest.raises(InvalidParameter, match="reference"):
        Lira(online=False)(memory, MEMBERS, OTHERS, make=forest)
    with pytest.raises(InvalidParameter, match="shadows"):
        FewShadows(shadows=1)
    with pytest.raises(InvalidInput, match="probabilities have"):
        true_chances(memory, MEMBERS, classes=(0, 1, 2))


def test_a_label_the_model_does_not_know_has_no_chance(memory: Any) -> None:
    said = true_chances(memory, Examples(ROWS[:2], np.array([7, 0])))
    assert said[0] == 0
    assert said[1] == memory.predict_proba(ROWS[1:2])[0, 0]
    with pytest.raises(InvalidInput, match="another type"):  # else every row would look alike: an all-clear
        true_chances(memory, Examples(ROWS[:2], np.array(["0", "1"])))


def test_a_shadow_that_never_met_a_rare_class_does_not_end_the_attack() -> None:
    labels = np.where(np.arange(400) == 7, 2, NOISY[:400])
    members = Examples(ROWS[:400], labels)
    model = forest(99).fit(members.inputs, members.labels)
    found = FewShadows(shadows=4, classes=(0, 1, 2))(model, members, OTHERS, make=forest)
    assert found.area > 0.6


@given(rows=st.integers(1, 30), shadows=st.integers(2, 9), share=st.floats(0.1, 0.9), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_every_row_is_in_as_many_shadows(rows: int, shadows: int, share: float, seed: int) -> None:
    class Blank:
        classes_ = (0, 1)

        def fit(self, X: Any, y: Any) -> Any:  # noqa: ARG002 - learns nothing
            return self

        def predict_proba(self, X: Any, /) -> Any:
            return np.full((len(X), 2), 0.5)

    asked = Examples(np.zeros((rows, 1)), np.zeros(rows))
    made = train_shadows(lambda _: Blank(), asked, share=share, shadows=shadows, seed=seed)
    counts = made.inside.sum(axis=0)
    assert len(set(counts.tolist())) == 1
    assert 1 <= counts[0] <= shadows - 1
    assert abs(counts[0] - share * shadows) <= 1


def test_ratios_are_those_of_two_normals() -> None:
    draws = np.random.default_rng(3)
    inside = np.arange(80)[:, None] % 2 == np.arange(5)[None, :] % 2
    said = draws.normal(size=(80, 5)) + 3 * inside
    mine = draws.normal(size=5)
    found = likelihood_ratios(mine, Shadows(confidences=said, inside=inside))
    for place in range(5):
        a, b = said[inside[:, place], place], said[~inside[:, place], place]
        slow = stats.norm.logpdf(mine[place], a.mean(), a.std()) - stats.norm.logpdf(
            mine[place], b.mean(), b.std()
        )
        assert found[place] == pytest.approx(slow)


def test_with_few_shadows_rows_help_each_other() -> None:
    # Rows with their own level and gain, two shadows on a side: shrinking must beat plain fits (seed fixed).
    draws = np.random.default_rng(4)
    count = 4000
    level, gain = draws.normal(0, 3, count), draws.gamma(2.0, 0.5, count)
    spread = np.sqrt(1 / draws.gamma(4.0, 1 / 4.0, count))
    inside = np.array([[True], [True], [False], [False]]) & np.ones((4, count), dtype=bool)
    shadows = Shadows(
        confidences=level + gain * inside + spread * draws.normal(size=(4, count)), inside=inside
    )
    member = np.arange(count) < count // 2
    said = level + gain * member + spread * draws.normal(size=count)
    plain, shrunk = likelihood_ratios(said, shadows), shrunk_ratios(said, shadows)
    areas = [area_under_curve(np.sort(one[member]), np.sort(one[~member]))[0] for one in (plain, shrunk)]
    assert areas[1] > areas[0] + 0.01


def test_made_up_rows_that_copy_are_caught_and_fresh_ones_are_not() -> None:
    draws = np.random.default_rng(6)
    inside, outside, reference, fresh = draws.normal(size=(4, 300, 4))
    copies = inside + draws.normal(0, 0.05, inside.shape)
    assert SyntheticMembership()(copies, inside, outside).rate == pytest.approx(1.0, abs=0.1)
    density = SyntheticMembership(how="density")
    assert density(copies, inside, outside, reference=reference).alarming
    assert not SyntheticMembership()(fresh, inside, outside).alarming
    with pytest.raises(InvalidInput, match="reference"):
        density(copies, inside, outside)
    with pytest.raises(InvalidInput, match="never saw"):
        SyntheticMembership()(copies, inside, inside[:100])
    with pytest.raises(InvalidInput, match="no rows"):
        SyntheticMembership()(copies[:0], inside, outside)
