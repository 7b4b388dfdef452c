"""Models trained on disjoint parts, and their votes: a record moves what one of them says, whatever it does.

Nothing that one record brings about in its own part may be seen outside: a model that cannot be trained, or
that fails when it is asked, loses its vote and nothing else happens. Users learn of mistakes in their recipe
from a rehearsal on public rows (:func:`rehearse`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.private import new_stream
from mahrem.learning.private.inputs import given_numbers, label_codes
from mahrem.types import Floats, Integers, Mask

PARTS = 2  # at least
REHEARSED = 20  # rows of each class


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
    distinct = len(set(np.asarray(classes).tolist()))
    if distinct < PARTS:
        raise InvalidParameter(f"classes={distinct}: at least {PARTS} must be declared")
    if distinct < len(classes):
        raise InvalidParameter(
            f"classes={len(classes)}, of which {distinct} differ: one vote would count twice, so declare "
            f"each class once, all of one type"
        )
    return distinct


def rehearse(make: Callable[[], Any], rows: Any, classes: Sequence[Any]) -> None:
    """Train and ask one model on public rows with made-up labels, to see mistakes in the recipe.

    Raises:
        InvalidParameter: If that fails, with the reason.
    """
    count = REHEARSED * len(classes)
    places = np.arange(count)
    few = np.asarray(rows)[places % len(rows)]
    try:
        answers = make().fit(few, np.asarray(classes)[places % len(classes)]).predict(few)
    except Exception as error:
        raise InvalidParameter(
            f"teacher: it fails on {count} public rows with made-up labels ({type(error).__name__}: {error})"
        ) from error
    if np.shape(answers) != (count,):
        raise InvalidParameter(f"teacher: its answers for {count} rows have shape {np.shape(answers)}")


def train_parts(
    make: Callable[[], Any],
    X: object,
    y: object,
    *,
    parts: int,
    classes: Sequence[Any],
    units: Integers | None = None,
) -> list[Predicts]:
    """Train one model on each of ``parts`` disjoint parts; each row lands in one of them, by a secret draw.

    Args:
        make: Makes an untrained classifier with ``fit`` and ``predict``.
        X: ``(n, d)`` rows; those with a number that is not finite are left out.
        y: ``(n,)`` labels; rows with an undeclared one are left out.
        parts: How many models.
        classes: The declared classes.
        units: ``(n,)`` whose row it is: all rows of a person land in one part. None: each row is its own.

    Guarantees:
        - There are ``parts`` models, whatever the rows are. A part with fewer than two classes, or that its
          model cannot be trained on, becomes a model that always says the same.
        - What models say of their rows in warnings is not shown.
    """
    rows = np.asarray(X) if hasattr(X, "__array__") else given_numbers(X, "X")
    codes = label_codes(y, classes)
    if check.whole(parts=parts) < PARTS or len(rows) != len(codes):
        raise InvalidParameter(f"parts={parts} must be at least {PARTS}, and X as long as y")
    numbers = np.arange(len(rows)) if units is None else np.unique(units, return_inverse=True)[1]
    places = new_stream().places(0, int(numbers.max(initial=-1)) + 1, parts)[numbers]
    usable = (codes >= 0) & _finite(rows)
    labels = np.asarray(classes)[codes]
    mine = [usable & (places == part) for part in range(parts)]
    return [_trained(make, rows[one], labels[one], classes[0]) for one in mine]


def _finite(rows: Any) -> Mask:
    """Say which rows hold finite numbers only; words always do."""
    if not np.issubdtype(rows.dtype, np.inexact):
        return np.ones(len(rows), np.bool_)
    return np.asarray(np.isfinite(rows).reshape(len(rows), -1).all(axis=1))


def _trained(make: Callable[[], Any], rows: Any, labels: Any, otherwise: Any) -> Predicts:
    seen, times = np.unique(labels, return_counts=True)
    commonest = seen[times.argmax()] if len(seen) else otherwise
    if len(seen) < PARTS:
        return _Always(commonest)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained: Predicts = make().fit(rows, labels)
    except Exception:  # noqa: BLE001 - whatever went wrong, one record may have brought it about
        return _Always(commonest)
    return trained


class _Always:
    """A model that always says the same."""

    def __init__(self, label: object) -> None:
        self.label, self.classes_ = label, np.array([label])

    def predict(self, X: Any, /) -> Any:
        return np.full(len(X), self.label)

    def predict_proba(self, X: Any, /) -> Floats:
        return np.ones((len(X), 1))


def count_votes(teachers: Sequence[Any], rows: Any, classes: Sequence[Any]) -> Integers:
    """Count the votes of fitted models: ``(rows, classes)``.

    A vote for anything undeclared counts for none, and so does a model that fails.
    """
    votes = np.zeros((len(rows), len(classes)), dtype=np.int64)
    for teacher in teachers:
        answers = _answer(teacher, "predict", rows)
        if answers is not None and answers.shape == (len(rows),):
            votes += answers[:, None] == np.asarray(classes)[None, :]
    return votes


def shares_of(teacher: Any, rows: Any, classes: Sequence[Any]) -> Floats:
    """Give a model's probabilities of the declared classes, ``(rows, classes)``; rows add up to one at most.

    Columns are those of its ``classes_``, else those declared. A model that fails, or whose columns do not
    fit, says nothing: zeros.
    """
    shares = np.zeros((len(rows), len(classes)))
    answers = _answer(teacher, "predict_proba", rows)
    known = np.asarray(getattr(teacher, "classes_", classes))
    if (
        answers is None
        or answers.shape != (len(rows), len(known))
        or not np.issubdtype(answers.dtype, np.number)
    ):
        return shares
    clean = np.clip(np.nan_to_num(answers.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    for place, one in enumerate(np.asarray(classes)):
        shares[:, place] = clean[:, known == one].sum(axis=1)
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0))


def _answer(teacher: object, verb: str, rows: object) -> Any | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(getattr(teacher, verb)(rows))
    except Exception:  # noqa: BLE001 - its message may tell of its part
        return None
