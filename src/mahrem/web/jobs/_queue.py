"""The queue of jobs, in SQLite: it survives the server."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mahrem.web._errors import Refused, not_found
from mahrem.web._orders import JobRequest
from mahrem.web.bodies import ErrorDetail, Job
from mahrem.words import Note


@dataclass(frozen=True)
class JobEnd:
    """How a job ended: done, failed, cancelled or interrupted."""

    state: str
    error: Refused | None = None


def interruption() -> JobEnd:
    """Say that the server was stopped while a job was running."""
    return JobEnd("interrupted", Refused(500, "interrupted"))


_NEARLY = 0.97  # of a job that takes longer than the one before
_COLUMNS = "id, project, verb, state, stage, stages, created, started, finished, error"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, verb TEXT NOT NULL, request TEXT NOT NULL,
    state TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', stages INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL, started REAL, finished REAL, error TEXT
);
CREATE INDEX IF NOT EXISTS jobs_of_project ON jobs (project, created);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, created);
"""


class JobQueue:
    """Jobs and their states.

    Guarantees:
        - A job is handed out once.
        - A job that is finished stays as it finished.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._open() as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.executescript(_SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        try:
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("PRAGMA secure_delete=ON")  # what a job was told may name values
            yield database
        finally:
            database.close()

    def add(self, project: str, verb: str, request: JobRequest) -> Job:
        """Put a job at the end of the queue."""
        known = secrets.token_hex(16)
        with self._open() as database:
            database.execute(
                "INSERT INTO jobs (id, project, verb, request, state, stage, created)"
                " VALUES (?, ?, ?, ?, 'queued', ?, ?)",
                (known, project, verb, json.dumps(asdict(request)), _stage("queued"), time.time()),
            )
        return self.get(known)

    def get(self, known: str) -> Job:
        """Say how a job stands."""
        jobs = self._many("id = ?", known)
        if not jobs:
            raise not_found("job")
        return self._with_progress(jobs[0])

    def last(self, project: str, verb: str) -> Job | None:
        """Give the newest job of a kind, if there is one."""
        jobs = self._many("project = ? AND verb = ? ORDER BY created DESC LIMIT 1", project, verb)
        return self._with_progress(jobs[0]) if jobs else None

    def _with_progress(self, job: Job) -> Job:
        """Say how far a running job is: by what it counts itself, else by how long the last one took."""
        if job.state != "running" or not job.seconds:
            return job
        counted = job.stage_note.get("values", {})
        share = _counted_share(counted)
        if share is not None:
            left = job.seconds / share - job.seconds if share > 0 else None
            return job.model_copy(update={"share": share, "left": left})
        before = self._many(
            "project = ? AND verb = ? AND state = 'done' ORDER BY created DESC LIMIT 1", job.project, job.verb
        )
        usual = before[0].seconds if before else None
        if not usual or job.seconds > 2 * usual:  # whatever it was, this time it is another piece of work
            return job
        share = min(_NEARLY, job.seconds / usual)
        return job.model_copy(update={"share": share, "left": max(usual - job.seconds, 0.0)})

    def of_project(self, project: str) -> list[Job]:
        """Give the jobs of a project, the newest first."""
        return self._many("project = ? ORDER BY created DESC LIMIT 200", project)

    def active(self, project: str) -> list[Job]:
        """Give the jobs of a project that wait or run, however many came after."""
        return self._many("project = ? AND state IN ('queued', 'running')", project)

    def take(self) -> tuple[Job, JobRequest] | None:
        """Hand out the oldest waiting job, as running."""
        with self._open() as database:
            row = database.execute(
                "UPDATE jobs SET state = 'running', stage = ?, started = ? WHERE id ="
                " (SELECT id FROM jobs WHERE state = 'queued' ORDER BY created LIMIT 1) RETURNING *",
                (_stage("starting"), time.time()),
            ).fetchone()
        return None if row is None else (_job(row), JobRequest(**json.loads(row["request"])))

    def put_back(self, known: str) -> None:
        """Have a job that could not be begun wait again."""
        with self._open() as database:
            database.execute(
                "UPDATE jobs SET state = 'queued', stage = ?, started = NULL"
                " WHERE id = ? AND state = 'running'",
                (_stage("queued"), known),
            )

    def step(self, known: str, stage: Mapping[str, Any]) -> None:
        """Note what a running job is doing."""
        with self._open() as database:
            database.execute(
                "UPDATE jobs SET stage = ?, stages = stages + 1 WHERE id = ? AND state = 'running'",
                (json.dumps(stage), known),
            )

    def finish(self, known: str, end: JobEnd) -> bool:
        """End a job; says whether it had not ended before."""
        error = None if end.error is None else json.dumps(end.error.record)
        with self._open() as database:
            done = database.execute(
                "UPDATE jobs SET state = ?, stage = ?, finished = ?, error = ?, request = '{}'"
                " WHERE id = ? AND state IN ('queued', 'running')",
                (end.state, _stage(end.state), time.time(), error, known),
            )
            return done.rowcount == 1

    def interrupt_all(self) -> list[Job]:
        """Note that whatever was running when the server died is not running any more."""
        lost = self._many("state = 'running'")
        for job in lost:
            self.finish(job.id, interruption())
        return lost

    def forget(self, project: str) -> None:
        """Remove the jobs of a project."""
        with self._open() as database:
            database.execute("DELETE FROM jobs WHERE project = ?", (project,))
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _many(self, where: str, *values: object) -> list[Job]:
        with self._open() as database:
            # The conditions are ours; whatever comes from outside is a parameter.
            rows = database.execute(f"SELECT {_COLUMNS} FROM jobs WHERE {where}", values).fetchall()  # noqa: S608
        return [_job(row) for row in rows]


def _job(row: sqlite3.Row) -> Job:
    columns = dict(row)
    columns.pop("request", None)
    error = columns.pop("error")
    end = columns["finished"] or time.time()
    seconds = None if columns["started"] is None else round(end - columns["started"], 3)
    note = json.loads(columns.pop("stage"))
    return Job(
        **columns,
        stage=Note.read(note, ""),
        stage_note=note,
        seconds=seconds,
        error=None if error is None else ErrorDetail(**json.loads(error)),
    )


def _counted_share(counted: Mapping[str, Any]) -> float | None:
    """Say how much is done of what a stage counts: pieces, the one it is at counted among them, or steps."""
    if {"number", "all"} <= counted.keys():
        return float((counted["number"] - 1) / max(counted["all"], 1))
    if {"done", "steps"} <= counted.keys():
        return float(counted["done"] / max(counted["steps"], 1))
    return None


def _stage(key: str) -> str:
    """Write a stage as the queue keeps it."""
    return json.dumps(Note(f"stage.{key}").as_dict())
