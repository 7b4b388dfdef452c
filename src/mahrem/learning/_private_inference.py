"""Privacy at inference: noisy votes of models trained on disjoint parts, or rounded, rate-limited scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mahrem import check
from mahrem.dp import (
    GlobalSensitivity,
    Ledger,
    PermuteAndFlip,
    Pure,
    Repeated,
    laplace_integers,
)
from mahrem.errors import BudgetExceeded, InvalidInput, InvalidParameter
from mahrem.learning._secret_stream import new_stream
from mahrem.types import Floats, Integers

__all__ = ["PrivateVotes", "RoundedScores", "count_classes", "train_parts"]

GRID = 1000  # steps of a probability before noise
PARTS = 2  # at least


class Predicts(Protocol):
    """A fitted classifier."""

    def predict(self, X: Any, /) -> Any:
        """Give the class of each row."""
        ...


def count_classes(classes: Sequence[Any]) -> int:
    """Count declared classes as votes are compared, where 1 and "1" are one.

    Raises:
        InvalidParameter: If there are fewer than two, or two are equal: one vote would count twice.
    """
    told_apart = len(set(np.asarray(classes).tolist()))
    if told_apart < PARTS:
        raise InvalidParameter(f"classes={told_apart}: at least {PARTS} must be declared")
    if told_apart < len(classes):
        raise InvalidParameter(
            f"classes={len(classes)}, of which {told_apart} differ: one vote would count twice, so declare "
            f"each class once, all of one type"
        )
    return told_apart


def train_parts(
    make: Callable[[], Any],
    X: Any,
    y: Any,
    *,
    parts: int,
    classes: Sequence[Any],
    units: Integers | None = None,
) -> list[Predicts]:
    """Train one model on each of ``parts`` disjoint parts; each row lands in one of them, by a secret draw.

    Args:
        make: Makes an untrained classifier with ``fit`` and ``predict``.
        X: ``(n, d)`` rows.
        y: ``(n,)`` labels.
        parts: How many models.
        classes: The declared classes; a part with fewer than two of them becomes a model that always says the
            same, so that no part is seen to be empty.
        units: ``(n,)`` whose row it is: all rows of a person land in one part. None: each row is its own.
    """
    rows, labels = np.asarray(X), np.asarray(y)
    if check.whole(parts=parts) < PARTS or len(rows) != len(labels):
        raise InvalidParameter(f"parts={parts} must be at least {PARTS}, and X as long as y")
    numbers = np.arange(len(rows)) if units is None else np.unique(units, return_inverse=True)[1]
    places = new_stream().places(0, int(numbers.max(initial=-1)) + 1, parts)[numbers]
    found: list[Predicts] = []
    for part in range(parts):
        mine = (places == part) & np.isin(labels, list(classes))
        seen = np.unique(labels[mine])
        if len(seen) < PARTS:
            found.append(_Always(seen[0] if len(seen) else classes[0]))
        else:
            found.append(make().fit(rows[mine], labels[mine]))
    return found


@dataclass(frozen=True)
class _Always:
    label: Any

    def predict(self, X: Any, /) -> Any:
        return np.full(len(X), self.label)


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
        check.above_zero(epsilon=self.epsilon)
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
        votes = np.zeros((count, len(self.classes)), dtype=np.int64)
        for member in self.members:
            said = np.asarray(member.predict(X))
            votes += said[:, None] == np.asarray(self.classes)[None, :]
        return np.asarray(self.classes)[[select(row) for row in votes.tolist()]]

    def predict_scores(self, X: Any) -> Floats:
        """Give noisy mean probabilities of each class, in thousandths; pays ``epsilon`` for each row first.

        Members need ``predict_proba`` with columns in the order of ``classes``. What one member says is
        scaled to a sum of at most one, so a record moves the sums by at most two members' worth.
        """
        count = len(X)
        reach = GlobalSensitivity(
            relation=self.ledger.relation, l1=2 * GRID, l2_squared=2 * GRID**2, linf=GRID, single=False
        )
        noise = laplace_integers(reach, epsilon=self.epsilon)
        self._pay(count, "scores")
        sums = np.zeros((count, len(self.classes)))
        for member in self.members:
            sums += _shares(member, X, len(self.classes))
        noisy = [noise([int(value) for value in row]) for row in sums]
        return np.clip(np.round(np.array(noisy) / (GRID * len(self.members)), 3), 0.0, 1.0)

    def _pay(self, count: int, what: str) -> None:
        if count:
            self.ledger.spend(Repeated(Pure(self.epsilon), count), what=f"{what}: {count} answers")


def _shares(member: Any, X: Any, classes: int) -> Floats:
    said = np.asarray(member.predict_proba(X), dtype=np.float64)
    if said.shape != (len(X), classes):
        raise InvalidInput(f"a member's probabilities have {said.shape}, not {(len(X), classes)}")
    clean = np.clip(np.nan_to_num(said, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    whole = np.floor(clean / np.maximum(clean.sum(axis=1, keepdims=True), 1.0) * GRID)
    return np.asarray(whole, dtype=np.float64)


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
        said = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        return np.asarray(np.round(said, self.decimals), dtype=np.float64)
