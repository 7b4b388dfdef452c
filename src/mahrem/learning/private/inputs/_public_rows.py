"""From a table to bounded rows of numbers, by public facts alone. Nothing is learnt from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem import check
from mahrem.dp import Facts, public_cells, refuse_undeclared
from mahrem.errors import InvalidParameter
from mahrem.learning.private.inputs._given_values import given_numbers, label_codes
from mahrem.learning.private.inputs._public_inputs import PublicInputs
from mahrem.types import Floats, Integers


def clip_rows(rows: Floats, norm: float) -> Floats:
    """Scale each row down to a Euclidean norm of at most ``norm``; a row with NaN or infinity becomes zero.

    Guarantees:
        - Each row depends on itself alone, and its norm is at most ``norm`` in exact arithmetic too.

    Example:
        >>> clip_rows(np.array([[3.0, 4.0], [0.1, 0.0], [np.nan, 1.0]]), 1.0).round(2).tolist()
        [[0.6, 0.8], [0.1, 0.0], [0.0, 0.0]]
    """
    sound = np.isfinite(rows).all(axis=1, keepdims=True)
    clean = np.where(sound, rows, 0.0)
    largest = np.abs(clean).max(axis=1, initial=0.0, keepdims=True)
    # Divided by the largest entry first: squares of floats overflow far below the largest float.
    unit = clean / np.where(largest > 0, largest, 1.0)
    size = np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1.0)
    inside = norm * (1 - 1e-11)  # the last bits of norm and quotient may round up
    return np.asarray(np.where(largest > inside / size, unit * (inside / size), clean), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class PublicRows:
    """How columns become bounded rows: declared values one place each, numbers as shares of their bounds.

    Attributes:
        facts: What is public of each column.
        features: The columns to learn from.
        target: The column to learn; its declared values are the classes, or its bounds the range.
        norm: Rows are scaled down to this Euclidean norm.
        intercept: Whether a constant 1 joins each row before it is scaled.

    Guarantees:
        - Every row depends on itself and on public facts alone, and its norm is at most ``norm``.
        - An undeclared value has no place (zeros), a missing number counts as declared or as the middle; a
          row without a declared target adds nothing.

    Example:
        >>> import polars as pl
        >>> from mahrem.table import ColumnDeclaration
        >>> age, ill = ColumnDeclaration(lower=0, upper=100), ColumnDeclaration(categories=("no", "yes"))
        >>> facts = Facts(columns={"age": age, "ill": ill})
        >>> encode = PublicRows(facts=facts, features=("age",), target="ill", norm=9.0)
        >>> rows, target = encode(pl.DataFrame({"age": [50, 900], "ill": ["yes", "who knows"]}))
        >>> rows.tolist(), target.tolist()
        ([[0.5, 1.0], [0.0, 0.0]], [1.0, nan])
    """

    facts: Facts = field(repr=False)
    features: tuple[str, ...]
    target: str
    norm: float = 1.0
    intercept: bool = True

    def __post_init__(self) -> None:
        if self.target in self.features:
            raise InvalidParameter(f"target={self.target!r} is among the features")
        check.above_zero(norm=self.norm)
        refuse_undeclared(self.facts, [*self._inputs.features, self.target])

    @property
    def _inputs(self) -> PublicInputs:
        return PublicInputs(facts=self.facts, features=self.features, low=0.0)

    @property
    def names(self) -> tuple[str, ...]:
        """What each entry of a row is."""
        return (*self._inputs.names, *(["(constant)"] if self.intercept else []))

    @property
    def width(self) -> int:
        """Entries of a row."""
        return len(self.names)

    def __call__(self, table: object) -> tuple[Floats, Floats]:
        """Read a table: ``(n, width)`` rows and ``(n,)`` targets (NaN where none is declared)."""
        cells = public_cells(table, self.facts, [*self.features, self.target])
        target = cells[self.target]
        rows = self._rows(cells)
        rows[np.isnan(target)] = 0.0
        return rows, target

    def rows(self, table: object) -> Floats:
        """Read the features alone, to predict."""
        return self._rows(public_cells(table, self.facts, list(self.features)))

    def _rows(self, cells: Mapping[str, Floats]) -> Floats:
        shares = self._inputs.of_cells(cells)
        constant = np.ones((len(shares), int(self.intercept)))
        return clip_rows(np.hstack([shares, constant]), self.norm)


def given_rows(X: object, y: object, classes: Sequence[object], norm: float) -> tuple[Floats, Integers]:
    """Clip rows and number labels; a label that is not declared becomes -1 and its row zero."""
    codes = label_codes(y, classes)
    clipped = clip_rows(given_numbers(X, "X"), norm)
    clipped[codes < 0] = 0.0
    return clipped, codes
