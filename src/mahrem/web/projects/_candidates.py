"""Candidates: settings that were tried on a project's table, with what they would give."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mahrem.files import write_whole
from mahrem.web._errors import not_found
from mahrem.web._orders import Json
from mahrem.web.bodies import Columns, ReleasePromises
from mahrem.web.projects._store import CANDIDATES, ProjectStore, now_words

_MOST = 150


class Candidate(BaseModel):
    """Settings and what they would give, on a sample or on every row."""

    model_config = ConfigDict(validate_by_name=True)

    id: str
    name: str = ""
    created: str = Field(validation_alias="made", serialization_alias="made")
    decided: str = Field(description="A hash of all that was decided")
    choices: Columns
    promises: ReleasePromises
    trial: Json
    job: str | None = Field(default=None, description="The job that tries every row, while it lasts")

    @property
    def exact(self) -> bool:
        """Whether every row was tried."""
        return bool(self.trial["tried"] == self.trial["rows"])


class CandidateStore:
    """The candidates of all projects: one file each, beside the raw data and gone with it."""

    def __init__(self, store: ProjectStore) -> None:
        self.store = store

    def list(self, project: str) -> list[Candidate]:
        """Give all candidates of a project, in the order they were tried."""
        with suppress(FileNotFoundError, ValueError):
            kept = json.loads(self._place(project).read_bytes())
            return [Candidate.model_validate(one) for one in kept]
        return []

    def get(self, project: str, known: str) -> Candidate:
        """Give one candidate."""
        candidate = next((one for one in self.list(project) if one.id == known), None)
        if candidate is None:
            raise not_found("candidate")
        return candidate

    def add(
        self, project: str, decided: str, choices: Columns, promises: ReleasePromises, trial: Json
    ) -> Candidate:
        """Keep a try; one of the same settings takes the place of the one before, unless that knew more."""
        with self.store.alone():
            every = self.list(project)
            before = next((one for one in every if one.decided == decided), None)
            if before is not None and before.exact and trial["tried"] != trial["rows"]:
                return before
            new = Candidate(
                id=secrets.token_hex(8) if before is None else before.id,
                name="" if before is None else before.name,
                job=None if before is None else before.job,
                created=now_words(),
                decided=decided,
                choices=choices,
                promises=promises,
                trial=trial,
            )
            every = [one for one in every if one.decided != decided] + [new]
            while len(every) > _MOST and any(not one.name for one in every):
                every.remove(next(one for one in every if not one.name))
            self._write(project, every[-_MOST:])
        return new

    def change(self, project: str, known: str, **changes: Any) -> None:
        """Change some fields of a candidate; one that is gone stays so."""
        with self.store.alone():
            every = [one.model_copy(update=changes) if one.id == known else one for one in self.list(project)]
            self._write(project, every)

    def remove(self, project: str, known: str) -> None:
        """Forget a candidate."""
        with self.store.alone():
            self._write(project, [one for one in self.list(project) if one.id != known])

    def clear(self, project: str) -> None:
        """Forget all candidates of a project: they were about another table."""
        with self.store.alone():
            self._place(project).unlink(missing_ok=True)

    def _place(self, project: str) -> Path:
        return self.store.folder(project) / CANDIDATES

    def _write(self, project: str, every: Sequence[Candidate]) -> None:
        write_whole(
            self._place(project),
            json.dumps([one.model_dump(mode="json", by_alias=True) for one in every]).encode(),
        )
