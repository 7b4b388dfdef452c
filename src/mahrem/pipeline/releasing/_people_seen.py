"""The people of a table that comes in parts: their fingerprints, and whether some have several rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from mahrem.datasets import are_invented
from mahrem.release import notes_of_several_rows
from mahrem.release.decisions import Policy
from mahrem.release.folders import Fingerprints, FingerprintTaker, remember_people
from mahrem.words import warn_of

NAME = "name"  # where the demo's patients are told by
_PEOPLE = 1 << 20  # fingerprints that are held
_SAMPLE = 50_000  # rows of some people, all of each


@dataclass
class PeopleSeen:
    """What is kept of people while a table is read.

    Attributes:
        names: Columns that tell people apart.
        by_name: They name people.
        named: Columns that name people and are left out.
        alike: Columns by which rows of one person are alike.
        rows: Of the table.
        policy: Its roles; what shows nothing has no say in what is warned of.
    """

    names: Sequence[str]
    by_name: bool = field(kw_only=True)
    named: Sequence[str] = field(kw_only=True)
    alike: Sequence[str] = field(kw_only=True)
    rows: int = field(kw_only=True)
    policy: Policy = field(kw_only=True)
    _taker: FingerprintTaker | None = None
    _failed: OSError | None = None
    _invented: bool = True
    _some: list[pl.DataFrame] = field(default_factory=list)

    def add(self, batch: pl.DataFrame) -> None:
        """Take in some rows."""
        self._invented = self._invented and NAME in batch.columns and are_invented(batch[NAME])
        if self.named:
            share = -(-self.rows // _SAMPLE)
            chosen = self.policy.silenced(batch.select([*self.named, *self.alike]))
            self._some.append(chosen.filter(chosen[self.named[0]].hash(0) % share == 0))
        if self._failed is not None:
            return
        try:
            if self._taker is None:
                self._taker = FingerprintTaker(self.names, by_name=self.by_name, most=_PEOPLE)
            self._taker.add(batch.select(self.names))
        except OSError as error:  # said at the end, as in memory
            self._failed = error

    def warn_of_several_rows(self) -> None:
        """Warn that promises count rows where people have several; all rows of some people tell."""
        if self._some and self.policy.subject is None:
            for note in notes_of_several_rows(pl.concat(self._some), self.policy):
                warn_of(note)
        self._some.clear()

    def keep(self, output: Path) -> None:
        """Warn if these people were released before, and keep their fingerprints for the next time."""
        if not self._invented:
            remember_people(self._taken, output)

    def _taken(self) -> Fingerprints:
        if self._failed is not None:
            raise self._failed
        assert self._taker is not None  # noqa: S101 - a table has rows
        return self._taker.prints()
