"""Rules of a federation, asked about rows by somebody who wants to know who was in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks import Finding
from mahrem.attacks.on_models import Examples, LossThreshold
from mahrem.errors import InvalidInput, either
from mahrem.federated.rules import RulesSchema
from mahrem.learning.rules import RuleList, as_cells
from mahrem.table import Kind, read_kind
from mahrem.types import Floats, Integers


def read_rules(home: Path) -> RuleList:
    """Read the rules of a run.

    Raises:
        InvalidInput: If they cannot be read.
    """
    try:
        return RuleList.from_json((home / "model.json").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"model.json cannot be read ({type(error).__name__})") from None


def members_of_rules(model: RuleList, target: str, members: pl.DataFrame, others: pl.DataFrame) -> Finding:
    """Tell rows that rules were learnt from by what the rules say of them."""
    schema = RulesSchema(columns=model.columns, target=target, bins=_cuts(model, members))
    inside, outside = (as_cells(schema.cells(frame)) for frame in (members, others))
    asked = _AskedRules(model, pl.concat([inside, outside]).select(model.columns))
    labels = [cells[schema.target].to_numpy() for cells in (inside, outside)]
    return LossThreshold(classes=model.classes)(
        asked,
        Examples(asked.codes[: inside.height], labels[0]),
        Examples(asked.codes[inside.height :], labels[1]),
    )


def accuracy_of_rules(model: RuleList, target: str, frame: pl.DataFrame) -> float:
    """Give the share of rows that the rules are right about."""
    return float((model.predict(frame) == as_cells(frame)[target].to_numpy()).mean())


def target_of(model: RuleList, frame: pl.DataFrame) -> str:
    """Find the column that the rules foretell: the list of rules names its classes, not the column.

    Raises:
        InvalidInput: If no column can be it, or several.
    """
    check.columns_exist(model.columns, frame.columns)
    candidates = [
        name
        for name in frame.columns
        if name not in model.columns and set(frame[name].cast(pl.String).drop_nulls()) <= set(model.classes)
    ]
    if len(candidates) != 1:
        raise InvalidInput(
            f"{either('members', '--original')}: {len(candidates)} columns hold nothing but classes of the "
            f"rules; one must, besides the columns they speak of: leave the others out of the table"
        )
    return candidates[0]


def _cuts(model: RuleList, frame: pl.DataFrame) -> dict[str, tuple[float, ...]]:
    """Give where the rules cut columns that hold numbers."""
    return {name: cuts for name, cuts in model.cuts().items() if read_kind(frame[name])[0] is Kind.NUMERIC}


class _AskedRules:
    """Rules that are asked with numbers: the place of each cell among the cells there are."""

    def __init__(self, model: RuleList, cells: pl.DataFrame) -> None:
        self.model = model
        coded = [
            np.unique(cells[name].fill_null("").to_numpy().astype(str), return_inverse=True)
            for name in model.columns
        ]
        self.known = [values for values, _ in coded]
        self.codes = np.column_stack([codes for _, codes in coded])

    def predict_proba(self, rows: Integers) -> Floats:
        cells = {
            name: values[codes]
            for name, values, codes in zip(self.model.columns, self.known, np.asarray(rows).T, strict=True)
        }
        return self.model.shares()[self.model.first(pl.DataFrame(cells))]
