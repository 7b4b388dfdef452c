"""What each template is given: one frozen dataclass a page, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mahrem.web.bodies import ErrorDetail, FormField, Job, Project

if TYPE_CHECKING:
    from mahrem.web.bodies import FolderFiles
    from mahrem.web.pages._frontier import Frontier
    from mahrem.web.projects import FederatedRun


@dataclass(frozen=True, kw_only=True)
class PageStep:
    """One step of the flow, for the navigation."""

    key: str  # its name is in the catalogue
    url: str
    current: bool
    open: bool  # whether there is something to see already


@dataclass(frozen=True, kw_only=True)
class Shell:
    """What every page shows around its content."""

    title: str  # a key of the catalogue
    project: Project | None = None
    steps: tuple[PageStep, ...] = ()
    message: ErrorDetail | None = None
    signed_in: bool = True


@dataclass(frozen=True, kw_only=True)
class ProjectsPage:
    """All projects, and the ways to open a table."""

    shell: Shell
    projects: Sequence[Project]
    folders: Sequence[FolderFiles]
    databases: Sequence[str]
    max_upload: int
    keep_hours: float
    troubles: Sequence[ErrorDetail]  # what this server cannot do now


@dataclass(frozen=True, kw_only=True)
class ColumnLine:
    """One column: what was found, and what was decided."""

    number: int
    name: str
    kind: str
    distinct: int
    missing: int
    rows: int
    unique_share: float
    suggested_role: str
    reason: str
    role: str  # nothing while somebody has to decide
    fields: Sequence[FormField]
    has_hierarchy: bool
    portrait: Mapping[str, Any] | None  # shares of people by ranges or values


@dataclass(frozen=True, kw_only=True)
class ColumnsPage:
    """Columns with suggested roles and reasons, to decide about."""

    shell: Shell
    job: Job | None  # the look at the table, while it lasts
    problem: ErrorDetail | None
    reading: Sequence[FormField]
    rows: int
    columns: Sequence[ColumnLine]
    subject: str
    hints: Sequence[str]  # what columns tell about each other, about people and about the file
    roles: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class HierarchyPage:
    """The hierarchy of one column as a tree."""

    shell: Shell
    number: int
    column: str
    tree: Mapping[str, Any] | None  # label, leaves, children
    job: Job | None


@dataclass(frozen=True, kw_only=True)
class SensitiveLine:
    """A sensitive column and what is promised about it alone."""

    name: str
    fields: Sequence[FormField]
    own: int  # how many of them were said


@dataclass(frozen=True, kw_only=True)
class PromisesPage:
    """What is promised and how."""

    shell: Shell
    everybody: Sequence[FormField]
    figures: Sequence[FormField]
    method: Sequence[FormField]
    more: Mapping[str, Sequence[FormField]]  # by heading
    sensitive: Sequence[SensitiveLine]


@dataclass(frozen=True, kw_only=True)
class RunPage:
    """Everything before the run, and the run itself."""

    shell: Shell
    job: Job | None
    settings: Mapping[str, Any]
    problem: ErrorDetail | None  # why it cannot run yet
    estimate: Mapping[str, Any] | None
    estimate_job: Job | None


@dataclass(frozen=True, kw_only=True)
class ResultPage:
    """The release: what holds, what is left, what the red team found."""

    shell: Shell
    job: Job | None
    parts: Mapping[str, Any] | None  # what the report says first, in the language of the page
    old: bool  # something was decided otherwise since
    red_team: Mapping[str, Any]
    files: Sequence[tuple[str, int]]  # names and sizes
    report_url: str
    attack_job: Job | None
    warnings: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run of a sweep."""

    name: str  # the method, and its strategy where there are several
    method: str
    strategy: str | None
    k: int
    gcp: float
    highest_risk: float
    average_risk: float
    seconds: float
    holds: bool
    on_frontier: bool  # no other run has both less loss and less risk
    chosen: bool  # what the project does now


@dataclass(frozen=True, kw_only=True)
class ComparePage:
    """A sweep of methods over k, with points to adopt."""

    shell: Shell
    job: Job | None
    points: Sequence[Point]
    left_out: Mapping[str, str]
    take: tuple[Point, Point] | None  # what loses least and what is quickest, at the k that is wanted
    ks: Sequence[int]  # what a sweep tries unless something else is said
    picture: Frontier | None
    methods: Sequence[str]
    usual: Sequence[str]  # methods a sweep takes unless something else is said


@dataclass(frozen=True, kw_only=True)
class AuditPage:
    """What the table promises as it is."""

    shell: Shell
    job: Job | None
    parts: Mapping[str, Any] | None
    old: bool


@dataclass(frozen=True, kw_only=True)
class QueriesPage:
    """Private answers: the budget, what was asked, and what a question would cost."""

    shell: Shell
    job: Job | None
    ledger_job: Job | None
    sheet: Mapping[str, Any] | None
    gain: Mapping[str, Any] | None  # what the best attack gains: by what was spent, and by all of it
    history: Sequence[Mapping[str, Any]]
    answer: Mapping[str, Any] | None
    plan: Mapping[str, Any] | None
    asked: Mapping[str, Any]
    columns: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class LivePage:
    """One federated run, as its folder tells it now."""

    shell: Shell
    name: str
    run: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class FederatedPage:
    """Federated runs."""

    shell: Shell
    installed: bool
    runs: Sequence[FederatedRun]


@dataclass(frozen=True, kw_only=True)
class MessagePage:
    """Something that went wrong, or somebody who has to come in first."""

    shell: Shell
    status: int
    error: ErrorDetail
    asks_password: bool = False


@dataclass(frozen=True, kw_only=True)
class ApiRoute:
    """One line of the API."""

    method: str
    path: str
    what: str
    body: Sequence[str]
    answers: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ApiPage:
    """The API as a page: one line a route."""

    shell: Shell
    version: str
    groups: Mapping[str, Sequence[ApiRoute]]
