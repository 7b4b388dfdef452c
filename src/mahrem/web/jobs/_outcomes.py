"""What the end of a job changes in its project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mahrem.web._errors import not_found
from mahrem.web._orders import JobRequest, Json
from mahrem.web.bodies import ColumnChoice, Columns, Job, MadeRelease, Project
from mahrem.web.projects import CandidateStore, ProjectStore, now_words


def result_of(store: ProjectStore, project: str, job: str) -> Json:
    """Read what a job found."""
    try:
        result: Json = json.loads((store.folder(project) / f"job-{job}" / "result.json").read_bytes())
    except FileNotFoundError:
        raise not_found("result") from None
    return result


def take_in(store: ProjectStore, job: Job, request: JobRequest) -> None:
    """Note in a project what a job that went well found."""
    result = result_of(store, job.project, job.id)
    if job.verb == "trial":  # it is about a candidate, not about what the project decides
        known = str(request.arguments["candidate"])
        CandidateStore(store).change(job.project, known, trial=result["trial"], job=None)
        return

    def changed(project: Project) -> Project:
        changes: dict[str, object] = {
            "jobs": {**project.jobs, job.verb: job.id},
            "decided": {**project.decided, job.verb: request.decided},
        }
        if job.verb == "inspect":
            names = {column["name"] for column in result["columns"]}
            same = project.choices is not None and set(project.choices.columns) <= names
            changes |= {"profile": result, "problem": None}
            changes["choices"] = project.choices if same else suggest_columns(result)
        elif job.verb == "anonymize":
            release = MadeRelease(job=job.id, finished=now_words(), decided=request.decided)
            changes["releases"] = [*project.releases, release]
        elif job.verb == "hierarchy":
            column = request.arguments["column"]
            changes["hierarchies"] = {**project.hierarchies, column: f"hierarchy-{job.id}.csv"}
        return project.model_copy(update=changes)

    store.edit(job.project, changed)


def suggest_columns(profile: Mapping[str, Any]) -> Columns:
    """Take the suggested role of every column and whose rows they are: a beginning, not a decision."""
    return Columns(
        columns={
            column["name"]: ColumnChoice(role=column["suggested_role"]) for column in profile["columns"]
        },
        subject=profile.get("subject"),
    )
