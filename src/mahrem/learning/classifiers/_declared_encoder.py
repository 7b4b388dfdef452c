"""How published cells become numbers by a schema that was agreed on: no row decides, so shapes are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers._feature_cells import distinct_cells, ends_alone, missing_cells
from mahrem.learning.classifiers._features import _numbers, _Words
from mahrem.table import ColumnDeclaration, Hierarchy
from mahrem.table.cells import SUPPRESSED, write_labels
from mahrem.table.cells.alone import place_alone, text_alone, value_alone
from mahrem.types import Floats

_ANY = pl.Series([SUPPRESSED])


@dataclass(frozen=True, kw_only=True)
class DeclaredNumbers:
    """A column of numbers as everybody agreed to read it.

    Args:
        lower: Values below count as this.
        upper: Values above count as this.
        log: Scale by the logarithm of the distance from ``lower``: for amounts that are mostly small.
        cuts: Places inside the bounds; 8 of equal distance by default (after the logarithm with ``log``).
    """

    lower: float
    upper: float
    log: bool = False
    cuts: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        known = ColumnDeclaration(lower=self.lower, upper=self.upper)
        object.__setattr__(self, "lower", known.lower)
        object.__setattr__(self, "upper", known.upper)
        places = self.cuts if self.cuts is not None else self._unscaled(np.linspace(0, 1, 10)[1:-1])
        cuts = tuple(float(place) for place in places)
        if any(not self.lower < cut < self.upper for cut in cuts) or list(cuts) != sorted(set(cuts)):
            raise InvalidParameter("cuts must rise and lie inside the bounds")
        object.__setattr__(self, "cuts", cuts)

    @property
    def width(self) -> int:
        """How many numbers a cell becomes."""
        return 2 + len(self.cuts or ())

    def _scaled(self, values: Floats) -> Floats:
        inside = np.clip(values, self.lower, self.upper) - self.lower
        span = self.upper - self.lower
        return np.log1p(inside) / np.log1p(span) if self.log else inside / span

    def _unscaled(self, shares: Floats) -> Floats:
        span = self.upper - self.lower
        return self.lower + (np.expm1(shares * np.log1p(span)) if self.log else shares * span)

    def block(self, cells: pl.Series, tree: Hierarchy | None = None) -> Floats:
        """Give the middle in [-1, 1], whether it is missing, and the share of the cell above each cut."""
        low, high, middle = _numbers(cells, tree, ends_alone)
        missing, dark = missing_cells(cells), np.isnan(low)
        low, high = np.where(dark, self.lower, low), np.where(dark, self.upper, high)
        cuts = np.asarray(self.cuts)[None, :]
        reach = np.where(high > low, high - low, 1.0)[:, None]  # a single number lies above a cut, or not
        above = np.where(low[:, None] >= cuts, 1.0, np.clip((high[:, None] - cuts) / reach, 0.0, 1.0))
        scaled = np.where(dark, 0.0, 2 * self._scaled(np.where(dark, self.lower, middle)) - 1)
        return np.column_stack([scaled, missing, np.where(missing[:, None], 0.0, above)])


@dataclass(frozen=True, kw_only=True)
class DeclaredWords:
    """A column of words as everybody agreed to read it: one place for each value, one for what is missing.

    Values are told apart as they are written (1.1 and 1.10), so who pays for noise refuses such as are one.

    Args:
        values: The values there may be.
        weights: How often they occur, if that is public: sets are shared out by it; equally by default.
    """

    values: tuple[str, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", ColumnDeclaration(categories=self.values).categories)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
            if len(self.weights) != len(self.values) or not all(
                0 < weight < np.inf for weight in self.weights
            ):
                raise InvalidParameter("weights must be as many as the values and above 0")

    @property
    def width(self) -> int:
        """How many numbers a cell becomes."""
        return len(self.values) + 1

    def named(self, cells: pl.Series) -> pl.Series:
        """Give cells as text; a declared value as it was declared, whatever its column has."""
        name, kind = cells.name, cells.dtype
        read = cells.to_frame().select(
            place_alone(name, kind, self.values, as_written=True).alias("place"),
            value_alone(name, kind).alias("value"),
            text_alone(name, kind).alias("text"),
        )
        declared = pl.Series(self.values).gather(read["place"])
        others = read.select(pl.when(pl.col("value").is_not_null()).then("text")).to_series()
        return declared.zip_with(read["place"].is_not_null(), others)

    def untouched(self, texts: pl.Series, tree: Hierarchy | None = None) -> pl.Series:
        """Write values that nobody coarsened as cells: 3 and 3.0 are one, an undeclared one is ``*``."""
        leaves = () if tree is None else tree.labels[0]
        labels = pl.Series([*self.values, *(leaf for leaf in leaves if leaf not in self.values)])
        place = place_alone("text", pl.String(), tuple(labels), as_written=True)
        positions = texts.to_frame("text").select(place).to_series()
        return write_labels(labels.gather(positions)).zip_with(
            positions.is_not_null() | texts.is_null(), _ANY
        )

    def block(self, cells: pl.Series, tree: Hierarchy | None = None) -> Floats:
        """Give the share of each value in each cell; a value that nobody declared is shared out as ``*``."""
        labels = self.values if tree is None else tuple(tree.labels[0])
        weight = np.array(self.weights or np.ones(len(self.values)))
        known = dict(zip(self.values, weight, strict=True))
        frequency = np.array([*(known.get(label, 0.0) for label in labels), 1e-9])
        place = {label: number for number, label in enumerate(labels)}
        kept = np.array([*(place.get(value, -1) for value in self.values), len(labels)])
        return _Words(labels, tree, frequency, kept).block(cells)[1][:, : self.width]


@dataclass(frozen=True, kw_only=True)
class DeclaredEncoder:
    """Published or untouched rows as numbers, by agreed facts alone.

    Args:
        columns: What is agreed of each column, in this order.
        hierarchies: Trees of columns that show nodes.

    Guarantees:
        - Every table has the same width, and a row depends on itself and on what was agreed alone: each cell
          is read by itself, whatever type its column came with.
        - An untouched value and a cell that says only this value become the same numbers.
        - The share above a cut never falls when a cell moves up.

    Example:
        >>> age = DeclaredNumbers(lower=0, upper=100, cuts=(50,))
        >>> agreed = {"age": age, "sex": DeclaredWords(values=("f", "m"))}
        >>> encode = DeclaredEncoder(columns=agreed)
        >>> encode(pl.DataFrame({"age": ["[40, 80]", ""], "sex": ["{f, m}", "f"]})).tolist()
        [[0.20000000298023224, 0.0, 0.75, 0.5, 0.5, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]
    """

    columns: Mapping[str, DeclaredNumbers | DeclaredWords] = field(repr=False)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidParameter("columns=0: a model needs at least one column besides the target")

    @property
    def width(self) -> int:
        """How many numbers a row becomes."""
        return sum(column.width for column in self.columns.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What each number is."""
        names: list[str] = []
        for name, column in self.columns.items():
            if isinstance(column, DeclaredWords):
                names += [f"{name}={value}" for value in column.values] + [f"{name} missing"]
            else:
                names += [name, f"{name} missing", *(f"{name}>{cut:g}" for cut in column.cuts or ())]
        return tuple(names)

    def __call__(self, frame: pl.DataFrame, cells: Sequence[str] | None = None) -> Floats:
        """Turn rows into ``(n, width)`` numbers of 32 bits.

        Args:
            frame: The rows.
            cells: Columns of words that hold published cells; words of others are values as they are. All by
                default.
        """
        check.columns_exist(self.columns, frame.columns)
        blocks = []
        for name, column in self.columns.items():
            tree = self.hierarchies.get(name)
            kind = frame.schema[name]
            if isinstance(column, DeclaredNumbers):
                distinct, where = distinct_cells(frame.select(value_alone(name, kind)).to_series())
            else:
                distinct, where = distinct_cells(column.named(frame.select(name).to_series()))
            if cells is not None and name not in cells and isinstance(column, DeclaredWords):
                distinct = column.untouched(distinct, tree)
            blocks.append(column.block(distinct, tree).astype(np.float32)[where])
        return np.hstack(blocks)
