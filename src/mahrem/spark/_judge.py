"""Privacy models judge parts of a table of which only counts are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mahrem.models import Counts, PrivacyModel, Promise, holds_either_way, judge, refuse_unreachable
from mahrem.partition import Admission
from mahrem.table import Values
from mahrem.types import Codes, Floats, Integers, Mask

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class CodedColumn:
    """A sensitive column of a distributed table: whole numbers that follow the column's own order.

    ``column`` holds ``0 .. size-1``, or -1 for a row that is not counted; ``missing`` and ``joined`` are
    those of :class:`~mahrem.table.Values`.
    """

    name: str
    column: str
    size: int
    ancestors: Integers | None = field(default=None, repr=False)  # (levels, size) nodes bottom-up
    missing: bool = False
    joined: bool = False
    read_from: str | None = None  # the column of which this is another reading

    @classmethod
    def of(cls, values: Values, column: str, reading: int = 0) -> CodedColumn:
        """Describe values whose codes lie in a column; its readings have names of their own."""
        known = values.ancestors, values.missing, values.joined
        if not reading:
            return cls(values.name, column, values.size, *known)
        return cls(f"__read {reading} {values.name}", column, values.size, *known, read_from=values.name)


def promised_columns(
    promises: Iterable[Promise], coded: Mapping[str, Sequence[CodedColumn]]
) -> tuple[tuple[PrivacyModel, CodedColumn | None], ...]:
    """Give the model of each promise with its column, once for every reading of it.

    Args:
        promises: What is promised.
        coded: Every reading of each sensitive column (:attr:`mahrem.table.Values.readings`) by its name.
    """
    return tuple(
        (promise.model, read)
        for promise in promises
        for read in ((None,) if promise.column is None else coded[promise.column])
    )


@dataclass(frozen=True)
class PartAdmission(Admission):
    """An :class:`~mahrem.partition.Admission` for some rows of a table whose shares are known as a whole."""

    shares: tuple[tuple[str, Floats], ...] = field(default=(), repr=False)

    @cached_property
    def _tables(self) -> dict[int, Floats]:
        known = dict(self.shares)
        return {key: known[values.name] for key, values in self._columns.items()}


@dataclass(frozen=True)
class Judge:
    """All promises at once, asked about counts on the driver and about rows inside a worker."""

    promises: tuple[tuple[PrivacyModel, CodedColumn | None], ...]
    shares: tuple[Floats, ...] = field(default=(), repr=False)  # of each value in the table, by column

    @cached_property
    def columns(self) -> tuple[CodedColumn, ...]:
        """Every sensitive column once."""
        return tuple({coded.name: coded for _, coded in self.promises if coded is not None}.values())

    @property
    def minimum(self) -> int:
        """The most rows that any of the promises needs."""
        return max([1, *(model.least_rows for model, _ in self.promises)])

    def accepts(self, sizes: Integers, triplets: Sequence[Integers]) -> Mask:
        """Say which groups may stand, from their sizes and ``(t, 3)`` sorted group, code, times by column."""
        admitted: Mask = sizes >= self.minimum
        for model, coded in self.promises:
            admitted &= holds_either_way(model, self._counts(coded, sizes, triplets))
        return admitted

    def refuse_unreachable(self, sizes: Integers, triplets: Sequence[Integers]) -> None:
        """Refuse promises that one group, the whole table, does not keep, in the words of a run in memory."""
        readings: dict[Promise, list[Counts]] = {}
        for model, coded in self.promises:
            promise = Promise(model, None if coded is None else coded.read_from or coded.name)
            readings.setdefault(promise, []).append(self._counts(coded, sizes, triplets))
        for promise, counts in readings.items():
            refuse_unreachable(promise, judge(promise, *counts))

    def _counts(self, coded: CodedColumn | None, sizes: Integers, triplets: Sequence[Integers]) -> Counts:
        if coded is None:
            return Counts(sizes=sizes, group=_NONE, value=_NONE, count=_NONE, table=np.zeros(0))
        place = [known.name for known in self.columns].index(coded.name)
        group, value, times = triplets[place].T
        return Counts(
            sizes=sizes,
            group=np.ascontiguousarray(group),
            value=np.ascontiguousarray(value),
            count=np.ascontiguousarray(times),
            table=self.shares[place],
            ancestors=coded.ancestors,
            missing=coded.missing,
        )

    def admission(self, rows: int, codes: Sequence[Codes]) -> PartAdmission:
        """Make the judge of one part's rows."""
        values = {
            coded.name: Values(coded.name, code, coded.size, coded.ancestors, missing=coded.missing)
            for coded, code in zip(self.columns, codes, strict=True)
        }
        return PartAdmission(
            promises=tuple(
                (model, None if coded is None else values[coded.name]) for model, coded in self.promises
            ),
            rows=rows,
            shares=tuple((coded.name, share) for coded, share in zip(self.columns, self.shares, strict=True)),
        )
