"""Check every promise on the published table itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.models import Counts, DeltaPresence, Outcome, Promise, counts_of, judge
from mahrem.table import Column, encode_sensitive
from mahrem.types import Codes, Floats, Integers, Mask, Sizes
from mahrem.verify._classes import fresh_names, published_classes, suppressed_rows
from mahrem.verify._presence import judge_presence, presence

__all__ = ["Verdict", "verify"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a published table promises, in figures only."""

    rows: int
    suppressed: int  # rows that show nothing at all
    sizes: Sizes = field(repr=False)  # rows in each published class
    outcomes: tuple[Outcome, ...]

    @property
    def holds(self) -> bool:
        """True when every promise does."""
        return all(outcome.holds for outcome in self.outcomes)


@dataclass(frozen=True)
class _Coded:
    """The values of one sensitive column, their codes, and their shares in the whole table."""

    lookup: pl.DataFrame
    shares: Floats
    ancestors: Integers | None


def verify(
    table: pl.LazyFrame,
    *,
    quasi: Sequence[str],
    promises: Sequence[Promise],
    sensitive: Mapping[str, Column],
    subjects: Codes | None = None,
    suppressed: Mask | None = None,
    population: pl.DataFrame | None = None,
    passes: int = 1,
) -> Verdict:
    """Check promises on what is published.

    The table is read ``passes`` times, each time only the classes whose hash falls to that pass, so that a
    file larger than memory can be checked without writing any of it to disk.

    Args:
        table: The published table; only the columns named below are read.
        quasi: Columns that make a class: rows showing the same in all of them.
        promises: What to check; a promise with a column needs that column in ``sensitive``.
        sensitive: Sensitive columns: their kind, order and hierarchy decide how values are compared.
        subjects: Person behind each row; k then counts people. Needs ``passes=1``.
        suppressed: Rows meant to be suppressed; else every row that shows nothing counts as suppressed.
        population: Public table for delta-presence, raw values in the columns of ``quasi``.
        passes: How often to read the table.

    Guarantees:
        - The verdict does not depend on the order of rows, on ``passes``, or on how the table was made.
        - Only rows that show nothing are ever left out of the classes, and they are counted.
    """
    names = [*quasi, *sensitive]
    hidden = suppressed_rows(quasi, list(sensitive), table.select(names).collect_schema())
    person, meant = fresh_names(names, 2)
    asked = table.select(names)
    if subjects is not None:
        asked = asked.with_columns(pl.Series(person, subjects))
    if suppressed is not None:
        asked = asked.with_columns(pl.Series(meant, suppressed))
        hidden &= pl.col(meant)
    rows, left_out = asked.select(pl.len(), hidden.sum().alias("hidden")).collect(engine="streaming").row(0)
    shown = asked.filter(~hidden) if left_out else asked
    if passes == 1:
        shown = shown.collect(engine="streaming").lazy()
    coded = {name: _code(shown, column) for name, column in sensitive.items()}

    by_class = [promise for promise in promises if not isinstance(promise.model, DeltaPresence)]
    by_person = [promise for promise in promises if isinstance(promise.model, DeltaPresence)]
    if by_person and population is None:
        raise InvalidParameter("population=None must be given to check delta-presence")
    chance = np.zeros(0 if population is None else population.height)
    sizes: list[Sizes] = []
    outcomes: list[list[Outcome]] = []
    for number in range(passes):
        falls_here = pl.struct(quasi).hash() % passes == number
        part = (shown if passes == 1 else shown.filter(falls_here)).collect(engine="streaming")
        labels, part_sizes = published_classes(part, quasi)
        sizes.append(part_sizes)
        people = part[person].to_numpy() if subjects is not None else None
        counts = _Counter(part, labels, part_sizes, coded, people)
        outcomes.append([judge(promise, counts(promise)) for promise in by_class])
        if population is not None and by_person:
            chance += presence(part, labels, part_sizes, population, quasi)
    found = zip(*outcomes, strict=True)
    merged = [_merge(promise, parts) for promise, parts in zip(by_class, found, strict=True)]
    merged += [judge_presence(promise, chance) for promise in by_person]
    return Verdict(rows=rows, suppressed=left_out, sizes=np.concatenate(sizes), outcomes=tuple(merged))


def _code(shown: pl.LazyFrame, column: Column) -> _Coded:
    name = column.name
    found = shown.group_by(name).agg(pl.len().alias("times")).collect(engine="streaming")
    values = encode_sensitive(found[name], column)
    times = np.zeros(values.size)
    np.add.at(times, values.codes, found["times"].to_numpy())  # two spellings may be one number
    shares = times / max(times.sum(), 1)
    lookup = pl.DataFrame({name: found[name], "code": values.codes})
    return _Coded(lookup, shares, values.ancestors)


@dataclass(frozen=True)
class _Counter:
    """Counts for each promise over one part of the table."""

    part: pl.DataFrame
    labels: Integers
    sizes: Sizes
    coded: Mapping[str, _Coded]
    subjects: Codes | None

    def __call__(self, promise: Promise) -> Counts:
        if promise.column is None:
            return self._people()
        coded = self.coded[promise.column]
        codes = self.part.select(promise.column).join(
            coded.lookup, on=promise.column, how="left", nulls_equal=True, maintain_order="left"
        )["code"]
        counts = counts_of(
            self.labels, codes.to_numpy(), len(self.sizes), len(coded.shares), ancestors=coded.ancestors
        )
        return replace(counts, table=coded.shares)

    def _people(self) -> Counts:
        if self.subjects is None:
            nobody = np.empty(0, np.int64)
            return Counts(self.sizes, nobody, nobody, nobody, np.empty(0))
        pairs = np.unique(np.stack([self.labels, self.subjects.astype(np.int64)]), axis=1)
        people = np.bincount(pairs[0], minlength=len(self.sizes))
        return Counts(people, pairs[0], pairs[1], np.ones(pairs.shape[1], np.int64), np.empty(0))


def _merge(promise: Promise, parts: Sequence[Outcome]) -> Outcome:
    """Put together what the passes found about one promise."""
    reached = [part.reached for part in parts if part.reached is not None]
    worst = (min if promise.model.rising else max)(reached, default=None)
    return replace(
        parts[0],
        reached=worst,
        holds=all(part.holds for part in parts),
        violating_classes=sum(part.violating_classes for part in parts),
        violating_rows=sum(part.violating_rows for part in parts),
    )
