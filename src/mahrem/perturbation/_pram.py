"""PRAM, the post-randomisation method: words change by a published matrix of chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Integers

_DIGITS = 6  # of chances: what is published is what was used


def transition_matrix(given: Floats | Sequence[Sequence[float]]) -> Floats:
    """Refuse a matrix whose rows are no chances, and give it back as it will be used.

    Example:
        >>> transition_matrix(np.array([[0.9, 0.1], [0.5, 0.6]]))
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: matrix: row 2 must add up to 1
    """
    try:
        matrix = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("matrix must hold numbers, as many in each row") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameter(f"matrix={matrix.shape} must have as many rows as columns")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InvalidParameter("matrix must hold chances, none below 0")
    wrong = np.flatnonzero(np.abs(matrix.sum(axis=1) - 1) > 1e-6)
    if len(wrong):
        raise InvalidParameter(f"matrix: row {wrong[0] + 1} must add up to 1")
    return _rounded(matrix / matrix.sum(axis=1, keepdims=True))


def invariant_matrix(matrix: Floats, counts: Integers) -> Floats:
    """Give a matrix under which words are expected to be as frequent as before.

    Changing by ``matrix`` and then guessing back by Bayes' rule leaves frequencies as they were.

    Args:
        matrix: ``(c, c)`` chances.
        counts: ``(c,)`` how often each word occurs.

    Guarantees:
        - Its rows add up to 1, and ``counts @ invariant_matrix(matrix, counts)`` is ``counts``, up to the
          rounding of chances.

    References:
        Kooiman, Willenborg, Gouweleeuw: PRAM: a method for disclosure limitation of microdata, 1997.
    """
    shares = np.asarray(counts, np.float64)
    joint = matrix * shares[:, None]
    arrived = joint.sum(axis=0)
    back = np.divide(joint, arrived, out=np.zeros_like(joint), where=arrived > 0).T
    alone = arrived == 0
    back[alone] = np.eye(len(shares))[alone]
    return _rounded(matrix @ back)


def _rounded(matrix: Floats) -> Floats:
    rounded = np.round(matrix, _DIGITS)
    rounded[np.diag_indices(len(rounded))] += 1 - rounded.sum(axis=1)
    return np.asarray(np.clip(np.round(rounded, _DIGITS), 0, 1))


@dataclass(frozen=True, kw_only=True)
class Pram:
    """Change the words of a column by chance.

    Args:
        keep: How likely a word stays what it is; the others share the rest alike.
        invariant: Make frequencies stay as they were in expectation.
        matrix: Chances from each word (row) to each (column), words in the order of their texts; instead of
            ``keep``.

    Guarantees:
        - Words are changed one by one, by the very matrix that is published.
        - A missing value stays missing.

    References:
        Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control, 1998.
    """

    keep: float = 0.8
    invariant: bool = True
    matrix: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        check.between(0, 1, keep=self.keep)

    def chances(self, counts: Integers) -> Floats:
        """Give the matrix for words that occur so often."""
        words = len(counts)
        if self.matrix is not None:
            given = transition_matrix(self.matrix)
            if len(given) != words:
                raise InvalidParameter(f"matrix has {len(given)} rows, and the column has {words} words")
        elif words < 2:
            given = np.eye(words)
        else:
            others = (1 - self.keep) / (words - 1)
            given = _rounded(np.full((words, words), others) + np.eye(words) * (self.keep - others))
        return invariant_matrix(given, counts) if self.invariant and words > 1 else given

    def __call__(self, codes: Integers, matrix: Floats, rng: np.random.Generator) -> Integers:
        """Change ``(n,)`` codes by a matrix; -1 stays."""
        changed = np.asarray(codes, np.int64).copy()
        ladder = np.cumsum(matrix, axis=1)
        drawn = rng.random(len(changed))
        for word in range(len(matrix)):
            rows = np.flatnonzero(codes == word)
            changed[rows] = np.minimum(
                np.searchsorted(ladder[word], drawn[rows], side="right"), len(matrix) - 1
            )
        return changed
