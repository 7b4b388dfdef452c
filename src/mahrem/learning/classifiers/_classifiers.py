"""The classifiers of the harness: each a pipeline with its own scaling, and a small grid to choose from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahrem import check
from mahrem.check import extra
from mahrem.types import Floats, Integers

KERNEL_ROWS = 3_000  # above so many rows a support vector machine works on an approximation of its kernel
KERNEL_PARTS = 300  # so many parts it has
TUNED_ROWS = 3_000  # settings are chosen on at most so many of the training rows
FOLDS = 3
FEW_ROWS = 5_000  # below so many rows threads cost more than they give


@dataclass(frozen=True)
class _Recipe:
    """How a classifier is made, and which settings are tried."""

    build: Callable[[int, int, int], Any]  # (rows, seed, threads) -> estimator
    grid: Mapping[str, Sequence[Any]]
    scales: bool  # amounts are brought to mean 0 and deviation 1
    many: Mapping[str, Sequence[Any]] | None = None  # the grid above FEW_ROWS: a sample asks for too little


@dataclass(frozen=True)
class FittedClassifier:
    """A trained classifier and the settings that were chosen for it."""

    model: Any
    settings: Mapping[str, Any]

    def predict(self, features: Floats) -> Integers:
        """Give the class of each row."""
        with _one_at_a_time():
            answers: Integers = np.asarray(self.model.predict(features), np.int64)
        return answers

    def scores(self, features: Floats, classes: int) -> Floats:
        """Give ``(n, classes)`` how much speaks for each class; only their order counts."""
        with _one_at_a_time():
            if hasattr(self.model, "predict_proba"):
                known_scores = np.asarray(self.model.predict_proba(features), np.float64)
            else:
                known_scores = np.asarray(self.model.decision_function(features), np.float64)
        if known_scores.ndim == 1:
            known_scores = np.column_stack([-known_scores, known_scores])
        scores = np.full((len(known_scores), classes), -np.inf)
        scores[:, np.asarray(self.model.classes_, np.int64)] = known_scores
        return scores


def need_learning() -> None:
    """Say how to get scikit-learn if it is not there."""
    try:
        import sklearn  # noqa: F401 - is it there?
    except ImportError:
        raise extra("learning", needed_for="training classifiers") from None


def train_classifier(
    name: str, features: Floats, amounts: int, target: Integers, *, seed: int, threads: int, tune: bool = True
) -> FittedClassifier:
    """Train one classifier; its settings are chosen by cross-validation on the training rows alone.

    Args:
        name: A key of :data:`CLASSIFIERS`.
        features: ``(n, f)`` the training rows; the first ``amounts`` columns are those to scale.
        amounts: How many columns are scaled.
        target: ``(n,)`` classes as codes from 0.
        seed: Of everything that draws.
        threads: How many cores may be used.
        tune: Choose among the settings of the grid; else take the first of each.

    Guarantees:
        - The same seed gives the same classifier, however many threads there are.
    """
    need_learning()
    recipe = CLASSIFIERS[check.one_of(tuple(CLASSIFIERS), classifier=name)]
    with _one_at_a_time(), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # a network that stops early or a line not quite settled is still judged
        model = _pipeline(recipe, len(features), amounts, seed, threads)
        settings = _chosen(recipe, model, features, target, seed) if tune else {}
        model.set_params(**settings).fit(features, target)
    return FittedClassifier(model, {key.removeprefix("model__"): value for key, value in settings.items()})


def _one_at_a_time() -> Any:
    """Keep OpenMP and BLAS to one thread: on a busy machine their barriers wait a hundred times the work."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _pipeline(recipe: _Recipe, rows: int, amounts: int, seed: int, threads: int) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    scaling = ColumnTransformer([("amounts", StandardScaler(), slice(0, amounts))], remainder="passthrough")
    steps = [("scaling", scaling)] if recipe.scales and amounts else []  # a table may hold words alone
    return Pipeline([*steps, ("model", recipe.build(rows, seed, 1 if rows < FEW_ROWS else threads))])


def _chosen(recipe: _Recipe, model: Any, features: Floats, target: Integers, seed: int) -> dict[str, object]:
    """Try the grid by stratified folds on a part of the training rows."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

    tried = recipe.grid if recipe.many is None or len(target) < FEW_ROWS else recipe.many
    grid = {f"model__{key}": list(values) for key, values in tried.items()}
    if all(len(values) == 1 for values in grid.values()):
        return {key: values[0] for key, values in grid.items()}
    if len(target) > TUNED_ROWS:
        part, _ = train_test_split(
            np.arange(len(target)), train_size=TUNED_ROWS, stratify=target, random_state=seed
        )
        features, target = features[part], target[part]
    if np.bincount(target)[np.unique(target)].min() < FOLDS:
        return {key: values[0] for key, values in grid.items()}  # a class too rare to be in every fold
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(model, grid, cv=folds, scoring="accuracy", refit=False, n_jobs=1)
    return dict(search.fit(features, target).best_params_)


def _extra_trees(_: int, seed: int, threads: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(100, n_jobs=threads, random_state=seed)


def _random_forest(_: int, seed: int, threads: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, n_jobs=threads, random_state=seed)


def _gradient_boosting(_: int, seed: int, __: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=150, subsample=0.7, max_features=0.3, random_state=seed)


def _hist_gradient_boosting(_: int, seed: int, __: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed)


def _svm(rows: int, seed: int, __: int) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC, LinearSVC

    if rows <= KERNEL_ROWS:
        return Pipeline([("svm", SVC(kernel="rbf", random_state=seed))])
    parts = Nystroem(gamma=0.05, n_components=KERNEL_PARTS, random_state=seed)
    return Pipeline([("parts", parts), ("svm", LinearSVC(dual=False, random_state=seed))])


def _logistic_regression(_: int, seed: int, __: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=300, random_state=seed)


def _sgd(_: int, seed: int, __: int) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(average=True, random_state=seed)


def _gaussian_nb(_: int, __: int, ___: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _knn(_: int, __: int, threads: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_jobs=threads)


def _ann(_: int, seed: int, __: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(early_stopping=True, max_iter=100, random_state=seed, learning_rate_init=0.003)


CLASSIFIERS: Mapping[str, _Recipe] = {
    "extra_trees": _Recipe(
        _extra_trees, {"min_samples_leaf": (3, 1, 8)}, False, {"min_samples_leaf": (2, 1)}
    ),
    "random_forest": _Recipe(
        _random_forest, {"min_samples_leaf": (3, 1, 8)}, False, {"min_samples_leaf": (2, 1)}
    ),
    "gradient_boosting": _Recipe(_gradient_boosting, {"max_depth": (3, 6)}, False, {"max_depth": (6,)}),
    "svm": _Recipe(_svm, {"svm__C": (1.0, 10.0)}, True, {"svm__C": (10.0,)}),
    "logistic_regression": _Recipe(_logistic_regression, {"C": (1.0, 0.1, 10.0)}, True),
    "sgd": _Recipe(_sgd, {"alpha": (1e-3, 1e-4, 1e-2)}, True),
    "gaussian_nb": _Recipe(_gaussian_nb, {"var_smoothing": (1e-9, 1e-2, 1e-1)}, True),
    "knn": _Recipe(_knn, {"n_neighbors": (15, 5, 31)}, True),
    "ann": _Recipe(
        _ann, {"hidden_layer_sizes": ((64,), (64, 32))}, True, {"hidden_layer_sizes": ((64, 32),)}
    ),
    "hist_gradient_boosting": _Recipe(
        _hist_gradient_boosting, {"max_leaf_nodes": (15, 31)}, False, {"max_leaf_nodes": (31,)}
    ),
}
