"""Steps of a perturbation: what is changed, by what, and what was done."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.perturbation import PERTURBATIONS, HouseholdSwap, Shuffle
from mahrem.table.cells import as_text, numbers_of_text
from mahrem.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class PerturbationStep:
    """One perturbation of some columns."""

    columns: tuple[str, ...]
    method: str
    perturbation: Any = field(repr=False)  # with its settings
    options: Mapping[str, Any]

    @classmethod
    def of(cls, columns: str, step: str | Mapping[str, object]) -> PerturbationStep:
        """Read ``"noise:share=0.2,kind=correlated"``, or the same as a mapping with its method.

        Example:
            >>> PerturbationStep.of("age,income", "rank-swap:percent=10").options
            {'percent': 10.0}
        """
        names = tuple(name.strip() for name in columns.split(",") if name.strip())
        if not names:
            raise InvalidParameter("steps: name the columns, such as {'income': 'noise'}")
        if isinstance(step, str):
            method, _, rest = step.partition(":")
            pairs = [part.split("=", 1) for part in rest.split(",") if part]
            if any(len(pair) != 2 for pair in pairs):
                raise InvalidParameter(f"steps.{columns}: options are NAME=VALUE, such as 'noise:share=0.2'")
            given: dict[str, object] = {pair[0].strip(): _value(pair[1].strip()) for pair in pairs}
        else:
            given = dict(step)
            method = str(given.pop("method", ""))
        entry = PERTURBATIONS[check.one_of(PERTURBATIONS, method=method.strip())]
        factory = entry.load()
        check.unknown_keys(given, tuple(inspect.signature(factory).parameters), where=f"option of {method}")
        try:
            perturbation = factory(**given)
        except TypeError:
            needed = [
                name
                for name, known in inspect.signature(factory).parameters.items()
                if known.default is known.empty
            ]
            raise InvalidParameter(
                f"steps.{columns}: {method} needs {', '.join(needed) or 'other values'}"
            ) from None
        if entry.takes == "words" and len(names) > 1:
            raise InvalidParameter(f"steps.{columns}: {method} changes one column at a time")
        return cls(columns=names, method=entry.name, perturbation=perturbation, options=given)

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Columns that decide what is changed, published or not."""
        if not isinstance(self.perturbation, HouseholdSwap):
            return ()
        similar = [name.strip() for name in self.perturbation.similar.split("+") if name.strip()]
        return (self.perturbation.household, *similar)

    def __call__(
        self, table: pl.DataFrame, beside: pl.DataFrame, rng: np.random.Generator
    ) -> tuple[pl.DataFrame, dict[str, Any]]:
        """Change a table; also gives what must be published with it.

        Args:
            table: What will be published.
            beside: Columns of the same rows that will not be.
            rng: Draws.
        """
        match PERTURBATIONS[self.method].takes:
            case "numbers":
                return self._numbers(table, rng), {}
            case "words":
                return self._words(table, rng)
            case _:
                return self._households(table, beside, rng), {}

    def _numbers(self, table: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        before = numbers_of(table, self.columns)
        filled = _filled(before)
        if isinstance(self.perturbation, Shuffle):
            others = [
                name for name in table.columns if name not in self.columns and table[name].dtype.is_numeric()
            ]
            changed = self.perturbation(filled, rng, _filled(numbers_of(table, others)) if others else None)
        else:
            changed = self.perturbation(filled, rng)
        changed = np.where(np.isnan(before), np.nan, changed)
        shown = []
        for place, name in enumerate(self.columns):
            known = before[:, place][~np.isnan(before[:, place])]
            series = pl.Series(name, changed[:, place]).fill_nan(None)
            whole = bool((known == np.floor(known)).all()) and bool((np.abs(known) < 2**53).all())
            shown.append(series.round(0).cast(pl.Int64) if whole else series)
        return table.with_columns(shown)

    def _words(self, table: pl.DataFrame, rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, object]]:
        (name,) = self.columns
        text = as_text(table[name])
        words = text.drop_nulls().unique().sort()
        codes = _codes(text)
        matrix = self.perturbation.chances(np.bincount(codes[codes >= 0], minlength=len(words)))
        changed = self.perturbation(codes, matrix, rng)
        shown = words.gather(pl.Series(changed).replace(-1, None)).alias(name)
        return table.with_columns(shown), {"words": words.to_list(), "matrix": matrix.tolist()}

    def _households(
        self, table: pl.DataFrame, beside: pl.DataFrame, rng: np.random.Generator
    ) -> pl.DataFrame:
        swap: HouseholdSwap = self.perturbation
        known = table.hstack(beside)
        check.columns_exist(self.looks_at, known.columns)
        houses = _codes(as_text(known[swap.household]))
        if (houses < 0).any():
            raise InvalidParameter(f"household={swap.household!r} must name a household in every row")
        places = _joint(table, self.columns)
        _refuse_torn(places, houses, self.columns)
        rows = swap(places, houses, _kinds(known, self.looks_at[1:], houses), rng)
        return table.with_columns(table[name].gather(rows).alias(name) for name in self.columns)


def _value(text: str) -> object:
    if text in {"true", "false"}:
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text


def numbers_of(table: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Give columns as numbers, NaN where there is none."""
    numbers = []
    for name in names:
        series = table[name]
        read = numbers_of_text(series) if series.dtype == pl.String else series
        if not read.dtype.is_numeric() or read.null_count() != series.null_count():
            raise InvalidParameter(f"column={name!r} must hold numbers for this; words are changed by 'pram'")
        numbers.append(read.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return np.column_stack(numbers)


def _filled(values: Floats) -> Floats:
    """Put the mean where a value is missing: its row takes part, and shows nothing there afterwards."""
    means = np.array([np.nanmean(column) if not np.isnan(column).all() else 0.0 for column in values.T])
    return np.asarray(np.where(np.isnan(values), means, values))


def _codes(text: pl.Series) -> Integers:
    return (text.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()


def _joint(table: pl.DataFrame, names: Sequence[str]) -> Integers:
    text = pl.DataFrame([as_text(table[name]) for name in names])
    return text.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64) - 1


def _refuse_torn(places: Integers, houses: Integers, columns: Sequence[str]) -> None:
    pairs = np.unique(np.column_stack([houses, places]), axis=0)
    if len(pairs) > int(houses.max(initial=-1)) + 1:
        raise InvalidParameter(f"columns={','.join(columns)} must be the same for all people of a household")


def _kinds(table: pl.DataFrame, similar: Sequence[str], houses: Integers) -> Integers:
    """Number households by how many they are and what their people have in chosen columns."""
    own = _joint(table, similar) if similar else np.zeros(len(houses), np.int64)
    people = pl.DataFrame({"house": houses, "own": own}).group_by("house").agg(pl.col("own").sort())
    kinds = people.with_columns(
        pl.col("own").cast(pl.List(pl.String)).list.join(",").rank("dense").alias("kind")
    )
    lookup = np.zeros(int(houses.max(initial=0)) + 1, np.int64)
    lookup[kinds["house"].to_numpy()] = kinds["kind"].to_numpy().astype(np.int64) - 1
    return lookup[houses]
