"""PATE: what it costs, what it refuses, and that a record moves one vote."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mahrem.dp import Ledger, Relation, assert_dp
from mahrem.dp.accounting import DiscreteGaussian, Repeated, epsilon_of
from mahrem.errors import BudgetExceeded, Infeasible, InvalidInput, InvalidParameter
from mahrem.learning.votes import (
    ConfidentVotes,
    GaussianVotes,
    LaplaceVotes,
    NoisyVotes,
    Pate,
    count_votes,
    train_parts,
)

rng = np.random.default_rng(11)
ROWS = rng.normal(size=(1500, 3))
LABELS = np.where(ROWS[:, 0] + 0.1 * rng.normal(size=1500) > 0, "yes", "no")
PUBLIC = rng.normal(size=(400, 3))
TRUTH = np.where(PUBLIC[:, 0] > 0, "yes", "no")
VOTES = [
    LaplaceVotes(20.0),
    GaussianVotes(15.0),
    ConfidentVotes(sigma=15.0, threshold=60.0, threshold_sigma=20.0, answers=60),
]


def book(**said: Any) -> Ledger:
    return Ledger.temporary(**{"epsilon": 20.0, "delta": 1e-5, "rows": 1500, **said})


def pate(**said: Any) -> Pate:
    settings = {
        "teacher": GaussianNB,
        "student": GaussianNB,
        "classes": ("no", "yes"),
        "teachers": 100,
        "votes": GaussianVotes(15.0),
        "questions": 80,
    }
    return Pate(**settings | said)


@pytest.mark.parametrize("votes", VOTES, ids=lambda one: type(one).__name__)
def test_a_student_learns_and_the_ledger_pays_what_was_said(votes: NoisyVotes) -> None:
    ledger = book()
    model = pate(votes=votes).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    assert model.score(PUBLIC, TRUTH, openly=True) > 0.8  # 0.86 or less comes once in 10,000 runs
    assert ledger.spent().epsilon == pytest.approx(model.cost_[0], rel=1e-6)
    assert model.cost_[0] <= epsilon_of(votes.event(80), 1e-5, Relation.ADD_REMOVE)
    assert "data-independent" in model.guarantee_
    assert model.predict_proba(PUBLIC).shape == (400, 2)
    assert 0 < model.answered_ <= 80


@pytest.mark.parametrize("votes", VOTES, ids=lambda one: type(one).__name__)
def test_one_record_moves_one_vote_of_each_question(votes: NoisyVotes) -> None:
    def pipeline(changed: int) -> Any:
        counts = np.array([[70 - changed, 30 + changed, 0]] * 4)
        ledger = book()
        ledger.spend(votes.event(4), what="votes", delta=1e-5)
        return votes(counts, ledger.relation).tolist()

    evidence = assert_dp(pipeline, 0, 1)
    assert max(evidence.moved) <= 2


def test_two_records_would_be_seen() -> None:
    def pipeline(changed: int) -> Any:
        ledger = book()
        ledger.spend(GaussianVotes(15.0).event(1), what="votes", delta=1e-5)
        return GaussianVotes(15.0)(np.array([[70 - changed, 30 + changed]]), ledger.relation).tolist()

    with pytest.raises(AssertionError):
        assert_dp(pipeline, 0, 2)


@given(epsilon=st.floats(0.5, 4), questions=st.integers(1, 100))
@settings(max_examples=4, deadline=None)
def test_the_least_noise_for_a_promise_keeps_it_and_is_not_far_from_breaking_it(
    epsilon: float, questions: int
) -> None:
    votes = GaussianVotes.for_epsilon(epsilon, delta=1e-5, questions=questions)
    assert epsilon_of(votes.event(questions), 1e-5, Relation.ADD_REMOVE) <= epsilon
    less = Repeated(DiscreteGaussian(0.97 * votes.sigma, 1), 2 * questions)
    assert epsilon_of(less, 1e-5, Relation.ADD_REMOVE) > epsilon


def test_unclear_votes_are_passed_over_and_answers_end_where_they_were_paid() -> None:
    votes = ConfidentVotes(sigma=1.0, threshold=500.0, threshold_sigma=5.0, answers=3)
    counts = np.array([[1000, 0], [520, 480], [0, 1000], [1000, 0], [1000, 0], [500 - 400, 100]])
    found = votes(counts, Relation.ADD_REMOVE)
    assert found[0] == 0
    assert found[5] == -1  # 100 votes pass 500 with a chance below 1e-300
    assert np.count_nonzero(found >= 0) == 3


def test_what_cannot_work_is_refused_and_nothing_is_spent() -> None:
    ledger = book()
    with pytest.raises(InvalidParameter, match="as many as classes"):
        pate(teachers=3, classes=("a", "b", "c", "d"))
    with pytest.raises(InvalidInput, match=r"shape \(2,\), those of X \(3,\)"):
        pate().fit(ROWS, LABELS, public=PUBLIC[:, :2], ledger=ledger)
    with pytest.raises(InvalidParameter, match="needs public rows"):
        pate().fit(ROWS, LABELS, ledger=ledger)
    with pytest.raises(InvalidParameter, match="needs public rows"):
        pate().fit(ROWS, LABELS, public=PUBLIC[:0], ledger=ledger)
    with pytest.raises(InvalidParameter, match="questions=401"):
        pate(questions=401).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    with pytest.raises(InvalidInput, match="one label"):
        pate().fit(ROWS, LABELS[:5], public=PUBLIC, ledger=ledger)
    with pytest.raises(InvalidParameter, match="units"):
        pate().fit(ROWS, LABELS, public=PUBLIC, ledger=ledger, units=np.arange(1500))
    with pytest.raises(InvalidParameter, match="predict_proba"):
        pate(student=LinearSVC, semi=1).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    with pytest.raises(InvalidParameter, match="sigma"):
        GaussianVotes(0.0)
    with pytest.raises(InvalidParameter, match="not fitted"):
        pate().predict(PUBLIC)
    assert ledger.spent().epsilon == 0


def test_units_of_another_length_are_refused_and_nothing_is_spent() -> None:
    ledger = book(subject="who", rows_per_person=2)
    with pytest.raises(InvalidInput, match="units=7"):
        pate().fit(ROWS, LABELS, public=PUBLIC, ledger=ledger, units=np.arange(7))
    assert ledger.spent().epsilon == 0


@pytest.mark.parametrize("classes", [("no", "no", "yes"), (1, "1", 2), (0, 0.0, 1)])
def test_a_class_that_is_declared_twice_would_count_a_vote_twice(classes: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidParameter, match="count twice"):
        pate(classes=classes)


def test_no_teacher_is_trained_on_credit() -> None:
    seen: list[Any] = []

    class Notes(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            seen.append(X)
            return super().fit(X, y)

    ledger = book(epsilon=0.1)
    with pytest.raises(BudgetExceeded):
        pate(teacher=Notes).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    assert ledger.spent().epsilon == 0
    (rehearsed,) = seen
    assert (rehearsed[:, None] == PUBLIC[None]).all(axis=2).any(axis=1).all()  # public rows only


def test_a_recipe_that_fails_is_told_before_anything_is_paid() -> None:
    class Broken(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            raise RuntimeError(f"no such kernel for {len(X)} rows, {len(y)} labels")

    ledger = book()
    with pytest.raises(InvalidParameter, match="no such kernel"):
        pate(teacher=Broken).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    assert ledger.spent().epsilon == 0


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e300])
@pytest.mark.filterwarnings("error")
def test_one_record_cannot_stop_the_vote(odd: float) -> None:
    class Picky(DecisionTreeClassifier):  # type: ignore[misc]
        """Fails where it is trained on what it does not like, or asked after too few rows."""

        def fit(self, X: Any, y: Any) -> Any:
            warnings.warn(f"trained on {len(X)} rows", stacklevel=1)
            if np.abs(X).max() > 1e100:
                raise ValueError(f"row {np.abs(X).max(axis=1).argmax()} is too large")
            self.few_ = len(X) < 10
            return super().fit(X, y)

        def predict(self, X: Any) -> Any:
            if self.few_:
                raise ValueError("too few neighbours")
            return super().predict(X)

    rows = ROWS.copy()
    rows[0] = odd
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "trained on 40 rows")  # the rehearsal, on public rows
        model = pate(teacher=Picky).fit(rows, LABELS, public=PUBLIC, ledger=book())
    assert model.score(PUBLIC, TRUTH, openly=True) > 0.8
    few = train_parts(Picky, rows[:30], LABELS[:30], parts=5, classes=("no", "yes"))
    assert count_votes(few, PUBLIC[:3], ("no", "yes")).max() <= 5


def test_answers_of_one_class_make_no_student() -> None:
    with pytest.raises(Infeasible, match="fewer than two classes"):
        pate(questions=1).fit(ROWS, LABELS, public=PUBLIC, ledger=book())


def test_all_rows_of_a_person_teach_one_teacher() -> None:
    seen: list[set[int]] = []

    class Notes(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            seen.append(set(X[:, 0].astype(int).tolist()))
            return super().fit(X, y)

    people = np.repeat(np.arange(60), 5)
    rows = np.stack([people, np.arange(300)], axis=1).astype(float)
    labels = np.arange(300) % 2
    train_parts(Notes, rows, labels, parts=6, classes=(0, 1), units=people)
    assert sum(len(one) for one in seen) == len(set().union(*seen))


def test_the_students_own_labels_help_it() -> None:
    ledger = book()
    model = pate(semi=2, sure=0.8).fit(ROWS, LABELS, public=PUBLIC, ledger=ledger)
    assert model.score(PUBLIC, TRUTH, openly=True) > 0.85
    assert model.cost_[0] == pytest.approx(
        pate().fit(ROWS, LABELS, public=PUBLIC, ledger=book()).cost_[0]
    )  # more rows cost nothing


def test_votes_for_anything_undeclared_count_for_none() -> None:
    class Odd:
        def predict(self, rows: Any) -> Any:
            return np.array(["yes", "perhaps"])[: len(rows)]

    assert count_votes([Odd()] * 3, np.zeros((2, 1)), ("no", "yes")).tolist() == [[0, 3], [0, 0]]


def test_a_network_can_be_the_teacher() -> None:
    pytest.importorskip("torch")
    from mahrem.learning.private import PlainNetwork

    def network() -> Any:
        return PlainNetwork(network="logistic", classes=("no", "yes"), epochs=40, learning_rate=0.1)

    model = pate(teacher=network, student=network, teachers=30, votes=GaussianVotes(6.0))
    model.fit(ROWS, LABELS, public=PUBLIC, ledger=book())
    assert model.score(PUBLIC, TRUTH, openly=True) > 0.85
    with pytest.raises(InvalidInput, match="one of the classes"):
        network().fit(ROWS[:3], np.array(["no", "yes", "else"]))
