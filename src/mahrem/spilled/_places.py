"""All rows as numbers in memory, for methods that need every row at once; cells stay on disk."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from mahrem.drafts import Draft, Prepared, promise_anew
from mahrem.recode import render
from mahrem.release.decisions import Policy
from mahrem.spilled._dictionary import looked_up
from mahrem.spilled._encode import SpilledTable
from mahrem.spilled._order import RowOrder, class_hashes, row_hashes
from mahrem.spilled._pace import Pace
from mahrem.table import Cells, Source
from mahrem.table.columns import as_people
from mahrem.types import Codes, Floats, Labels, Matrix

PERSON = "person"  # of a row on its way out; the file does not show it
_KEPT = np.uint64(12)  # bits of a hash that do not fit into a float


class HashedPeople:
    """The people behind rows as two hashes of 52 bits, with keys of this run; no name goes to disk.

    That two of a hundred million people share both has a chance below 1e-15, and would count them as one.
    """

    def __init__(self) -> None:
        self._keys = secrets.randbits(64), secrets.randbits(64)

    def number(self, cells: pl.Series) -> Matrix[Floats]:
        """Give two numbers for every cell; rows without a person have the same ones."""
        people = as_people(cells)
        hashes = (people.hash(key).to_numpy() >> _KEPT for key in self._keys)
        return np.column_stack([hashed.astype(np.float64) for hashed in hashes])


def people_codes(hashed: Matrix[Floats]) -> Codes:
    """Number people by their two hashes."""
    together = np.ascontiguousarray(hashed).view(np.complex128).reshape(-1)
    return np.unique(together, return_inverse=True)[1].reshape(-1).astype(np.int32)


def prepared_from(
    table: SpilledTable, source: Source, policy: Policy, leave_out: tuple[str, ...]
) -> Prepared:
    """Take the numbers of a table into memory: what a method and its judge look at, and nothing else.

    Guarantees:
        - Axes, values and people are those of :func:`mahrem.drafts.prepare` on the whole table.
    """
    store, width = table.store, len(table.axes)
    values = {
        known.name: replace(known, codes=looked_up(known.codes, store.column(width + place)).astype(np.int32))
        for place, known in enumerate(table.values)
    }
    subjects = None
    if policy.subject is not None:
        begin = width + len(table.values)
        subjects = people_codes(np.column_stack([store.column(begin), store.column(begin + 1)]))
    prepared = Prepared(
        source=source,
        promises=policy.promises(),
        columns=table.columns,
        leave_out=leave_out,
        keep=np.ones(table.rows, np.bool_),
        suppress=np.zeros(table.rows, np.bool_),
        axes=tuple(axis.axis(store.column(place)) for place, axis in enumerate(table.axes)),
        values=values,
        subjects=subjects,
        population=None,
    )
    return promise_anew(prepared, policy)


@dataclass(frozen=True)
class SortedRows:
    """Rows that a method sorted: the class of each, what classes show, and who is behind rows."""

    labels: Labels = field(repr=False)
    cells: dict[str, Cells] = field(repr=False)
    people: Codes | None = field(repr=False)
    published: tuple[str, ...]  # columns in their order

    @classmethod
    def of(cls, draft: Draft) -> SortedRows:
        """Keep of a draft what rows are written from; all else may go."""
        return cls(draft.labels, dict(draft.cells), draft.subjects, tuple(draft.columns))

    def send(
        self, batches: Iterator[pl.DataFrame], carried: Sequence[str], order: RowOrder, pace: Pace
    ) -> None:
        """Send every row to where it belongs in the file, with the person behind it."""
        hashes, begin = class_hashes(self.cells), 0
        for batch in batches:
            rows = slice(begin, begin + batch.height)
            labels, own, begin = self.labels[rows], batch.select(carried), rows.stop
            keys = row_hashes(own, hashes, labels)
            shown = [
                render(self.cells[name], labels, "text", name)[0] if name in self.cells else own[name]
                for name in self.published
            ]
            if self.people is not None:
                shown.append(pl.Series(PERSON, self.people[rows]))
            order.add(shown, keys)
            pace.add(batch.height)
        order.close()
