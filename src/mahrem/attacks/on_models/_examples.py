"""What attackers of a model hold: rows with their labels, and what the model says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.types import Floats, Integers

SMALLEST = 1e-12  # a probability is never quite 0 or 1
DISTINCT = 10  # rows; fewer may well come as often in another table
OVERLAP = 0.05  # more rows of the others among the members than chance explains


class Says(Protocol):
    """A fitted classifier that gives probabilities."""

    def predict_proba(self, X: Any, /) -> Any:
        """Give ``(n, classes)`` probabilities."""
        ...


@dataclass(frozen=True)
class Examples:
    """Rows and their labels.

    Args:
        inputs: ``(n, ...)`` numbers, as the model takes them.
        labels: ``(n,)`` labels.
    """

    inputs: Any = field(repr=False)
    labels: Any = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels):
            raise InvalidInput(f"inputs={len(self.inputs)}, labels={len(self.labels)}: every row needs both")

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Any) -> Examples:
        """Give some of them."""
        return Examples(np.asarray(self.inputs)[rows], np.asarray(self.labels)[rows])

    def joined(self, more: Examples) -> Examples:
        """Give these and others after them."""
        return Examples(
            np.concatenate([self.inputs, more.inputs]), np.concatenate([self.labels, more.labels])
        )


def true_chances(model: Says, examples: Examples, classes: Sequence[Any] | None = None) -> Floats:
    """Give the probability the model gives to each row's own label; labels it does not know get none.

    Args:
        model: Any classifier with ``predict_proba``.
        examples: The rows.
        classes: The order of its columns; by default its ``classes_``.

    Raises:
        InvalidInput: If the columns do not fit the classes, or no label is one of them.
    """
    known = getattr(model, "classes_", None) if classes is None else classes
    chances = np.asarray(model.predict_proba(examples.inputs), dtype=np.float64)
    if known is None:
        raise InvalidInput("classes=None: the model has no classes_, so say the order of its columns")
    if chances.shape != (len(examples), len(known)):
        raise InvalidInput(f"probabilities have {chances.shape}, not {(len(examples), len(known))}")
    places = _places(examples.labels, known)
    if len(places) and places.max() < 0:
        raise InvalidInput(
            "no label is one of the model's classes; are they of another type, numbers here and text there?"
        )
    own = np.take_along_axis(chances, np.maximum(places, 0)[:, None], axis=1)[:, 0]
    return np.where(places < 0, 0.0, np.nan_to_num(own))


def _places(labels: object, known: Sequence[Any]) -> Integers:
    given = np.asarray(labels)
    places = np.full(len(given), -1, dtype=np.int64)
    for place, label in enumerate(known):
        places[given == label] = place
    return places


def log_odds(chances: Floats) -> Floats:
    """Give ``log(p / (1 - p))``: what confidence looks like on a scale where it is about normal."""
    kept = np.clip(chances, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def refuse_mixed(members: Examples, others: Examples) -> None:
    """Refuse others that share more rows with the members than equal rows among the members explain.

    Where nearly every row has a twin, values cannot tell; then only the same rows altogether are refused.
    """
    refuse_shared_rows(*_numbered(members, others))


def refuse_shared_rows(inside: Integers, outside: Integers) -> None:
    """Refuse the same where rows were numbered or hashed, equal ones alike."""
    _, times = np.unique(inside, return_counts=True)
    twins = float(times[times > 1].sum() / times.sum())
    shared = np.isin(outside, inside)
    if shared.mean() > twins + OVERLAP or _same(inside, outside):
        raise InvalidInput(
            f"holdout: {int(shared.sum())} of its {len(shared)} rows are in the training table, far more "
            f"than equal rows there explain; give rows that the model never saw"
        )


def _same(inside: Integers, outside: Integers) -> bool:
    """Say whether these are the same rows, in any order; a handful of values proves nothing."""
    if len(inside) != len(outside) or len(np.unique(inside)) < DISTINCT:
        return False
    return bool(np.array_equal(np.sort(inside), np.sort(outside)))


def _numbered(first: Examples, second: Examples) -> tuple[Integers, Integers]:
    """Number equal rows (with their labels) alike."""
    both = first.joined(second)
    flat = np.ascontiguousarray(np.asarray(both.inputs, dtype=np.float64).reshape(len(both), -1)) + 0.0
    _, label = np.unique(np.asarray(both.labels).astype(str), return_inverse=True)
    whole = np.column_stack([flat, label.astype(np.float64)])
    _, numbers = np.unique(whole.view(np.dtype((np.void, whole.strides[0]))).ravel(), return_inverse=True)
    return numbers[: len(first)], numbers[len(first) :]
