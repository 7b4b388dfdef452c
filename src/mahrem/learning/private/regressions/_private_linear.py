"""What private linear models share: reading bounded rows, paying first, predicting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from mahrem import check
from mahrem.dp import Ledger, Relation, open_privately
from mahrem.dp.accounting import promise_event
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning._estimator import Estimator
from mahrem.learning.private.inputs import (
    PublicRows,
    clip_rows,
    declared_features,
    given_numbers,
    given_rows,
    length_of,
    shape_of,
)
from mahrem.table import Reading
from mahrem.types import Floats, Integers


def refuse_people(book: Ledger) -> None:
    """Refuse a ledger whose unit is a person with several rows."""
    if book.unit.subject is not None:
        raise InvalidParameter(
            f"ledger: its unit is a person (subject={book.unit.subject!r}), and these models protect single "
            f"rows; make a table with one row per person, with a ledger of its own"
        )


def promise_words(model: PrivateLinear, relation: Relation) -> str:
    """Say what is promised, and for which tables."""
    change = "one row more or less" if relation is Relation.ADD_REMOVE else "one row exchanged"
    return f"({model.epsilon:g}, {model.delta:g})-differentially private for tables that differ in {change}"


def check_promise(epsilon: float, delta: float) -> None:
    """Refuse an epsilon or delta that promises nothing."""
    check.promised(epsilon=epsilon)
    if not 0 <= check.finite(delta=delta) < 1:
        raise InvalidParameter(f"delta={delta!r} must be at least 0 and below 1")


@dataclass(kw_only=True)
class PrivateLinear(Estimator, ABC):
    """Settings and predictions of a private linear model; a method adds how coefficients are found.

    Args:
        epsilon: What the fit may cost.
        delta: The same; 0 asks for pure differential privacy.
        target: The column to learn, if a table is fitted; its declared values are the classes.
        features: The columns to learn from; all declared ones but the target by default.
        classes: The labels there may be, if arrays are fitted; never read off the data.
        norm: Rows are clipped to this Euclidean norm.
        intercept: Whether a constant joins each row.
        ledger: Pays, where ``fit`` names none.

    Attributes:
        coef_: ``(problems, width)`` released coefficients; one problem for two classes, else one per class.
        classes_: The declared classes.
        cost_: What the fit cost: epsilon and delta.
        guarantee_: The promise in words.
    """

    epsilon: float
    delta: float = 0.0
    target: str | None = None
    features: Sequence[str] | None = None
    classes: Sequence[Any] | None = None
    norm: float = 1.0
    intercept: bool = True
    ledger: Ledger | str | Path | None = field(default=None, repr=False)

    def fit(self, X: object, y: object = None, *, ledger: Ledger | str | Path | None = None) -> Self:
        """Pay, then fit.

        Args:
            X: A table the ledger was made for (with ``target`` set), or ``(n, d)`` numbers.
            y: ``(n,)`` labels beside numbers; nothing beside a table.
            ledger: Pays; what does not fit is refused and nothing is computed.

        Raises:
            BudgetExceeded: If it does not fit.
        """
        check_promise(self.epsilon, self.delta)
        check.above_zero(norm=self.norm)
        book = Ledger.paying(self.ledger, ledger)
        refuse_people(book)
        encode = None if y is not None else self._encode(X, book)
        classes = tuple(self.classes or ()) if encode is None else self._declared(encode)
        if self._estimator_type == "classifier" and len(set(classes)) < 2:
            raise InvalidParameter(
                f"classes={len(set(classes))}: declare at least two; they are never read off the data"
            )
        width = self._given_width(X, y) if encode is None else encode.width
        plan = self._plan(width, len(classes), book.relation)
        what = f"{self._title()}: {width} entries, {len(classes)} classes"
        book.spend(promise_event(self.epsilon, self.delta), what=what, delta=self.delta, epsilon=self.epsilon)
        rows, targets = self._read(X, y, encode, classes)
        coefficients = self._compute(plan, rows, targets, len(classes))
        self.coef_, self.classes_, self._encoder, self.plan_ = coefficients, classes, encode, plan
        self.n_features_in_ = width - self.intercept if encode is None else len(encode.features)
        self.cost_ = (self.epsilon, self.delta)
        self.guarantee_ = self._promise(plan, book.relation)
        return self

    def decision_function(self, X: object) -> Floats:
        """Give scores: ``(n,)`` for two classes (or a number), else ``(n, classes)``."""
        scores = self._rows(X) @ self.coef_.T
        return scores[:, 0] if len(self.coef_) == 1 else scores

    @abstractmethod
    def predict(self, X: object) -> Any:
        """Give the target of each row; what follows a release costs nothing."""

    def _encode(self, table: object, book: Ledger) -> PublicRows:
        if self.target is None:
            raise InvalidParameter("target=None: name the column to learn, or give y beside X")
        facts = book.facts
        encode = PublicRows(
            facts=facts,
            features=declared_features(facts, self.target, self.features),
            target=self.target,
            norm=self.norm,
            intercept=self.intercept,
        )
        columns = open_privately(table, facts).columns
        check.columns_exist([*encode.features, self.target], columns)
        book.refuse_other(table, Reading(), columns)
        return encode

    def _declared(self, encode: PublicRows) -> tuple[Any, ...]:
        return encode.facts.categories(encode.target)

    def _given_width(self, X: object, y: object) -> int:
        shape = shape_of(X)
        if len(shape) != 2 or shape[1] < 1:
            raise InvalidInput(f"X must be a table or (n, d) numbers; it has shape {shape}")
        if length_of(y) != shape[:1]:
            raise InvalidInput(f"y must be ({shape[0]},), one for each row; it has {length_of(y)}")
        return shape[1] + self.intercept

    def _read(
        self, X: object, y: object, encode: PublicRows | None, classes: tuple[Any, ...]
    ) -> tuple[Floats, Integers]:
        if encode is None:
            return given_rows(self._with_constant(X), y, classes, self.norm)
        rows, targets = encode(X)
        return rows, np.where(np.isnan(targets), -1, targets).astype(np.int64)

    def _with_constant(self, X: object) -> Floats:
        rows = given_numbers(X, "X")
        return np.hstack([rows, np.ones((len(rows), 1))]) if self.intercept else rows

    def _rows(self, X: object) -> Floats:
        self.refuse_unfitted("coef_")
        if self._encoder is not None:
            return self._encoder.rows(X)
        width = self.coef_.shape[1] - self.intercept
        shape = shape_of(X)
        if len(shape) != 2:
            raise InvalidInput(f"X has shape {shape}. Reshape your data: one row is X.reshape(1, -1)")
        if shape[1] != width:
            raise InvalidInput(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {width} features as input"
            )
        return clip_rows(self._with_constant(X), self.norm)

    @abstractmethod
    def _title(self) -> str:
        """Name the method, for the ledger."""

    @abstractmethod
    def _plan(self, width: int, classes: int, relation: Relation) -> Any:
        """Find the noise from public numbers, before anything is read."""

    @abstractmethod
    def _compute(self, plan: Any, rows: Floats, targets: Any, classes: int) -> Floats:
        """Release the coefficients, ``(problems, width)``."""

    @abstractmethod
    def _promise(self, plan: Any, relation: Relation) -> str:
        """Say the promise in words."""


class PrivateClassifier(PrivateLinear):
    """A private linear model whose targets are classes."""

    _estimator_type = "classifier"

    def predict(self, X: object) -> Any:
        """Give the likeliest class of each row; what follows a release costs nothing."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_)[places]

    def predict_proba(self, X: object) -> Floats:
        """Give ``(n, classes)`` probabilities; scores of several classes are scaled to a sum of one."""
        scores = self.decision_function(X)
        share = 1.0 / (1.0 + np.exp(-np.clip(scores, -500, 500)))
        if scores.ndim == 1:
            return np.stack([1.0 - share, share], axis=1)
        return np.asarray(share / share.sum(axis=1, keepdims=True))
