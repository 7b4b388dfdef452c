"""PATE: teachers on disjoint parts vote on public rows; a student learns from the noisy winners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.dp.accounting import Composed, Event, Spend, composed_cost, epsilon_of
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.learning._estimator import Estimator
from mahrem.learning.private import PaidScore
from mahrem.learning.votes._disjoint_teachers import count_classes, count_votes, rehearse, train_parts
from mahrem.learning.votes._noisy_votes import GaussianVotes, NoisyVotes
from mahrem.learning.votes._vote_costs import PublishedCost, SanitisedCost
from mahrem.types import Integers

Make = Callable[[], Any]


@dataclass(kw_only=True)
class Pate(PaidScore, Estimator):
    """A student taught by a private vote of teachers.

    A record is in the part of one teacher, so it moves one vote of each question. The cost is the one that
    holds whatever the votes are (data-independent). A cost that depends on how clear votes were is itself
    private: it is given only after noise, beside the promise and not instead of it (``sanitise``).

    Args:
        teacher: Makes an untrained classifier with ``fit`` and ``predict``: scikit-learn's, or
            :class:`~mahrem.learning.private.PlainNetwork`.
        student: The same for the student; with ``semi`` it also needs ``predict_proba``.
        classes: The declared classes; never read off the data.
        teachers: How many; each sees its own part of the rows.
        votes: How votes become answers: :class:`LaplaceVotes`, :class:`GaussianVotes`,
            :class:`ConfidentVotes`.
        questions: So many public rows are asked about, the first ones; all by default.
        semi: Rounds in which the student adds public rows that it is sure of, with its own labels (0: none).
        sure: How sure it must be of a row to add it.
        sanitise: Also publish the data-dependent cost of :class:`GaussianVotes`, with noise that is paid for.
        ledger: Pays, where ``fit`` names none.

    Attributes:
        model_: The trained student.
        answered_: How many questions were answered.
        cost_: What it cost: epsilon and delta.
        guarantee_: The promise in words.
        data_dependent_: The cost for these votes after noise, or None; no promise.

    Guarantees:
        - The student is ``(epsilon, delta)``-DP for the private rows, with the epsilon of ``cost_``; teachers
          are never kept.
        - Everything is paid for before a teacher is trained; what does not fit is refused.
        - A record that a teacher cannot be trained on, or asked after, costs that teacher's vote and is not
          seen outside: the recipe is rehearsed on public rows, before anything is paid.
        - Public rows are not protected.

    References:
        Papernot et al.: Semi-supervised knowledge transfer for deep learning from private training data,
        2017; Scalable private learning with PATE, 2018.

    Example:
        >>> from sklearn.linear_model import LogisticRegression
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(2000, 2))
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=1000)
        >>> pate = Pate(
        ...     teacher=LogisticRegression, student=LogisticRegression, classes=(0, 1), teachers=50,
        ...     votes=GaussianVotes(30.0), questions=50,
        ... )
        >>> labels = (X[:, 0] > 0).astype(int)
        >>> _ = pate.fit(X[:1000], labels[:1000], public=X[1000:], ledger=ledger)
        >>> pate.cost_[0] < 2, pate.answered_
        (True, 50)
    """

    teacher: Make
    student: Make
    classes: Sequence[Any]
    teachers: int = 100
    votes: NoisyVotes = field(default_factory=lambda: GaussianVotes(40.0))
    questions: int | None = None
    semi: int = 0
    sure: float = 0.95
    sanitise: SanitisedCost | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)

    _estimator_type = "classifier"

    def __post_init__(self) -> None:
        class_count = count_classes(self.classes)
        if check.whole(teachers=self.teachers) < class_count:
            raise InvalidParameter(
                f"teachers={self.teachers} must be at least as many as classes, {class_count}: a vote of "
                f"fewer says nothing"
            )
        check.at_least(0, semi=check.whole(semi=self.semi))
        check.between(0, 1, sure=self.sure)
        if self.sanitise is not None and not isinstance(self.votes, GaussianVotes):
            raise InvalidParameter(
                f"sanitise: the data-dependent cost is known for GaussianVotes, not for "
                f"{type(self.votes).__name__}; leave it out, the promise does not need it"
            )

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        public: Any = None,
        ledger: Ledger | str | Path | None = None,
        units: Integers | None = None,
    ) -> Self:
        """Pay for every question, train the teachers, ask them, train the student.

        Args:
            X: ``(n, ...)`` private rows, scaled by public constants.
            y: ``(n,)`` private labels.
            public: ``(m, ...)`` public rows without labels; they are not protected.
            ledger: Pays; what does not fit is refused and nothing is computed.
            units: ``(n,)`` whose row it is, where the ledger protects people.

        Raises:
            BudgetExceeded: If it does not fit.
            Infeasible: If the answers hold one class only, so that no student can be trained.
        """
        book = Ledger.paying(self.ledger, ledger)
        rows = self._public(public)
        self._refuse(X, y, rows, units, book.unit.subject)
        rehearse(self.teacher, rows, self.classes)
        asked = rows[: self.questions]
        event = self._event(len(asked))
        what = f"pate: {len(asked)} questions to {self.teachers} teachers"
        paid = book.spend(event, what=what, delta=book.delta)
        fitted = train_parts(self.teacher, X, y, parts=self.teachers, classes=self.classes, units=units)
        votes = count_votes(fitted, asked, self.classes)
        codes = self.votes(votes, book.relation)
        self.data_dependent_ = self._published(votes, book)
        self._learn(rows, asked[codes >= 0], np.asarray(self.classes)[codes[codes >= 0]])
        self.answered_ = int(np.count_nonzero(codes >= 0))
        alone = Spend(event, paid.body["epsilon"], paid.body["delta"])
        self.cost_ = (composed_cost([alone], book.delta, book.relation).epsilon, book.delta)
        self.guarantee_ = (
            f"(epsilon={self.cost_[0]:.4g}, delta={self.cost_[1]:g})-differentially private for the private "
            f"rows, whatever the votes were (data-independent): {len(asked)} questions to {self.teachers} "
            f"teachers on disjoint parts. Public rows are not protected. Exact noise on whole votes (OpenDP)."
        )
        if self.data_dependent_ is not None:
            cost = self.data_dependent_
            self.guarantee_ += (
                f" Data-dependent, and no promise: at this table the answers alone reveal epsilon="
                f"{cost.epsilon:.4g} at most ({cost.confidence:.0%} sure); publishing that is paid for above."
            )
        return self

    def predict(self, X: Any) -> Any:
        """Give the student's answers; costs nothing."""
        return self._student().predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Give the student's probabilities; costs nothing."""
        return self._student().predict_proba(X)

    def _open_score(self, X: Any, y: Any) -> float:
        return float(np.mean(np.asarray(self.predict(X)) == np.asarray(y)))

    def _refuse(self, X: Any, y: Any, rows: Any, units: Integers | None, subject: str | None) -> None:
        """Refuse what does not fit together; nobody pays for it."""
        if len(X) != len(y):
            raise InvalidInput(f"X={len(X)} rows, y={len(y)}: every row needs one label")
        if np.shape(X)[1:] != rows.shape[1:]:
            raise InvalidInput(
                f"public: its rows have shape {rows.shape[1:]}, those of X {np.shape(X)[1:]}; both are asked "
                f"about in the same way"
            )
        if (subject is None) != (units is None):
            raise InvalidParameter(
                f"units: must be given exactly where the ledger protects people (subject={subject!r})"
            )
        if units is not None and len(units) != len(X):
            raise InvalidInput(f"units={len(units)}, X={len(X)} rows: every row needs one")
        if self.semi and not hasattr(self.student(), "predict_proba"):
            raise InvalidParameter(
                f"semi={self.semi}: the student must say how sure it is (predict_proba); take another, "
                f"or semi=0"
            )

    def _event(self, questions: int) -> Event:
        event = self.votes.event(questions)
        return event if self.sanitise is None else Composed((event, self.sanitise.event))

    def _published(self, votes: Integers, book: Ledger) -> PublishedCost | None:
        if self.sanitise is None or not isinstance(self.votes, GaussianVotes):
            return None
        cost = self.sanitise(votes, self.votes.sigma, book.relation, book.delta)
        known = epsilon_of(
            self.votes.event(len(votes)), book.delta, book.relation
        )  # never more than promised
        return replace(cost, epsilon=min(cost.epsilon, known))

    def _public(self, public: Any) -> Any:
        if public is None or len(public) == 0:
            raise InvalidParameter(
                "public=None: the student needs public rows without labels to ask the teachers about; "
                "there is no PATE without them"
            )
        if self.questions is not None and not 1 <= check.whole(questions=self.questions) <= len(public):
            raise InvalidParameter(
                f"questions={self.questions} must lie between 1 and the public rows, {len(public)}"
            )
        return np.asarray(public)

    def _learn(self, rows: Any, known: Any, labels: Any) -> None:
        if len(set(labels.tolist())) < 2:
            raise Infeasible(
                f"answers={len(labels)} hold fewer than two classes, so no student can be trained; ask more, "
                f"or with less noise",
                reached=float(len(labels)),
            )
        self.model_ = self.student().fit(known, labels)
        for _ in range(self.semi):
            chances = np.asarray(self.model_.predict_proba(rows))
            sure = chances.max(axis=1) >= self.sure
            own = np.asarray(self.model_.predict(rows))[sure]
            self.model_ = self.student().fit(
                np.concatenate([known, rows[sure]]), np.concatenate([labels, own])
            )
        self.classes_ = tuple(getattr(self.model_, "classes_", self.classes))

    def _student(self) -> Any:
        self.refuse_unfitted("model_")
        return self.model_
