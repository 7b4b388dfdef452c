"""Private boosting: trees with random cuts; each record pays for what it adds to the noisy sums of leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from mahrem import check
from mahrem.arrays.counting import add_within_budgets
from mahrem.dp import Facts, Ledger, noised, open_privately
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning._estimator import Estimator
from mahrem.learning.private._paid_score import PaidScore
from mahrem.learning.private._secret_stream import SecretStream, new_stream
from mahrem.learning.private.boosting._plan import FINE, BoostingPlan, usual_rounds
from mahrem.learning.private.boosting._random_trees import ColumnCodes, RandomTrees
from mahrem.learning.private.inputs import (
    PublicInputs,
    declared_features,
    given_numbers,
    label_codes,
    length_of,
    read_rows,
    shape_of,
    target_numbers,
)
from mahrem.learning.private.regressions import refuse_people
from mahrem.table import Reading
from mahrem.types import Floats, Integers

LARGEST = 2.0  # a leaf moves a score by no more, before the learning rate


@dataclass(kw_only=True)
class BoostedTrees(PaidScore, Estimator):
    """What private boosting of classes and of numbers share; use one of its kinds.

    Args:
        epsilon: What the fit may cost; or ``noise_multiplier``.
        delta: The same, above 0; by default the ledger's.
        noise_multiplier: Noise in units of what one record may add in all.
        target: The column to learn, if a table is fitted.
        features: The columns to learn from; all declared ones but the target by default.
        rounds: Trees; by default 20 for each column, between 100 and 500.
        learning_rate: How much of what a leaf says is taken over.
        shrinkage: Leaves are pulled to 0 as if they had so many deviations of the noise more curvature; None
            takes what suits the target.
        allowance: See :class:`~mahrem.learning.private.BoostingPlan`; None takes what suits the target.
        widths: Numbers that each column has in a row of ``X``, if arrays are fitted: 1 for a number between
            public bounds that became 0 and 1, else a place for each declared value. All 1 by default.
        ledger: Pays, where ``fit`` names none.
        seed: For tests only: the run repeats, and **nothing is private**; the guarantee says so.

    Attributes:
        trees_: The trees and their leaves' values.
        plan_: The plan.
        cost_: What the fit cost: epsilon and delta.
        guarantee_: The promise in words.
    """

    epsilon: float | None = None
    delta: float | None = None
    noise_multiplier: float | None = None
    target: str | None = None
    features: Sequence[str] | None = None
    rounds: int | None = None
    learning_rate: float = 0.3
    shrinkage: float | None = None
    allowance: float | None = None
    widths: Sequence[int] | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)
    seed: int | None = None

    _estimator_type = "classifier"
    _curvature = 0.5  # weight of second derivatives in what is summed
    _usual_allowance, _usual_shrinkage = 0.75, 2.0

    def fit(self, X: object, y: object = None, *, ledger: Ledger | str | Path | None = None) -> Self:
        """Pay for all rounds, then fit; trees and noise come from a fresh secret key.

        Args:
            X: A table the ledger was made for (with ``target`` set), or ``(n, d)`` numbers between 0 and 1.
            y: ``(n,)`` targets beside numbers; nothing beside a table.
            ledger: Pays; what does not fit is refused and nothing is computed.

        Raises:
            BudgetExceeded: If it does not fit.
        """
        return self._fit(X, y, Ledger.paying(self.ledger, ledger))

    def _fit(self, X: object, y: object, book: Ledger, *, stream: SecretStream | None = None) -> Self:
        """Pay and fit; a stream is nobody's to give twice, so it comes from this package alone."""
        refuse_people(book)
        plan, widths = self._prepared(X, y, book)
        what = f"private boosting: {plan.rounds} trees"
        book.spend(plan.event, what=what, delta=plan.delta, epsilon=plan.epsilon)
        source = stream or new_stream(self.seed)
        self.trees_ = self._boosted(plan, widths, source, *self._read(X, y, book))
        self.plan_, self.cost_ = plan, (plan.epsilon, plan.delta)
        warning = "NOT PRIVATE (a test seed was given, so the noise is known). Otherwise: "
        self.guarantee_ = (warning if source.seeded else "") + plan.guarantee()
        return self

    def with_noise(self, noise_multiplier: float) -> Self:
        """Give a copy, unfitted, with this noise."""
        return replace(self, epsilon=None, noise_multiplier=noise_multiplier)

    def tried(self, X: object, y: object, ledger: Ledger) -> None:
        """Refuse what a fit would refuse; nothing is spent or learnt."""
        replace(self)._prepared(X, y, ledger)  # noqa: SLF001 - a copy of this one

    def _trained(self, X: object, y: object, ledger: Ledger, stream: SecretStream) -> Self:
        """Give a fitted copy without paying: for who has paid for it in another way."""
        model = replace(self)
        plan, widths = model._prepared(X, y, ledger)  # noqa: SLF001 - a copy of this one
        rows, targets = model._read(X, y, ledger)  # noqa: SLF001 - the same
        model.trees_ = model._boosted(plan, widths, stream, rows, targets)  # noqa: SLF001 - the same
        model.plan_ = plan
        return model

    def _prepared(self, X: object, y: object, book: Ledger) -> tuple[BoostingPlan, tuple[int, ...]]:
        self._encoder = None if y is not None else self._encode(X, book)
        self._begin(book.facts)
        widths = self._given_widths(X, y) if self._encoder is None else self._encoder.widths
        return self._plan(book, len(widths)), widths

    def plan(self, ledger: Ledger | str | Path) -> BoostingPlan:
        """Make the plan from settings and public facts; nothing is spent."""
        book = Ledger.of(ledger)
        refuse_people(book)
        if self.widths is None:
            facts = book.facts
            inputs = PublicInputs(facts=facts, features=declared_features(facts, self.target, self.features))
            return self._plan(book, len(inputs.features))
        return self._plan(book, len(self.widths))

    def scores(self, X: object) -> Floats:
        """Give the ``(n, outputs)`` sums of what the trees say; costs nothing."""
        self.refuse_unfitted("trees_")
        if self._encoder is not None and not isinstance(X, np.ndarray):
            return self.trees_.scores(self._encoder(X))
        width = sum(self.trees_.widths)
        if shape_of(X)[1:] != (width,):
            raise InvalidInput(f"X must be (n, {width}) numbers, as fitted; it has shape {shape_of(X)}")
        return self.trees_.scores(X)

    @property
    def _shrinkage(self) -> float:
        return self._usual_shrinkage if self.shrinkage is None else self.shrinkage

    def _plan(self, book: Ledger, columns: int) -> BoostingPlan:
        check.above_zero(learning_rate=self.learning_rate)
        check.above_zero(shrinkage=self._shrinkage)
        return BoostingPlan.make(
            epsilon=self.epsilon,
            noise_multiplier=self.noise_multiplier,
            delta=book.delta if self.delta is None else self.delta,
            rounds=usual_rounds(columns) if self.rounds is None else self.rounds,
            outputs=self._outputs(),
            allowance=self._usual_allowance if self.allowance is None else self.allowance,
            curvature=self._curvature,
            relation=book.relation,
        )

    def _boosted(
        self, plan: BoostingPlan, widths: Sequence[int], stream: SecretStream, rows: Floats, targets: Any
    ) -> RandomTrees:
        """Grow the trees one after the other; nothing but noisy sums depends on the rows."""
        rng = np.random.default_rng([int(word) for word in stream.words("trees", 0, 4)])
        trees = RandomTrees.draw(rng, widths, plan.rounds, plan.outputs)
        codes, count = ColumnCodes(tuple(widths))(rows), len(rows)
        left = np.full(count, plan.budget, dtype=np.int64)
        scores = np.zeros((count, plan.outputs))
        for tree in range(plan.rounds):
            leaves = trees.leaves(codes, tree, count)
            first, second = self._derivatives(scores, targets)
            # Towards 0, so that no part is longer on the grid than it was.
            parts = np.trunc(np.hstack([first, plan.curvature * second]) * FINE).astype(np.int64)
            sums = np.zeros((int(trees.sizes[tree].prod()), parts.shape[1]), dtype=np.int64)
            add_within_budgets(leaves, parts, left, sums)
            gained = self._leaf_values(_noisy(sums, plan, stream, tree), plan)
            trees.values[tree, : len(gained)] = gained * (1.0 if tree == 0 else self.learning_rate)
            scores += trees.values[tree][leaves]
        return trees

    def _leaf_values(self, sums: Floats, plan: BoostingPlan) -> Floats:
        """Take a step of Newton in every leaf, the more careful the less its rows stand out from noise."""
        first, second = sums[:, : plan.outputs], np.maximum(sums[:, plan.outputs :] / plan.curvature, 0.0)
        steps = first / (second + self._shrinkage * plan.scale)
        return np.clip(steps, -LARGEST, LARGEST)

    def _encode(self, table: object, book: Ledger) -> PublicInputs:
        if self.target is None:
            raise InvalidParameter("target=None: name the column to learn, or give y beside X")
        facts = book.facts
        features = declared_features(facts, self.target, self.features)
        encode = PublicInputs(facts=facts, features=features, low=0.0)
        columns = open_privately(table, facts).columns
        check.columns_exist([*features, self.target], columns)
        book.refuse_other(table, Reading(), columns)
        return encode

    def _given_widths(self, X: object, y: object) -> tuple[int, ...]:
        shape = shape_of(X)
        if len(shape) != 2 or shape[1] < 1:
            raise InvalidInput(f"X must be a table or (n, d) numbers; it has shape {shape}")
        if length_of(y) != shape[:1]:
            raise InvalidInput(f"y must be ({shape[0]},), one for each row; it has {length_of(y)}")
        widths = (1,) * shape[1] if self.widths is None else tuple(self.widths)
        if min(widths) < 1 or sum(widths) != shape[1]:
            raise InvalidParameter(f"widths={widths} must be at least 1 and add up to {shape[1]}")
        return widths

    def _read(self, X: object, y: object, book: Ledger) -> tuple[Floats, Any]:
        """Read rows and targets; a row without a declared target is left out."""
        if self._encoder is None:
            rows, targets = given_numbers(X, "X"), self._given_targets(y)
        else:
            rows, cells, _ = read_rows(open_privately(X, book.facts), self._encoder, self.target, None)
            targets = self._declared_targets(np.full(len(rows), np.nan) if cells is None else cells)
        known = targets >= 0
        return rows[known], targets[known]

    @abstractmethod
    def _begin(self, facts: Facts) -> None:
        """Find the declared classes or bounds of the target."""

    @abstractmethod
    def _outputs(self) -> int:
        """Say how many scores a row has."""

    @abstractmethod
    def _derivatives(self, scores: Floats, targets: Any) -> tuple[Floats, Floats]:
        """Give how far each score should rise, at most 1, and how fast that would change, between 0 and 1."""

    @abstractmethod
    def _given_targets(self, y: object) -> Any:
        """Read targets that came beside numbers; below 0 is none."""

    @abstractmethod
    def _declared_targets(self, cells: Floats) -> Any:
        """Read targets from the cells of a declared column; below 0 is none."""


def _noisy(sums: Integers, plan: BoostingPlan, stream: SecretStream, tree: int) -> Floats:
    """Add noise to the sums of one tree; both are whole numbers, so nothing hides in their last digits."""

    def draw() -> Floats:
        noise = np.rint(stream.normals("noise", tree, sums.size) * plan.scale)
        return sums.astype(np.float64) + noise.reshape(sums.shape)

    return noised("boosting-gaussian", sums.ravel().tolist(), plan.reach, plan.event, draw)


@dataclass(kw_only=True)
class PrivateBoosting(BoostedTrees):
    """Boosted trees that tell declared classes apart, with differential privacy.

    Args:
        classes: The labels there may be, if arrays are fitted; never read off the data.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation, for the trees and all leaves.
        - Everything is paid for before a row is read; no cell, label or order of rows makes it fail.
        - A row pays for what it adds itself: one that is learnt soon adds little and stays to the end.

    References:
        Peinemann, Kirschte, Stock, Cotrini, Mohammadi: S-BDT: distributed differentially private boosted
        decision trees, 2024 (arXiv 2309.12041). Feldman, Zrnic: Individual privacy accounting via a Renyi
        filter, 2021. Smith, Thakurta: Fully adaptive composition for Gaussian differential privacy, 2022.
        Nori, Caruana, Bu, Shen, Kulkarni: Accuracy, interpretability, and differential privacy via
        explainable boosting, 2021.

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.random.default_rng(1).random((4000, 2))
        >>> model = PrivateBoosting(epsilon=1, classes=(0, 1))
        >>> ledger = Ledger.temporary(epsilon=1, delta=1e-6)
        >>> model = model.fit(X, (X[:, 0] > 0.5).astype(int), ledger=ledger)
        >>> bool((model.predict(X) == (X[:, 0] > 0.5)).mean() > 0.9)
        True
    """

    classes: Sequence[Any] | None = None

    def predict_proba(self, X: object) -> Floats:
        """Give ``(n, classes)`` probabilities."""
        return _shares(self.scores(X))

    def predict(self, X: object) -> Any:
        """Give the likeliest class of each row."""
        places = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_)[places]

    def _open_score(self, X: object, y: object) -> float:
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _begin(self, facts: Facts) -> None:
        table = self._encoder is not None and self.target is not None
        classes = facts.categories(str(self.target)) if table else tuple(self.classes or ())
        if len(set(classes)) < 2:
            raise InvalidParameter(
                f"classes={len(set(classes))}: declare at least two; they are never read off the data"
            )
        self.classes_ = classes

    def _outputs(self) -> int:
        classes = getattr(self, "classes_", None) or tuple(self.classes or ())
        return 1 if len(classes) <= 2 else len(classes)

    def _derivatives(self, scores: Floats, targets: Any) -> tuple[Floats, Floats]:
        shares = _shares(scores)[:, -scores.shape[1] :]
        wanted = np.arange(2 - scores.shape[1] if scores.shape[1] == 1 else 0, len(self.classes_))
        return (targets[:, None] == wanted) - shares, shares * (1 - shares)

    def _given_targets(self, y: object) -> Any:
        return label_codes(y, self.classes_)

    def _declared_targets(self, cells: Floats) -> Any:
        return np.where(np.isnan(cells), -1, cells).astype(np.int64)


@dataclass(kw_only=True)
class PrivateBoostingRegressor(BoostedTrees):
    """Boosted trees that foretell a number within public bounds, with differential privacy.

    Args:
        bounds: Public bounds of y, if arrays are fitted; a table's target has declared ones.

    Guarantees:
        - As :class:`PrivateBoosting`; targets are clipped to their bounds.

    Example:
        >>> from mahrem.dp import Ledger
        >>> X = np.random.default_rng(1).random((4000, 2))
        >>> model = PrivateBoostingRegressor(epsilon=1, bounds=(0, 2))
        >>> model = model.fit(X, X.sum(axis=1), ledger=Ledger.temporary(epsilon=1, delta=1e-6))
        >>> bool(np.abs(model.predict(X) - X.sum(axis=1)).mean() < 0.2)
        True
    """

    bounds: tuple[float, float] | None = None

    _estimator_type = "regressor"
    _curvature = 0.1  # every row curves alike: counting them must not cost what gradients need
    _usual_allowance, _usual_shrinkage = 0.1, 20.0  # steps are shares of the bounds, and small

    def predict(self, X: object) -> Floats:
        """Foretell numbers, within the bounds."""
        shares = np.clip(0.5 + self.scores(X)[:, 0], 0.0, 1.0)
        low, high = self.bounds_
        return low + (high - low) * shares

    def _open_score(self, X: object, y: object) -> float:
        """Give the share of the variance that is explained (R2)."""
        truth = target_numbers(y, "y")
        return float(1 - np.mean((truth - self.predict(X)) ** 2) / np.var(truth))

    def _begin(self, facts: Facts) -> None:
        if self._encoder is not None and self.target is not None:
            self.bounds_ = facts.bounds(self.target)
            return
        if self.bounds is None:
            raise InvalidParameter(
                "bounds=None: give the public bounds of y; they are never read off the data"
            )
        low, high = (check.finite(bound=bound) for bound in self.bounds)
        if not low < high:
            raise InvalidParameter(f"lower={low:g} must be below upper={high:g}")
        self.bounds_ = (low, high)

    def _outputs(self) -> int:
        return 1

    def _derivatives(self, scores: Floats, targets: Any) -> tuple[Floats, Floats]:
        missing = targets[:, None] - 0.5 - scores
        return np.clip(missing, -1.0, 1.0), np.ones_like(missing)

    def _given_targets(self, y: object) -> Any:
        low, high = self.bounds_
        return self._declared_targets((np.clip(target_numbers(y, "y"), low, high) - low) / (high - low))

    def _declared_targets(self, cells: Floats) -> Any:
        return np.where(np.isnan(cells), -1.0, cells)


def _shares(scores: Floats) -> Floats:
    """Turn scores into probabilities; a single score is that of the second of two classes."""
    wide = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    raised = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
