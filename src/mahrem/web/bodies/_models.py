"""What the page keeps about a project, and what the API takes and gives."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from mahrem.web._orders import Json
from mahrem.web.bodies._release_bodies import Columns, ReadingChoice, ReleasePromises

Verb = Literal[
    "inspect", "anonymize", "compare", "audit", "attack", "estimate", "hierarchy", "ledger", "query", "trial",
    "suppress", "perturb", "generalize", "risk", "lattice", "policy", "beside",
    "synthesize", "train", "plan_synthesize", "plan_train",
]  # fmt: skip
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]


class ErrorDetail(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    message: str
    hint: str = ""
    values: Json = Field(default_factory=dict, exclude=True)  # what other languages fill in


class SourceFacts(BaseModel):
    """Where the table comes from; never a path of this machine, never a password."""

    kind: Literal["upload", "folder", "database", "demo"]
    label: str
    size: int | None = None
    file: str | None = None  # name inside the project's folder
    folder: int | None = None  # number of the declared folder
    path: str | None = None  # path below it
    database: str | None = None  # a declared one, without its password
    table: str | None = None
    query: str | None = None
    seen: str = ""  # a file below a declared folder: which one it was when it was looked at


class Decision(BaseModel):
    """What was decided at some time."""

    choices: Columns | None
    promises: ReleasePromises | None
    settled: bool
    region: str | None = None  # a policy may say it


class MadeRelease(BaseModel):
    """A release that was made of a project's table: by which job, and what was decided for it."""

    job: str
    finished: str
    decided: str = Field(description="A hash of all that was decided then")


class Project(BaseModel):
    """A table and all that was decided about it."""

    id: str
    name: str
    demo: bool = False  # fictional patients
    created: str
    touched: float  # seconds since 1970
    source: SourceFacts | None = None
    removed: str | None = None  # why and when the raw data went
    reading: ReadingChoice = ReadingChoice()
    profile: Json | None = None  # what inspect found
    problem: ErrorDetail | None = None  # why it could not be read
    choices: Columns | None = None
    settled: bool = False  # whether a person decided about the columns; suggestions are none
    promises: ReleasePromises | None = None
    hierarchies: dict[str, str] = Field(default_factory=dict)  # column -> file in the project's folder
    jobs: dict[str, str] = Field(default_factory=dict)  # verb -> the job whose result counts
    before: list[Decision] = Field(
        default_factory=list, description="What was decided before, the last one last"
    )
    releases: list[MadeRelease] = Field(default_factory=list, description="What was made, the last one last")
    decided: dict[str, str] = Field(default_factory=dict)  # verb -> a hash of what was decided for that job


class Job(BaseModel):
    """A long piece of work, as a resource with progress."""

    id: str
    project: str
    verb: Verb
    state: State
    stage: str = Field(description="What the job is doing now, in words")
    stage_note: Json = Field(description="The same as a code with values")
    stages: int = Field(description="How many stages have begun")
    created: float
    started: float | None = None
    finished: float | None = None
    seconds: float | None = Field(default=None, description="How long it ran, or has been running")
    share: float | None = Field(default=None, description="How much of it is done, where that can be told")
    left: float | None = Field(default=None, description="About how many seconds are left")
    error: ErrorDetail | None = None
