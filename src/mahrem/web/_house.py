"""What every request may need, in one place."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi import Path as PathPart
from fastapi.security import HTTPBearer

from mahrem.table import FORMATS
from mahrem.web._errors import Refused
from mahrem.web._orders import JobRequest, Json
from mahrem.web._settings import ServeSettings
from mahrem.web.bodies import (
    PUBLISHING,
    WISHES,
    ColumnChoice,
    Columns,
    Decision,
    Job,
    Project,
    ReleasePromises,
    SourceFacts,
)
from mahrem.web.bodies.spending import SPENDING
from mahrem.web.guard import Sessions
from mahrem.web.jobs import JobQueue, Runner
from mahrem.web.projects import (
    CandidateStore,
    ProjectStore,
    check_choices,
    decisions_of,
    mark_of,
    mask_settings_of,
    needs_decisions,
    needs_source,
    needs_table,
    now_words,
    settings_of,
)

_PAID = {
    "query",
    "generalize",
    *SPENDING,
    *(f"plan_{verb}" for verb in SPENDING),
}  # what a ledger pays or plans
_REMEMBERED = 20  # decisions that can be taken back
# What may be downloaded from a release, and as what.
FILES = {
    **{f"data.{name}": known.media for name, known in FORMATS.items()},
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "policy.toml": "application/toml",
    "release.recipe": "application/octet-stream",
    "synthesis.toml": "application/toml",
    "model.npz": "application/octet-stream",
    "plan.json": "application/json",
    "sheet.json": "application/json",
    "guarantee.txt": "text/plain; charset=utf-8",
    "SHA256SUMS": "text/plain; charset=utf-8",
    "signature.json": "application/json",
}


@dataclass(frozen=True)
class House:
    """The parts of a server, and what several routes do with them."""

    settings: ServeSettings
    store: ProjectStore
    queue: JobQueue
    runner: Runner
    sessions: Sessions
    starting: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def candidates(self) -> CandidateStore:
        """What was tried in the explorer."""
        return CandidateStore(self.store)

    def largest_upload(self) -> int:
        """Give the bytes of the largest file that may be sent now: by its limit, and by the room there is."""
        return min(self.settings.max_upload, self.store.refuse_full(self.settings.disk))

    def open_source(self, project: str, source: SourceFacts) -> Job:
        """Give a project another table and have it looked at."""
        self.candidates.clear(project)
        self.store.forget_shown_rows(project)
        self.store.update(
            project,
            source=source,
            name=source.label,
            demo=source.kind == "demo",
            settled=source.kind == "demo",
            removed=None,
            before=[],
            profile=None,
            problem=None,
            hierarchies={},
        )
        return self.look_again(project)

    def look_again(self, project: str) -> Job:
        """Have the table looked at; an earlier look that has not ended is stopped."""
        self.runner.warm.end(project)
        for job in self.queue.active(project):
            if job.verb == "inspect":
                self.runner.cancel(job.id)
        source = needs_source(self.store.get(project))
        mark = mark_of(source, self.settings)
        self.store.update(project, source=source.model_copy(update={"seen": mark}))
        return self.runner.submit(project, "inspect", JobRequest(source=mark))

    def open_demo(self, project: str) -> Job:
        """Give a project fictional patients, and what the demo decides about them."""
        from mahrem.datasets import PATIENT_POLICY, patients

        with self.store.receiving(project) as file:
            patients(2000).write_csv(file)
            kept = self.store.keep(project, file, "source.csv")
        chosen = {name: ColumnChoice(role="identifier") for name in ("patient_id", "name")}
        chosen |= {name: ColumnChoice(role="quasi") for name in PATIENT_POLICY["quasi"]}
        chosen |= {name: ColumnChoice(role="insensitive") for name in PATIENT_POLICY.get("insensitive", ())}
        for name, promises in PATIENT_POLICY["sensitive"].items():
            coarser = {
                key: PATIENT_POLICY[key][name] for key in ("grid", "top") if name in PATIENT_POLICY[key]
            }
            chosen[name] = ColumnChoice(role="sensitive", promises=dict(promises), **coarser)
        columns = Columns(columns=chosen, subject=PATIENT_POLICY["subject"])
        self.store.update(project, choices=columns, promises=ReleasePromises(k=PATIENT_POLICY["k"]))
        return self.open_source(project, SourceFacts(kind="demo", label="fictional patients", file=kept))

    def start(
        self,
        project: Project,
        verb: str,
        arguments: Mapping[str, object] | None = None,
        *,
        seen: int | None = None,
    ) -> Job:
        """Begin a verb on a project's table; one job of a kind at a time, and one budget a table."""
        with self.starting:  # two presses of a button must not spend twice, or make a second budget
            now = self.store.get(project.id)
            if seen is not None and seen != len(self.ledger_history(now)):
                raise Refused(409, "asked_meanwhile")
            return self._start(now, verb, arguments or {})

    def ledger_history(self, project: Project) -> list[Json]:
        """Give every line of the ledger of a project."""
        from mahrem.dp import Ledger

        return list(Ledger.open(self.ledger_path(project)).history())

    def _start(self, project: Project, verb: str, arguments: Mapping[str, Any]) -> Job:
        if any(job.verb == verb for job in self.queue.active(project.id)):
            raise Refused(409, "already_running")
        if verb == "ledger" and "ledger" in project.jobs:
            raise Refused(409, "has_ledger")
        needs_table(project)
        source = needs_source(project)
        if source.seen and source.seen != mark_of(source, self.settings):
            raise Refused(409, "another_table")
        given, settings = dict(arguments), self._settings_for(project, verb, arguments)
        if verb == "attack":
            given["release"] = self.job_of(project, "anonymize")
        if verb in _PAID:
            given["ledger"] = self.job_of(project, "ledger")
        request = JobRequest(
            arguments=given, settings=settings, source=source.seen, decided=decisions_of(project)
        )
        return self.runner.submit(project.id, verb, request)

    def _settings_for(self, project: Project, verb: str, given: Mapping[str, Any]) -> Json:
        """Give what was decided about a table as far as a verb takes it."""
        settings: Json = {}
        if verb in {"anonymize", "compare", "audit", "estimate"}:
            settings = settings_of(project, self.store.folder(project.id), self.settings)
        if verb in WISHES:
            if verb in PUBLISHING:
                needs_decisions(project)
            settings = mask_settings_of(project, verb, self.store.folder(project.id), self.settings)
        if verb == "hierarchy" and project.choices is not None:
            column = given["column"]
            choice = project.choices.columns.get(column)
            if choice is not None and choice.kind:
                settings["kind"] = {column: choice.kind}
            if choice is not None and choice.order:
                settings["order"] = {column: choice.order}
        return settings

    def job_of(self, project: Project, verb: str) -> str:
        """Give the job whose result counts for a verb."""
        if verb not in project.jobs:
            words = {"anonymize": "release", "ledger": "ledger"}.get(verb, "result")
            raise Refused(409, f"no_{words}")
        return project.jobs[verb]

    def result_folder(self, project: Project, verb: str) -> Path:
        """Give the folder of that job."""
        return self.store.folder(project.id) / f"job-{self.job_of(project, verb)}"

    def decide(self, project: Project, **changes: Any) -> Project:
        """Keep choices after they were judged together with all others."""
        after = project.model_copy(update=changes)
        check_choices(after, after.choices or Columns(columns={}), after.promises or ReleasePromises())
        then = Decision(
            choices=project.choices,
            promises=project.promises,
            settled=project.settled,
            region=project.reading.region,
        )
        return self.store.update(project.id, **changes, before=[*project.before, then][-_REMEMBERED:])

    def undo(self, project: Project) -> Project:
        """Go back to what was decided before."""
        if not project.before:
            raise Refused(409, "nothing_before")
        *earlier, last = project.before
        return self.store.update(
            project.id,
            choices=last.choices,
            promises=last.promises,
            settled=last.settled,
            reading=project.reading.model_copy(update={"region": last.region}),
            before=earlier,
        )

    def forget(self, project: str) -> Project:
        """Remove the raw data of a project now."""
        self.store.folder(project)
        self.runner.cancel_all(project)
        return self.store.forget_raw(project, f"{now_words()}: you asked for it")

    def remove(self, project: str) -> None:
        """Remove a project with all that belongs to it."""
        self.store.folder(project)
        self.runner.cancel_all(project)
        self.store.remove(project)
        self.queue.forget(project)

    def ledger_path(self, project: Project) -> Path:
        """Give the ledger of a project."""
        return self.store.folder(project.id) / f"ledger-{self.job_of(project, 'ledger')}"

    def release_file(self, project: Project, name: str, verb: str = "anonymize") -> Path:
        """Give a file of the release; only the names of a release are ever looked for."""
        path = self.result_folder(project, verb) / "release" / name
        if name not in FILES or not path.is_file():
            raise Refused(
                404, "not_found", "The release has no such file", "Its files are listed with the result."
            )
        return path

    def release_files(self, project: Project, verb: str = "anonymize") -> list[Path]:
        """Give all files of the release that a verb made."""
        folder = self.result_folder(project, verb) / "release"
        return [folder / name for name in FILES if (folder / name).is_file()]


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


# The door has looked at it before; here it is only described.
KEY = Security(HTTPBearer(auto_error=False, description="The key in the state folder: api-key"))
HouseDep = Annotated[House, Depends(_house)]
ProjectId = Annotated[str, PathPart(pattern=r"^[0-9a-f]{32}$", description="Id of a project")]
JobId = Annotated[str, PathPart(pattern=r"^[0-9a-f]{32}$", description="Id of a job")]


def _project(house: HouseDep, project: ProjectId) -> Project:
    return house.store.get(project)


ProjectDep = Annotated[Project, Depends(_project)]  # for routes without a body: a body is judged first
