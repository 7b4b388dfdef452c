"""The columns that all tables share where rules are learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.learning.rules import put_into_bins
from mahrem.table import Reading
from mahrem.table.cells.alone import TEXT_OF_MIDNIGHT, number_alone, place_alone, text_alone


@dataclass(frozen=True, kw_only=True)
class RulesSchema:
    """The columns all tables share, the one to predict, where numbers are cut, and which values there are.

    Args:
        columns: The columns to learn from.
        target: The column to predict.
        bins: Where columns of numbers are cut.
        values: The cells that were agreed on, by column; classes under the target. A client whose table shows
            others does not take part unless its owner says so (:func:`check_table`).

    Example:
        >>> schema = RulesSchema(columns=("age", "sex"), target="ill", bins={"age": (40,)})
        >>> frame = pl.DataFrame({"id": [1, 2], "age": ["31", "52"], "sex": ["f", "m"], "ill": ["no", "yes"]})
        >>> schema.cells(frame).rows()
        [('< 40', 'f', 'no'), ('>= 40', 'm', 'yes')]
    """

    columns: tuple[str, ...]
    target: str
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.columns or len({*self.columns, self.target}) != len(self.columns) + 1:
            raise InvalidParameter(
                f"columns={len(self.columns)}: name each once, at least one, and the target apart"
            )
        check.columns_exist(self.bins, self.columns)
        bins = {name: tuple(check.finite(cut=cut) for cut in cuts) for name, cuts in self.bins.items()}
        for name, cuts in bins.items():
            if list(cuts) != sorted(set(cuts)):
                raise InvalidParameter(f"bins of {name!r} must rise")
        object.__setattr__(self, "bins", bins)
        check.columns_exist(self.values, (*self.columns, self.target))
        values = {name: tuple(map(str, cells)) for name, cells in self.values.items()}
        object.__setattr__(self, "values", values)
        for name in values:
            if name in bins:
                raise InvalidParameter(f"values of {name!r}: it is cut into bins, which say it all")

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> RulesSchema:
        """Read what :meth:`as_table` gave.

        Raises:
            InvalidParameter: If a key is none of the schema's.
        """
        check.unknown_keys(table, ("columns", "target", "bins", "values"), where="table")
        return cls(
            columns=tuple(table["columns"]),
            target=table["target"],
            bins=table.get("bins", {}),
            values=table.get("values", {}),
        )

    def as_table(self) -> dict[str, Any]:
        """Give it as a table of a federation file; without bins or values there is no word of them."""
        bins = {name: [float(cut) for cut in cuts] for name, cuts in self.bins.items()}
        values = {name: list(cells) for name, cells in self.values.items()}
        more = {"bins": bins, "values": values}
        return {
            "columns": list(self.columns),
            "target": self.target,
            **{name: held for name, held in more.items() if held},
        }

    def cells(self, frame: pl.DataFrame, reading: Reading | None = None) -> pl.DataFrame:
        """Give the agreed columns of a table with numbers in bins; nothing else of it is used.

        Each cell is read by itself, so tables of one federation agree on what it says: 3 and 3.0 are one.

        Args:
            frame: The table.
            reading: How it was read; with ``by_cell`` what is no number in a column with bins is missing.

        Raises:
            ColumnNotFound: If one is missing.
            InvalidInput: If a column with bins holds something else than numbers, and it may be told.
        """
        reading = reading or Reading()
        for name in (*self.columns, self.target):
            if name not in frame.columns:
                raise ColumnNotFound(name, frame.columns)
        kinds = frame.schema
        chosen = frame.select(
            number_alone(name, kinds[name], reading.decimal)
            if name in self.bins
            else self._named(name, kinds[name])
            for name in (*self.columns, self.target)
        )
        if not self.bins:
            return chosen
        lost = sum(chosen[name].null_count() - frame[name].null_count() for name in self.bins)
        if lost and not reading.by_cell:
            raise InvalidInput("a column that is cut into bins holds cells that are no numbers")
        return chosen.with_columns(
            put_into_bins(chosen[name], np.asarray(cuts, np.float64)) for name, cuts in self.bins.items()
        )

    def _named(self, name: str, kind: pl.DataType) -> pl.Expr:
        """Write cells as text; a value that was agreed on as it was agreed, in whatever form it came."""
        agreed, plain = self.values.get(name), _plain(text_alone(name, kind))
        if not agreed:
            return plain
        names = dict(enumerate(agreed))
        place = place_alone(name, kind, tuple(agreed))
        written = place.replace_strict(names, default=None, return_dtype=pl.String)
        return pl.coalesce(written, plain).alias(name)


def _plain(text: pl.Expr) -> pl.Expr:
    """Write whole numbers, days and truths alike, whoever wrote the file; codes as 007 stay as they are."""
    lower = text.str.to_lowercase()
    whole = text.str.replace(r"^(-?[0-9]+)\.0+$", "$1").str.replace(TEXT_OF_MIDNIGHT, "$1")
    return pl.when(lower.is_in(["true", "false"])).then(lower).otherwise(whole)
