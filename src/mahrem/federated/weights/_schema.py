"""What silos agree on before anybody learns: columns, their ranges and values, the classes, the trees."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.learning.classifiers import DeclaredEncoder, DeclaredNumbers, DeclaredWords
from mahrem.table import Hierarchy, Kind, read_kind
from mahrem.table.cells.alone import place_alone, text_alone
from mahrem.types import Floats, Integers

MOST_CLASSES = 50
MOST_WORDS = 1_000
SKEWED = 0.05  # a mean this low within its bounds is read by the logarithm


@dataclass(frozen=True, kw_only=True)
class SharedSchema:
    """The public schema of a federation; models of all silos have the same shape because of it.

    Args:
        columns: What is agreed of each column to learn from.
        target: The column to predict.
        classes: Its values, the positive one last.
        hierarchies: Trees of columns whose nodes silos may publish.

    Guarantees:
        - Nothing but the schema and the row itself decides how a row is encoded.

    Example:
        >>> agreed = {"age": DeclaredNumbers(lower=0, upper=99)}
        >>> schema = SharedSchema(columns=agreed, target="ill", classes=("n", "y"))
        >>> schema.labels(pl.DataFrame({"ill": ["y", "n", "?"]})).tolist(), schema.encoder.width
        ([1, 0, -1], 10)
    """

    columns: Mapping[str, DeclaredNumbers | DeclaredWords] = field(repr=False)
    target: str
    classes: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(str(name) for name in self.classes))
        if not 2 <= len(set(self.classes)) == len(self.classes) <= MOST_CLASSES:
            raise InvalidParameter(
                f"classes={len(self.classes)}: rows must have 2 to {MOST_CLASSES} different ones; group rare "
                "ones, or learn from more rows"
            )
        if self.target in self.columns:
            raise InvalidParameter(f"target={self.target!r} is among the columns to learn from")
        check.columns_exist(self.hierarchies, list(self.columns))
        self.encoder  # noqa: B018 - refuses a schema without columns

    @property
    def encoder(self) -> DeclaredEncoder:
        """How rows become numbers."""
        return DeclaredEncoder(columns=self.columns, hierarchies=self.hierarchies)

    def refuse_one_value_twice(self) -> None:
        """Refuse values that are one if a column is read as numbers, truths or days, for who adds noise."""
        from mahrem.dp import refuse_one_value_twice

        refuse_one_value_twice(self.target, self.classes)
        for name, column in self.columns.items():
            if isinstance(column, DeclaredWords):
                refuse_one_value_twice(name, self._values_of(name, column))

    def _values_of(self, name: str, column: DeclaredWords) -> tuple[str, ...]:
        leaves = self.hierarchies[name].labels[0] if name in self.hierarchies else ()
        return tuple(dict.fromkeys([*column.values, *leaves]))

    def labels(self, frame: pl.DataFrame) -> Integers:
        """Number the classes of rows, -1 for one that was not agreed on."""
        if self.target not in frame.columns:
            raise InvalidInput(f"target={self.target!r} is not a column of this table")
        return number_classes(frame[self.target], self.classes)

    def rows(self, frame: pl.DataFrame, cells: Sequence[str] = ()) -> tuple[Floats, Integers]:
        """Give rows as numbers with their classes; those of no agreed class are left out."""
        check.columns_exist(self.columns, frame.columns)
        labels = self.labels(frame)
        return self.encoder(frame, cells)[labels >= 0], labels[labels >= 0]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "target": self.target,
            "classes": list(self.classes),
            "columns": {name: asdict(column) for name, column in self.columns.items()},
            "hierarchies": {
                name: [list(row) for row in tree.rows()] for name, tree in self.hierarchies.items()
            },
        }

    def as_table(self) -> dict[str, Any]:
        """Give it as a table of a TOML file, where what is None is left out."""
        plain = self.as_dict()
        columns = {
            name: {key: value for key, value in column.items() if value is not None}
            for name, column in plain["columns"].items()
        }
        trees = {"hierarchies": plain["hierarchies"]} if plain["hierarchies"] else {}
        return {"target": plain["target"], "classes": plain["classes"], "columns": columns, **trees}

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> SharedSchema:
        """Read what :meth:`as_table` gave.

        Raises:
            InvalidInput: If something is missing or of another kind.
        """
        check.unknown_keys(table, ("target", "classes", "columns", "hierarchies"), where="schema")
        try:
            return cls.from_dict(table)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"schema: something is missing or of another kind ({error})") from None

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SharedSchema:
        """Read what :meth:`as_dict` gave."""
        columns = {name: _column(known) for name, known in plain["columns"].items()}
        trees = {
            name: Hierarchy.from_rows([tuple(row) for row in rows], name=name)
            for name, rows in plain.get("hierarchies", {}).items()
        }
        return cls(
            columns=columns, target=plain["target"], classes=tuple(plain["classes"]), hierarchies=trees
        )

    def fingerprint(self) -> str:
        """Give a short name that changes with anything that was agreed on."""
        text = json.dumps(self.as_dict(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _column(known: Mapping[str, Any]) -> DeclaredNumbers | DeclaredWords:
    if "values" in known:
        weights = known.get("weights")
        return DeclaredWords(
            values=tuple(known["values"]), weights=None if weights is None else tuple(weights)
        )
    return DeclaredNumbers(**known)


def number_classes(column: pl.Series, classes: Sequence[str]) -> Integers:
    """Number the classes of a column, each cell by itself; -1 for one that was not agreed on."""
    place = place_alone(column.name, column.dtype, tuple(classes), as_written=True).fill_null(-1)
    codes: Integers = column.to_frame().select(place).to_series().to_numpy()
    return codes


def propose_schema(
    frame: pl.DataFrame,
    target: str,
    columns: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> SharedSchema:
    """Propose a schema from rows that are public, or in a simulation.

    Bounds and values are those of the rows given: a real federation writes them down from what everybody
    knows, because the smallest and largest value of a private table are somebody's.

    Args:
        frame: The rows.
        target: The column to predict.
        columns: The columns to learn from; all others by default.
        hierarchies: Trees to agree on as well.

    Example:
        >>> rows = pl.DataFrame({"age": [20, 60], "sex": ["f", "m"], "ill": ["n", "y"]})
        >>> schema = propose_schema(rows, "ill")
        >>> schema.classes, schema.columns["sex"].values, schema.columns["age"].upper
        (('n', 'y'), ('f', 'm'), 60.0)
    """
    check.columns_exist([target, *(columns or ())], frame.columns)
    names = [name for name in columns or frame.columns if name != target]
    proposed = {name: _proposed(frame[name]) for name in names}
    classes = words_of(frame[target])
    trees = {name: tree for name, tree in (hierarchies or {}).items() if name in proposed}
    kept = {name: column for name, column in proposed.items() if column is not None}
    return SharedSchema(columns=kept, target=target, classes=tuple(classes), hierarchies=trees)


def words_of(column: pl.Series) -> list[str]:
    """Name the values of a column, sorted, as cells that are read by themselves are compared with them."""
    text = column.to_frame().select(text_alone(column.name, column.dtype)).to_series()
    return text.drop_nulls().unique().sort().to_list()


def _proposed(series: pl.Series) -> DeclaredNumbers | DeclaredWords | None:
    """Propose how a column is read; None for one that says nothing (constant numbers, no value)."""
    if read_kind(series)[0] is Kind.NUMERIC:
        values = series.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
        values = values[np.isfinite(values)]
        if not len(values) or values.min() == values.max():
            return None
        low, high = float(values.min()), float(values.max())
        return DeclaredNumbers(lower=low, upper=high, log=bool(values.mean() - low < SKEWED * (high - low)))
    words = words_of(series)
    if len(words) > MOST_WORDS:
        raise InvalidParameter(
            f"column={series.name!r} has {len(words)} values; at most {MOST_WORDS} get a place: group them, "
            "or leave the column out"
        )
    return DeclaredWords(values=tuple(words)) if words else None
