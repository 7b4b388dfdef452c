"""What only the API answers with: lists, what the server is and how it does, how every error looks."""

from __future__ import annotations

from pydantic import BaseModel, Field

from mahrem.web._orders import Json
from mahrem.web.bodies import ErrorDetail, FolderFiles, Job, Project


class ErrorBody(BaseModel):
    """Every error looks like this."""

    error: ErrorDetail


ERRORS: dict[int | str, Json] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        401: "Not signed in",
        403: "Refused: the request comes from elsewhere",
        404: "Not there",
        409: "Does not fit the state of things, or cannot be done with this table",
        413: "Too large",
        415: "Of a kind that is not taken",
        421: "The host is not ours",
        422: "Something that was said does not fit",
        424: "An optional part is not installed",
    }.items()
}


class About(BaseModel):
    """What this server is and takes."""

    version: str
    methods: list[str]
    languages: list[str]
    max_upload: int
    max_rows: int
    max_columns: int
    keep_hours: float
    folders: list[FolderFiles]
    databases: list[str]
    extras: dict[str, bool]


class Health(BaseModel):
    """Whether jobs are begun and old data is removed; what does not work now says since when."""

    works: bool
    troubles: dict[str, str] = Field(description="jobs or deletion, and since when")


class OpenSession(BaseModel):
    """A session of somebody who came in."""

    id: str
    way: str = Field(description="token or password")
    begun: str
    used: str = Field(description="When it was last used")


class SessionList(BaseModel):
    """All open sessions, the last used first."""

    sessions: list[OpenSession]


class ProjectList(BaseModel):
    """All projects, the last touched first."""

    projects: list[Project]


class JobList(BaseModel):
    """Jobs of a project, the newest first."""

    jobs: list[Job]


class Opened(BaseModel):
    """A project whose table is being looked at."""

    project: Project
    job: Job


class Started(BaseModel):
    """A job that began."""

    job: Job


class TreeFacts(BaseModel):
    """Size and soundness of a hierarchy."""

    holds: bool
    levels: int
    leaves: int
    nodes: list[int]
    misplaced: int


class LedgerSheet(BaseModel):
    """What was spent, what is left, and every line of the ledger."""

    sheet: Json
    history: list[Json]
    gain: Json
