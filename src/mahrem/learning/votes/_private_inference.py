"""Privacy at inference: noisy votes of models trained on disjoint parts, or rounded, rate-limited scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.dp.accounting import Pure, Repeated
from mahrem.dp.noise import GlobalSensitivity, PermuteAndFlip, laplace_integers
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.votes._disjoint_teachers import PARTS, Predicts, count_classes, count_votes, shares_of
from mahrem.types import Floats

GRID = 1000  # steps of a probability before noise


@dataclass(frozen=True, kw_only=True)
class PrivateVotes:
    """Answers with the noisy winner of a vote; the models themselves are never shown.

    A record is in one part, so it moves at most one vote from one class to another, whatever the models are
    and however they were trained.

    Args:
        members: Models trained on disjoint parts (:func:`train_parts`).
        classes: The declared classes; a vote for anything else counts for none.
        epsilon: What one answer costs.
        ledger: Pays for every answer before it is computed.
        whole_people: Whether all rows of a person are in one part (``units`` of :func:`train_parts`); must be
            said where the ledger protects people, since a person in several parts moves several votes.

    Guarantees:
        - Each answer is ``epsilon``-DP for the training records, by permute-and-flip on the votes; the cost
          does not depend on how clear the vote was.
        - A member that fails has no vote; nobody sees that it did.
        - When the ledger is empty, ``BudgetExceeded`` is raised and nothing is computed.

    References:
        Papernot et al.: Semi-supervised knowledge transfer for deep learning from private training data, 2017
        (there with Laplace noise); McKenna, Sheldon, 2020.

    Example:
        >>> class Yes:
        ...     def predict(self, X):
        ...         return ["yes"] * len(X)
        >>> votes = PrivateVotes(
        ...     members=[Yes()] * 200, classes=("no", "yes"), epsilon=0.5, ledger=Ledger.temporary(epsilon=1)
        ... )
        >>> votes.predict([[1], [2]]).tolist()
        ['yes', 'yes']
    """

    members: Sequence[Predicts] = field(repr=False)
    classes: Sequence[Any]
    epsilon: float
    ledger: Ledger
    whole_people: bool = False

    def __post_init__(self) -> None:
        check.promised(epsilon=self.epsilon)
        if self.ledger.unit.subject is not None and not self.whole_people:
            raise InvalidParameter(
                f"ledger: its unit is a person (subject={self.ledger.unit.subject!r}); train_parts must put "
                f"all rows of a person into one part (units=...), and whole_people=True says that it did"
            )
        count_classes(self.classes)
        if len(self.members) < PARTS:
            raise InvalidParameter(
                f"members={len(self.members)}: at least {PARTS}, each with rows of its own"
            )

    @property
    def guarantee(self) -> str:
        """The promise in words."""
        return (
            f"({self.epsilon:g}, 0)-differentially private for each answer, for the records that "
            f"{len(self.members)} models were trained on in disjoint parts; answers add up in the ledger. "
            f"The questions themselves are not protected. Exact noise on whole votes (OpenDP)."
        )

    def predict(self, X: Any) -> Any:
        """Answer for each row; pays ``epsilon`` for each of them first."""
        count = len(X)
        if count == 0:
            return np.asarray(self.classes)[:0]
        reach = GlobalSensitivity(relation=self.ledger.relation, l1=1, l2_squared=2, linf=1, single=False)
        select = PermuteAndFlip(epsilon=self.epsilon, sensitivity=reach)
        self._pay(count, "votes")
        votes = count_votes(self.members, X, self.classes)
        return np.asarray(self.classes)[[select(row) for row in votes.tolist()]]

    def predict_scores(self, X: Any) -> Floats:
        """Give noisy mean probabilities of each class, in thousandths; pays ``epsilon`` for each row first.

        Members need ``predict_proba`` with columns as in their ``classes_``, else in the order of
        ``classes``. What one member says adds up to one at most, so a record moves the sums by at most two
        members' worth.
        """
        count = len(X)
        if not any(hasattr(member, "predict_proba") for member in self.members):
            raise InvalidParameter("members: none has predict_proba; ask predict, or train others")
        reach = GlobalSensitivity(
            relation=self.ledger.relation, l1=2 * GRID, l2_squared=2 * GRID**2, linf=GRID, single=False
        )
        noise = laplace_integers(reach, epsilon=self.epsilon)
        self._pay(count, "scores")
        sums = np.zeros((count, len(self.classes)))
        for member in self.members:
            sums += np.floor(GRID * shares_of(member, X, self.classes))
        noisy = [noise([int(value) for value in row]) for row in sums]
        return np.clip(np.round(np.array(noisy) / (GRID * len(self.members)), 3), 0.0, 1.0)

    def _pay(self, count: int, what: str) -> None:
        if count:
            self.ledger.spend(Repeated(Pure(self.epsilon), count), what=f"{what}: {count} answers")


@dataclass(kw_only=True)
class RoundedScores:
    """Rounded scores, so many and no more: slows an attacker down, and promises no differential privacy.

    Args:
        model: Has ``predict_proba``.
        limit: So many rows are answered in all; then ``BudgetExceeded``.
        decimals: Places that are shown.

    Guarantees:
        - At most ``limit`` rows are answered, and no finer than ``decimals``.
        - Differential privacy only where the model was trained with it (it has ``guarantee_``): then answers
          follow from its release and cost nothing. Rounding alone gives none: two tables whose scores lie on
          different sides of an edge are told apart for certain.

    Example:
        >>> class Model:
        ...     def predict_proba(self, X):
        ...         return np.tile([0.123, 0.877], (len(X), 1))
        >>> RoundedScores(model=Model(), limit=2, decimals=1).predict_proba([[0]]).tolist()
        [[0.1, 0.9]]
    """

    model: Any = field(repr=False)
    limit: int
    decimals: int = 2
    answered: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check.at_least(1, limit=check.whole(limit=self.limit))
        check.at_least(0, decimals=check.whole(decimals=self.decimals))

    @property
    def guarantee(self) -> str:
        """The promise in words."""
        kept = getattr(self.model, "guarantee_", None)
        limits = f"At most {self.limit} answers, rounded to {self.decimals} places."
        if kept is None:
            return f"No differential privacy: rounding and limits alone give none. {limits}"
        return f"As the model was trained: {kept} {limits}"

    def predict_proba(self, X: Any) -> Floats:
        """Give rounded probabilities, while the limit lasts."""
        if self.answered + len(X) > self.limit:
            raise BudgetExceeded(
                f"limit={self.limit}: {self.answered} rows were answered, {len(X)} more do not fit; nothing "
                f"was computed"
            )
        self.answered += len(X)
        chances = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        return np.asarray(np.round(chances, self.decimals), dtype=np.float64)
