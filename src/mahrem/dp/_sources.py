"""The data behind a query: a frame, a file, or a database that adds up by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import polars as pl

from mahrem import check
from mahrem.dp._tally import TallyPlan
from mahrem.dp._tally_frame import tally_frame
from mahrem.dp._tally_sql import can_ask, refuse_kinds, tally_database
from mahrem.table import Reading, Source, open_source
from mahrem.table.reading import Database, asking
from mahrem.types import Integers


@dataclass
class Data:
    """An opened source; a database is only read whole if it cannot add up by itself."""

    given: object
    reading: Reading
    database: Database | None
    source: Source | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self.database is not None:
            return tuple(self.database.types)
        return self.held().columns

    def held(self) -> Source:
        """Open the table itself."""
        if self.source is None:
            self.source = open_source(self.given, self.reading)
        return self.source

    def pushes(self, tally: TallyPlan) -> bool:
        """Say whether the database does the adding."""
        return self.database is not None and not self.reading.null and can_ask(tally, self.database)

    def refuse(self, tally: TallyPlan) -> None:
        """Refuse a tally that names columns that are not there or that a database can never take for numbers.

        The types of a frame are no reason: one record can change them.
        """
        check.columns_exist(tally.columns, self.columns)
        if self.database is not None:
            refuse_kinds(tally, self.database)

    def tally(self, tally: TallyPlan) -> Integers:
        """Add up, wherever that is done."""
        if self.database is not None and self.pushes(tally):
            return tally_database(tally, self.database)
        return tally_frame(tally, self.held())


@contextmanager
def opened(source: object, reading: Reading) -> Iterator[Data]:
    """Open a source for tallies, each cell to be read by itself."""
    how = replace(reading, by_cell=True)
    with asking(source, how) as database:
        held = open_source(source, how) if database is None else None
        yield Data(source, how, database, held)


def names_and_reading(source: object, reading: Reading) -> tuple[tuple[str, ...], Reading]:
    """Name the columns of a source, and say how it is read once what its header tells was found out."""
    with opened(source, reading) as data:
        return data.columns, reading if data.source is None else data.source.reading


def every_row(source: object, reading: Reading) -> pl.LazyFrame:
    """Give all rows of a source, each cell to be read by itself."""
    opened_source = open_source(source, replace(reading, by_cell=True))
    return opened_source.scan(opened_source.columns)
