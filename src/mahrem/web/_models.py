"""What the page keeps about a project, and what the API takes and gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from mahrem.check import one_of
from mahrem.table import FORMATS
from mahrem.words import LANGUAGES

__all__ = [
    "ColumnChoice",
    "Columns",
    "ErrorDetail",
    "Job",
    "KindName",
    "Project",
    "Promises",
    "Reading",
    "SourceFacts",
    "Verb",
]

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=200)]
Language = Annotated[
    str,
    AfterValidator(lambda code: one_of(LANGUAGES, language=code)),
    Field(json_schema_extra={"enum": list(LANGUAGES)}),
]
FormatName = Annotated[
    str,
    AfterValidator(lambda name: one_of(FORMATS, format=name)),
    Field(json_schema_extra={"enum": list(FORMATS)}),
]
RoleName = Literal["quasi", "sensitive", "identifier", "insensitive", "drop"]
KindName = Literal["numeric", "ordinal", "categorical", "date", "code"]
Verb = Literal[
    "inspect", "anonymize", "compare", "audit", "attack", "estimate", "hierarchy", "ledger", "query"
]
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]


class Strict(BaseModel):
    """A body in which a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid")


class ErrorDetail(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    message: str
    hint: str = ""
    values: dict[str, Any] = Field(default_factory=dict, exclude=True)  # what other languages fill in


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


class Reading(Strict):
    """How a file is read; what is not said is found out."""

    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    encoding: Annotated[str, StringConstraints(max_length=40)] | None = None
    decimal: Literal[".", ","] | None = None
    null: list[Text] = Field(default_factory=list, max_length=50)


class ColumnChoice(Strict):
    """What a person decided about one column."""

    role: RoleName
    kind: KindName | None = None
    order: list[Text] | None = Field(default=None, max_length=1000)
    promises: dict[str, float | str] = Field(
        default_factory=dict,
        description="Promises of a sensitive column alone: l, l_kind, c, t, t_kind, alpha, beta, beta_kind, "
        "delta_disclosure",
    )


class Columns(Strict):
    """Roles of all columns that are not to be dropped, and whose row it is."""

    columns: dict[Name, ColumnChoice] = Field(max_length=5000)
    subject: Name | None = None


class Promises(Strict):
    """What is promised about the published table, and how it is made."""

    k: Annotated[int, Field(ge=1, le=10**6)] | None = 5
    l: Annotated[float, Field(ge=1, le=10**6)] | None = None  # noqa: E741 - the literature's name
    l_kind: Literal["distinct", "entropy", "recursive"] | None = None
    c: Annotated[float, Field(gt=0, le=10**6)] | None = None
    t: Annotated[float, Field(ge=0, le=1)] | None = None
    t_kind: Literal["equal", "ordered", "hierarchical", "kl"] | None = None
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None
    beta: Annotated[float, Field(gt=0, le=10**6)] | None = None
    beta_kind: Literal["basic", "enhanced"] | None = None
    delta_disclosure: Annotated[float, Field(gt=0, le=10**6)] | None = None
    method: Text = "mondrian"
    strategy: Literal["strict", "relaxed"] = "strict"
    bounds: Literal["grid", "exact"] = "grid"
    cells: Literal["text", "pairs", "midpoint", "centroid"] = "text"
    missing: Literal["category", "suppress", "drop", "drop-any", "refuse"] = "category"
    suppression_limit: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    format: FormatName = "csv"
    language: Language = "en"


class Project(BaseModel):
    """A table and all that was decided about it."""

    id: str
    name: str
    demo: bool = False  # fictional patients
    created: str
    touched: float  # seconds since 1970
    source: SourceFacts | None = None
    removed: str | None = None  # why and when the raw data went
    reading: Reading = Reading()
    profile: dict[str, Any] | None = None  # what inspect found
    problem: ErrorDetail | None = None  # why it could not be read
    choices: Columns | None = None
    promises: Promises | None = None
    hierarchies: dict[str, str] = Field(default_factory=dict)  # column -> file in the project's folder
    jobs: dict[str, str] = Field(default_factory=dict)  # verb -> the job whose result counts


class Job(BaseModel):
    """A long piece of work, as a resource with progress."""

    id: str
    project: str
    verb: Verb
    state: State
    stage: str = Field(description="What the job is doing now, in words")
    stage_note: dict[str, Any] = Field(description="The same as a code with values")
    stages: int = Field(description="How many stages have begun")
    created: float
    started: float | None = None
    finished: float | None = None
    seconds: float | None = Field(default=None, description="How long it ran, or has been running")
    error: ErrorDetail | None = None
