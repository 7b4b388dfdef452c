"""Answers with noisy votes, noisy scores, and scores that are only rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mahrem.dp import Ledger, assert_dp
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.votes import PrivateVotes, RoundedScores, train_parts
from mahrem.types import Floats


class Says:
    def __init__(self, label: str, shares: tuple[float, ...] = (0.25, 0.75)) -> None:
        self.label, self.shares = label, shares

    def predict(self, rows: Any, /) -> Any:
        return np.full(len(rows), self.label)

    def predict_proba(self, rows: Any, /) -> Floats:
        return np.tile(self.shares, (len(rows), 1))


class Mean:
    def fit(self, rows: Any, labels: Any) -> Mean:
        self.high = rows[labels == "yes"].mean() > rows[labels == "no"].mean()
        return self

    def predict(self, rows: Any, /) -> Any:
        return np.where((np.asarray(rows)[:, 0] > 0) == self.high, "yes", "no")


CLASSES = ("no", "yes")


def test_one_record_moves_one_vote() -> None:
    def pipeline(changed: int) -> Any:
        members = [*[Says("yes")] * (20 - changed), *[Says("no")] * changed]
        votes = PrivateVotes(
            members=members, classes=CLASSES, epsilon=0.3, ledger=Ledger.temporary(epsilon=2)
        )
        return votes.predict([[0]] * 3).tolist(), votes.predict_scores([[0]])

    evidence = assert_dp(pipeline, 0, 1)
    assert evidence.epsilon() == pytest.approx(4 * 0.3)


def test_every_answer_is_paid_for_and_then_there_are_none() -> None:
    ledger = Ledger.temporary(epsilon=1)
    votes = PrivateVotes(members=[Says("yes")] * 300, classes=CLASSES, epsilon=0.25, ledger=ledger)
    assert votes.predict([[0]] * 3).tolist() == ["yes"] * 3  # wrong with probability e**-37
    assert ledger.spent().epsilon == pytest.approx(0.75)
    with pytest.raises(BudgetExceeded):
        votes.predict([[0]] * 2)
    assert ledger.spent().epsilon == pytest.approx(0.75)
    assert len(votes.predict([])) == 0


def test_noisy_scores_lie_near_the_mean() -> None:
    ledger = Ledger.temporary(epsilon=2)
    votes = PrivateVotes(members=[Says("yes")] * 1000, classes=CLASSES, epsilon=1.0, ledger=ledger)
    scores = votes.predict_scores([[0]])
    assert scores == pytest.approx(np.array([[0.25, 0.75]]), abs=0.05)  # missed with probability e**-25
    assert np.array_equal(scores, scores.round(3))


def test_wild_scores_of_a_member_are_bounded() -> None:
    wild = [Says("yes", (np.nan, np.inf)), Says("yes", (-5.0, 90.0))]
    votes = PrivateVotes(members=wild, classes=CLASSES, epsilon=1.0, ledger=Ledger.temporary(epsilon=1))
    assert np.isfinite(votes.predict_scores([[0]])).all()


def test_a_member_that_fails_or_lacks_a_class_is_not_seen() -> None:
    class Fails(Says):
        def predict(self, rows: Any, /) -> Any:
            raise ValueError(f"n_samples_fit = 6, asked {len(rows)}")

        predict_proba = predict

    one_class = Says("yes", (1.0,))
    one_class.classes_ = np.array(["yes"])  # type: ignore[attr-defined]
    members = [*[one_class] * 400, *[Fails("no"), Says("no", (1.0,))] * 50]
    ledger = Ledger.temporary(epsilon=2)
    votes = PrivateVotes(members=members, classes=CLASSES, epsilon=1.0, ledger=ledger)
    assert votes.predict([[0]]).tolist() == ["yes"]
    assert votes.predict_scores([[0]]) == pytest.approx(np.array([[0.0, 0.8]]), abs=0.06)


def test_members_without_scores_are_refused_before_the_ledger_pays() -> None:
    ledger = Ledger.temporary(epsilon=1)
    votes = PrivateVotes(members=[Mean(), Mean()], classes=CLASSES, epsilon=1.0, ledger=ledger)
    with pytest.raises(InvalidParameter, match="predict_proba"):
        votes.predict_scores([[0]])
    assert ledger.spent().epsilon == 0


def test_parts_are_disjoint_and_none_is_seen_to_be_empty() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 1))
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    members = train_parts(Mean, rows, labels, parts=10, classes=CLASSES)
    votes = PrivateVotes(members=members, classes=CLASSES, epsilon=4.0, ledger=Ledger.temporary(epsilon=20))
    assert votes.predict([[2.0], [-2.0]]).tolist() == ["yes", "no"]
    few = train_parts(Mean, rows[:1], labels[:1], parts=5, classes=CLASSES)
    assert [len(member.predict([[0], [0]])) for member in few] == [2] * 5
    with pytest.raises(InvalidParameter, match="parts"):
        train_parts(Mean, rows, labels, parts=1, classes=CLASSES)


def test_settings_that_promise_nothing_are_refused() -> None:
    ledger = Ledger.temporary(epsilon=1)
    with pytest.raises(InvalidParameter, match="epsilon"):
        PrivateVotes(members=[Says("yes")] * 2, classes=CLASSES, epsilon=0, ledger=ledger)
    with pytest.raises(InvalidParameter, match="at least 2"):
        PrivateVotes(members=[Says("yes")], classes=CLASSES, epsilon=1, ledger=ledger)
    with pytest.raises(InvalidParameter, match="count twice"):
        PrivateVotes(members=[Says("yes")] * 2, classes=("yes", "yes", "no"), epsilon=1, ledger=ledger)


def test_rounded_scores_end_at_their_limit_and_say_that_they_are_not_private() -> None:
    scores = RoundedScores(model=Says("yes", (0.333, 0.667)), limit=3, decimals=1)
    assert scores.predict_proba([[0]] * 2).tolist() == [[0.3, 0.7]] * 2
    with pytest.raises(BudgetExceeded, match="2 rows were answered"):
        scores.predict_proba([[0]] * 2)
    assert scores.answered == 2
    assert scores.guarantee.startswith("No differential privacy")


def test_rounded_scores_of_a_private_model_pass_its_promise_on() -> None:
    model = Says("yes")
    model.guarantee_ = "(1, 0)-differentially private."  # type: ignore[attr-defined]
    assert "(1, 0)-differentially private." in RoundedScores(model=model, limit=1).guarantee


def test_a_vote_under_a_ledger_of_people_must_say_that_nobody_is_in_two_parts() -> None:
    people = Ledger.temporary(epsilon=1, subject="who", rows_per_person=3)
    members = [Says("yes")] * 3
    with pytest.raises(InvalidParameter, match="person"):
        PrivateVotes(members=members, classes=CLASSES, epsilon=1, ledger=people)
    PrivateVotes(members=members, classes=CLASSES, epsilon=1, ledger=people, whole_people=True)
