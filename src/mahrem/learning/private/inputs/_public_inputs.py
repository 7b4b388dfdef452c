"""Inputs of a network from a table, by public facts alone: nothing about the columns is learnt from rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.dp import Facts, cells_of, public_cells, refuse_undeclared, unit_numbers
from mahrem.errors import InvalidParameter
from mahrem.learning.private.inputs._given_values import given_numbers
from mahrem.table import ColumnDeclaration, Reading, Source
from mahrem.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class PublicInputs:
    """How columns become numbers: bounds to ``[low, 1]``, declared values to one place each.

    Args:
        facts: What is public.
        features: The columns to learn from, in this order.
        low: What the lower bound becomes: -1, or 0.

    Guarantees:
        - Each row depends on itself and on public facts alone; no cell can make it fail.
        - A missing number without a declared value counts as the middle, an undeclared value as none.

    Example:
        >>> import polars as pl
        >>> from mahrem.table import ColumnDeclaration
        >>> age, sex = ColumnDeclaration(lower=0, upper=100), ColumnDeclaration(categories=("f", "m"))
        >>> inputs = PublicInputs(facts=Facts(columns={"age": age, "sex": sex}), features=("age", "sex"))
        >>> inputs(pl.DataFrame({"age": [75, None], "sex": ["m", "x"]})).tolist()
        [[0.5, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    facts: Facts = field(repr=False)
    features: tuple[str, ...]
    low: float = -1.0

    def __post_init__(self) -> None:
        if not self.features or len(set(self.features)) != len(self.features):
            raise InvalidParameter("features must be different columns, at least one")
        refuse_undeclared(self.facts, self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """What each number is."""
        names: list[str] = []
        for name in self.features:
            values = self.facts.columns[name].categories
            names += [name] if values is None else [f"{name}={value}" for value in values]
        return tuple(names)

    @property
    def widths(self) -> tuple[int, ...]:
        """How many numbers each feature becomes."""
        known = [self.facts.columns[name].categories for name in self.features]
        return tuple(1 if values is None else len(values) for values in known)

    def __call__(self, table: object, reading: Reading | None = None) -> Floats:
        """Read the features of a table: ``(n, width)``."""
        return self.of_cells(public_cells(table, self.facts, self.features, reading=reading)).astype(
            np.float32
        )

    def of_cells(self, cells: Mapping[str, Floats]) -> Floats:
        """Give the features of cells that were read already."""
        return np.hstack([self._block(name, cells[name]) for name in self.features])

    def _block(self, name: str, cells: Floats) -> Floats:
        values = self.facts.columns[name].categories
        if values is None:
            return (self.low + (1 - self.low) * np.where(np.isnan(cells), 0.5, cells))[:, None]
        return np.asarray(cells[:, None] == np.arange(len(values))[None, :], dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data: public facts only."""
        known = {name: self.facts.columns[name].as_dict() for name in self.features}
        return {"features": list(self.features), "columns": known, "low": self.low}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PublicInputs:
        """Read what :meth:`as_dict` gave."""
        columns = {name: ColumnDeclaration.from_dict(known) for name, known in plain["columns"].items()}
        return cls(facts=Facts(columns=columns), features=tuple(plain["features"]), low=plain["low"])


def read_rows(
    source: Source, inputs: PublicInputs, target: str | None, subject: str | None
) -> tuple[Floats, Floats | None, Integers | None]:
    """Read features, target and whose row it is, all in one go.

    A database has no order of its own: asked twice, it may give the target or the person of another row.
    """
    columns = [*inputs.features, *([] if target is None else [target])]
    source.take(list(dict.fromkeys([*columns, *([] if subject is None else [subject])])))  # kept from now on
    cells = cells_of(source, inputs.facts, columns)
    units = None if subject is None else unit_numbers(source.take([subject]), subject)
    return inputs.of_cells(cells).astype(np.float32), None if target is None else cells[target], units


def declared_features(facts: Facts, target: str | None, features: Sequence[str] | None) -> tuple[str, ...]:
    """Give the columns to learn from: those named, or every declared one but the target."""
    if features is not None:
        if target is not None and target in features:
            raise InvalidParameter(f"target={target!r} is among the features")
        return tuple(features)
    columns = tuple(
        name
        for name, known in facts.columns.items()
        if name != target and (known.categories is not None or known.bounded)
    )
    if not columns:
        raise InvalidParameter(
            "features: the ledger declares no column to learn from; declare bounds or categories with it"
        )
    return columns


def quiet_floats(rows: object) -> Floats:
    """Read rows as numbers of single precision; a warning would tell that one of them is out of range."""
    numbers = rows if _is_numeric(rows) else given_numbers(rows, "X")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(numbers, dtype=np.float32)


def _is_numeric(rows: object) -> bool:
    return hasattr(rows, "__array__") and np.asarray(rows).dtype.kind in "biuf"


def shaped_rows(rows: Floats, shape: Sequence[int] | None) -> Floats:
    """Give every row a shape; None leaves it as it is."""
    if shape is None:
        return rows
    if math.prod(shape) != math.prod(rows.shape[1:]):
        raise InvalidParameter(
            f"shape={tuple(shape)} must hold the {math.prod(rows.shape[1:])} numbers of a row"
        )
    return rows.reshape(len(rows), *shape)
