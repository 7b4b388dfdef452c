"""What a job is to do, on its way from a request through the queue to the process that does it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]  # a document: what a verb reports, what a file or a line holds


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What a verb is told: its own arguments and the settings of the release, by names of the pipeline."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # what tells the table it was asked for from every other
    decided: str = ""  # a hash of all that was decided by then: what is decided later makes the result old


@dataclass(frozen=True, kw_only=True)
class TablePlace:
    """Where a table lies now and how it is read."""

    table: str  # a path, or the URI of a database
    label: str = ""  # what the file is called where it came from
    sql_table: str | None = None
    sql: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JobLimits:
    """How much a job may take."""

    rows: int
    columns: int
    memory: int
    seconds: float
    disk: int | None = None  # bytes of the largest file it may write


@dataclass(frozen=True, kw_only=True)
class JobOrder:
    """All that the process of a job is told."""

    verb: str
    folder: str
    source: TablePlace
    request: JobRequest
    limits: JobLimits

    def as_line(self) -> bytes:
        """Give the order as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> JobOrder:
        """Read an order back."""
        parts = json.loads(line)
        return cls(
            verb=parts["verb"],
            folder=parts["folder"],
            source=TablePlace(**parts["source"]),
            request=JobRequest(**parts["request"]),
            limits=JobLimits(**parts["limits"]),
        )

    @property
    def place(self) -> Path:
        """The folder of the job."""
        return Path(self.folder)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What the verb alone is told."""
        return self.request.arguments

    def beside(self, kind: str, job: str | None = None) -> Path:
        """Give the place of something that is kept beside the folders of jobs, by this job or another."""
        return self.place.with_name(f"{kind}-{job or self.place.name.removeprefix('job-')}")

    @cached_property
    def table(self) -> Any:
        """The table; a question sees one DuckDB file alone, and PostgreSQL only under a narrow role."""
        from mahrem.table import Reading
        from mahrem.table.reading import is_duckdb, is_postgresql, read_alone, refuse_wide_role

        place, sql = self.source.table, self.source.sql
        if sql and is_postgresql(place):
            refuse_wide_role(place)
        if is_postgresql(place) or not (sql or is_duckdb(Path(place))):
            return place
        return read_alone(Path(place), Reading(query=sql, table=None if sql else self.source.sql_table))

    @property
    def reading(self) -> dict[str, Any]:
        """How the table is read, by the names of settings."""
        reading = dict(self.source.reading)
        if isinstance(self.table, str):
            asked = {"table": self.source.sql_table, "query": self.source.sql}
            reading |= {name: value for name, value in asked.items() if value}
        return reading

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the release, and how the table is read."""
        return {**self.reading, **self.request.settings}
