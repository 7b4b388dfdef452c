"""A classifier that is a list of rules: the first one that matches decides, else the default class."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from mahrem.arrays.mining import ItemMatrix, first_match
from mahrem.errors import InvalidInput
from mahrem.learning.rules._bins import put_into_bins
from mahrem.learning.rules._items import Items, as_cells, covered_bits
from mahrem.table import Hierarchy
from mahrem.types import Floats, Integers

ROUNDING = 1e-9  # of figures that were merged
_BIN = re.compile(r"< (\S+)|>= (\S+)|(\S+) \.\. (\S+)")  # how bins of numbers are written


@dataclass(frozen=True)
class Rule:
    """If a row shows all cells of the left side, it has this class."""

    left: tuple[tuple[str, str], ...]  # (column, cell) in the table's order of columns
    right: str
    support: float  # share of all rows that show left side and class
    confidence: float  # share of the left side's rows that have the class
    counts: tuple[int, ...] | None = None  # rows of each class that show the left side, where known

    def __str__(self) -> str:
        parts = " and ".join(f"{column} = {cell}" for column, cell in self.left)
        figures = f"(support {self.support:.4f}, confidence {self.confidence:.4f})"
        return f"if {parts} then {self.right}  {figures}"

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        plain: dict[str, object] = {
            "if": [list(pair) for pair in self.left],
            "then": self.right,
            "support": self.support,
            "confidence": self.confidence,
        }
        return plain if self.counts is None else {**plain, "counts": list(self.counts)}


@dataclass(frozen=True)
class RuleList:
    """Rules in order, best first, and what is said where none matches."""

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    rules: tuple[Rule, ...] = field(repr=False)
    default: str
    rows: int  # that it was learnt from
    rest: tuple[int, ...] | None = None  # rows of each class behind the default

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        lines = [f"{place:3d}. {rule}" for place, rule in enumerate(self.rules, 1)]
        return "\n".join([*lines, f"     else {self.default}"])

    def first(self, cells: pl.DataFrame, hierarchies: Mapping[str, Hierarchy] | None = None) -> Integers:
        """Give for each row the number of the first rule that matches; the number of rules for the default.

        Args:
            cells: The rows as text; columns that no rule speaks of may be missing.
            hierarchies: Trees of columns whose cells are nodes.
        """
        items, left = item_matrix(self)
        numbers = first_match(covered_bits(cells, items, hierarchies), left)
        return numbers.astype(np.int64)

    def decide(self, first: Integers) -> Integers:
        """Give the class, as a number, that the first matching rules say."""
        place = {label: number for number, label in enumerate(self.classes)}
        answers = [place[rule.right] for rule in self.rules]
        decided: Integers = np.array([*answers, place[self.default]], np.int64)[first]
        return decided

    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Read off the rules where columns of numbers are cut into bins, as far as rules speak of them."""
        cuts: dict[str, set[float]] = {}
        for name, cell in (pair for rule in self.rules for pair in rule.left):
            if (written := _BIN.fullmatch(cell)) is not None:
                cuts.setdefault(name, set()).update(float(end) for end in written.groups() if end is not None)
        return {name: tuple(sorted(ends)) for name, ends in cuts.items()}

    def cells(self, table: object) -> pl.DataFrame:
        """Give rows as the cells that rules speak of: numbers in their bins, everything else as it is.

        Raises:
            ColumnNotFound: If a column is missing that a rule speaks of.
        """
        spoken = {name for rule in self.rules for name, _ in rule.left}
        names = [name for name in self.columns if name in spoken]
        if not names:  # the default decides; only the number of rows counts
            return as_cells(table)
        cells = as_cells(table, names)
        for name, ends in self.cuts().items():
            numbers = cells[name].cast(pl.Float64, strict=False)
            binned = put_into_bins(numbers, np.array(ends))
            cells = cells.with_columns(binned.zip_with(binned.is_not_null(), cells[name]))
        return cells

    def predict(self, table: object) -> Any:
        """Name the class of rows of a frame, as they are; ``(n,)``.

        Example:
            >>> rule = Rule((("age", "< 40"),), "well", 0.5, 1.0)
            >>> rules = RuleList(("age", "sex"), ("ill", "well"), (rule,), "ill", 10)
            >>> rules.predict(pl.DataFrame({"age": [30, 50]})).tolist()
            ['well', 'ill']
        """
        return np.array(self.classes)[self.decide(self.first(self.cells(table)))]

    def predict_proba(self, table: object) -> Floats:
        """Give ``(n, classes)`` how likely each class is of rows of a frame, as they are."""
        likely: Floats = self.shares()[self.first(self.cells(table))]
        return likely

    def shares(self) -> Floats:
        """Give ``(rules + 1, classes)`` how likely each class is under each rule, the default last.

        Where the rows of each class are known they say it; else what the confidence leaves is shared evenly.
        """
        counts = [rule.counts for rule in self.rules] + [self.rest]
        sure = [(rule.right, rule.confidence) for rule in self.rules] + [(self.default, 1.0)]
        return np.array([self._share(*pair) for pair in zip(counts, sure, strict=True)])

    def _share(self, counts: tuple[int, ...] | None, sure: tuple[str, float]) -> list[float]:
        if counts is not None and sum(counts) > 0:
            return [count / sum(counts) for count in counts]
        label, confidence = sure
        if len(self.classes) == 1:
            return [1.0]
        others = (1.0 - confidence) / max(1, len(self.classes) - 1)
        return [confidence if name == label else others for name in self.classes]

    def bare(self) -> RuleList:
        """Give the same rules without counts by class: support, confidence and the number of rows stay."""
        return replace(self, rules=tuple(replace(rule, counts=None) for rule in self.rules), rest=None)

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {
            "columns": list(self.columns),
            "classes": list(self.classes),
            "rules": [rule.as_dict() for rule in self.rules],
            "default": self.default,
            "rows": self.rows,
            "rest": None if self.rest is None else list(self.rest),
        }

    def to_json(self) -> str:
        """Write the classifier as JSON; :meth:`from_json` reads it."""
        return json.dumps(self.as_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> RuleList:
        """Read a classifier that :meth:`to_json` wrote.

        Raises:
            InvalidInput: If the text is none, or says what cannot be: a support or a confidence outside
                [0, 1], a class or a column that is not listed, the same rule twice.
        """
        try:
            content = json.loads(text)
            rules = tuple(_read_rule(entry) for entry in content["rules"])
            rest = None if content["rest"] is None else tuple(int(count) for count in content["rest"])
            columns, classes = (tuple(map(str, content[name])) for name in ("columns", "classes"))
            read = cls(columns, classes, rules, str(content["default"]), content["rows"], rest)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"rules={len(text)} characters must be a list of rules as JSON ({type(error).__name__})"
            ) from None
        read.check()
        return read

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            InvalidInput: See :meth:`from_json`.
        """
        if not isinstance(self.rows, int) or isinstance(self.rows, bool) or self.rows < 0:
            raise InvalidInput("rows must be a whole number, at least 0")
        if len({(frozenset(rule.left), rule.right) for rule in self.rules}) < len(self.rules):
            raise InvalidInput(
                f"rules={len(self.rules)}: one of them comes twice, its rows would count twice"
            )
        behind = [*(rule.counts for rule in self.rules), self.rest]
        if any(held is not None and (len(held) != len(self.classes) or min(held) < 0) for held in behind):
            raise InvalidInput(f"classes={len(self.classes)}: counts must be one for each class, at least 0")
        if self.default not in self.classes or not set(self._named()) <= set(self.classes):
            raise InvalidInput(f"classes={len(self.classes)}: a rule or the default says another class")
        for number, rule in enumerate(self.rules, 1):
            named = {column for column, _ in rule.left}
            if not rule.left or not named <= set(self.columns) or len(named) < len(rule.left):
                raise InvalidInput(
                    f"rule={number} has no left side, a column that is not listed, or one column twice"
                )
            if not 0 <= rule.support <= rule.confidence + ROUNDING or not rule.confidence <= 1 + ROUNDING:
                raise InvalidInput(
                    f"rule={number} must have 0 <= support <= confidence <= 1; "
                    f"no rule covers more rows than there are"
                )

    def _named(self) -> list[str]:
        return [rule.right for rule in self.rules]


def _read_rule(entry: Mapping[str, Any]) -> Rule:
    counts = entry.get("counts")
    return Rule(
        tuple((str(column), str(cell)) for column, cell in entry["if"]),
        str(entry["then"]),
        float(entry["support"]),
        float(entry["confidence"]),
        None if counts is None else tuple(int(count) for count in counts),
    )


def item_matrix(rules: RuleList | Sequence[Rule], columns: Sequence[str] = ()) -> tuple[Items, ItemMatrix]:
    """Number the items that rules speak of, and give their left sides as rows of items."""
    names = rules.columns if isinstance(rules, RuleList) else tuple(columns)
    listed = rules.rules if isinstance(rules, RuleList) else rules
    place = {name: number for number, name in enumerate(names)}
    sides = [sorted((place[column], cell) for column, cell in rule.left) for rule in listed]
    pairs = sorted({pair for side in sides for pair in side})
    number = {pair: item for item, pair in enumerate(pairs)}
    left = np.full((len(listed), max(map(len, sides), default=0)), -1, np.int32)
    for row, side in enumerate(sides):
        left[row, : len(side)] = [number[pair] for pair in side]
    used = sorted({column for column, _ in pairs})
    at = {column: position for position, column in enumerate(used)}
    items = Items(
        tuple(names[column] for column in used),
        np.array([at[column] for column, _ in pairs], np.int32),
        tuple(cell for _, cell in pairs),
    )
    return items, left
