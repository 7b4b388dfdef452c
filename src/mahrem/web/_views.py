"""From a project to what its pages show; nothing here changes anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.web._contexts import (
    AuditPage,
    ColumnLine,
    ColumnsPage,
    ComparePage,
    HierarchyPage,
    Point,
    ProjectsPage,
    PromisesPage,
    QueriesPage,
    ResultPage,
    RunPage,
    Shell,
    Step,
)
from mahrem.web._errors import described
from mahrem.web._house import FILES, House
from mahrem.web._models import Columns, ErrorDetail, Job, Project, Promises
from mahrem.web._outcomes import result_of
from mahrem.web._plan import settings_of
from mahrem.web._sources import database_label, list_files
from mahrem.web._words import METHODS_IN_WORDS, PROMISES, ROLES

__all__ = [
    "audit_page",
    "columns_page",
    "compare_page",
    "hierarchy_page",
    "projects_page",
    "promises_page",
    "queries_page",
    "result_page",
    "run_page",
    "shell_of",
]

_STEPS = (
    ("columns", "Columns"),
    ("promises", "Promises"),
    ("run", "Run"),
    ("result", "Result"),
    ("compare", "Compare"),
    ("audit", "Audit"),
    ("queries", "Queries"),
)
_KINDS = ("numeric", "ordinal", "categorical", "date", "code")


def shell_of(project: Project, current: str, message: ErrorDetail | None = None) -> Shell:
    """Give what stands around a page of a project."""
    ready = project.profile is not None
    is_open = {"columns": True, "result": "anonymize" in project.jobs}
    steps = tuple(
        Step(
            key=key,
            name=name,
            url=f"/projects/{project.id}/{key}",
            current=key == current,
            open=is_open.get(key, ready),
        )
        for key, name in _STEPS
    )
    title = dict(_STEPS).get(current, current)
    return Shell(title=title, project=project, steps=steps, message=message)


def projects_page(house: House, message: ErrorDetail | None = None) -> ProjectsPage:
    """Show all projects and the ways to open a table."""
    return ProjectsPage(
        shell=Shell(title="Projects", message=message),
        projects=house.store.list(),
        folders=list(list_files(house.settings)),
        databases=[database_label(uri) for uri in house.settings.databases],
        max_upload=house.settings.max_upload,
        keep_hours=house.settings.keep_hours,
    )


def columns_page(house: House, project: Project, message: ErrorDetail | None = None) -> ColumnsPage:
    """Show the columns of a table."""
    profile = project.profile or {"rows": 0, "columns": []}
    choices = project.choices or Columns(columns={})
    lines = []
    for number, facts in enumerate(profile["columns"]):
        choice = choices.columns.get(facts["name"])
        lines.append(
            ColumnLine(
                number=number,
                **{
                    key: facts[key] for key in ("name", "kind", "distinct", "missing", "rows", "unique_share")
                },
                suggested_role=facts["suggested_role"],
                reason=facts["reason"],
                role="drop" if choice is None else choice.role,
                chosen_kind=(choice.kind if choice is not None else None) or "",
                order=", ".join((choice.order if choice is not None else None) or ()),
                has_hierarchy=facts["name"] in project.hierarchies,
            )
        )
    return ColumnsPage(
        shell=shell_of(project, "columns", message),
        job=_unless_done(house.queue.last(project.id, "inspect")),
        problem=project.problem,
        reading=project.reading,
        rows=profile["rows"],
        columns=lines,
        subject=choices.subject or "",
        roles=ROLES,
        kinds=_KINDS,
    )


def hierarchy_page(
    house: House, project: Project, number: int, column: str, tree: Mapping[str, Any] | None
) -> HierarchyPage:
    """Show the hierarchy of a column."""
    return HierarchyPage(
        shell=shell_of(project, "columns"),
        number=number,
        column=column,
        tree=tree,
        job=_unless_done(house.queue.last(project.id, "hierarchy")),
    )


def promises_page(project: Project, message: ErrorDetail | None = None) -> PromisesPage:
    """Show what may be promised."""
    from mahrem.partition import METHODS

    chosen = (project.choices or Columns(columns={})).columns
    sensitive = [name for name, choice in chosen.items() if choice.role == "sensitive"]
    return PromisesPage(
        shell=shell_of(project, "promises", message),
        promises=project.promises or Promises(),
        explained=PROMISES,
        methods={name: METHODS_IN_WORDS.get(name, "") for name in METHODS},
        sensitive=sensitive,
        own={name: chosen[name].promises for name in sensitive if chosen[name].promises},
    )


def run_page(house: House, project: Project, message: ErrorDetail | None = None) -> RunPage:
    """Show what will be done, and how it goes."""
    problem, settings = None, {}
    try:
        settings = settings_of(project, house.store.folder(project.id))
    except Exception as error:  # noqa: BLE001 - the page says why
        problem = ErrorDetail(**described(error)[1])
    shown = {
        key: value for key, value in settings.items() if value not in (None, [], {}) and key != "hierarchy"
    }
    estimated = _result(house, project, "estimate")
    return RunPage(
        shell=shell_of(project, "run", message),
        job=house.queue.last(project.id, "anonymize"),
        settings=shown,
        problem=problem,
        estimate=None if estimated is None else estimated["report"],
        estimate_job=_unless_done(house.queue.last(project.id, "estimate")),
    )


def result_page(house: House, project: Project, message: ErrorDetail | None = None) -> ResultPage:
    """Show the release."""
    found = _result(house, project, "anonymize")
    attacked = _result(house, project, "attack")
    report = None if found is None else found["report"]
    team = (report or {}).get("red_team") or {}
    findings = (team if attacked is None else attacked["report"]).get("findings", [])
    files = [] if found is None else [name for name in FILES if _has(house, project, name)]
    return ResultPage(
        shell=shell_of(project, "result", message),
        job=house.queue.last(project.id, "anonymize"),
        report=report,
        findings=findings,
        files=files,
        report_url=f"/projects/{project.id}/report",
        attack_job=_unless_done(house.queue.last(project.id, "attack")),
        warnings=[] if found is None else [*report.get("warnings", ()), *found["privacy_warnings"]],  # type: ignore[union-attr]
    )


def compare_page(house: House, project: Project, message: ErrorDetail | None = None) -> ComparePage:
    """Show a sweep."""
    from mahrem.partition import METHODS

    found = _result(house, project, "compare")
    rows = [] if found is None else found["results"]
    return ComparePage(
        shell=shell_of(project, "compare", message),
        job=house.queue.last(project.id, "compare"),
        points=_points(rows, project.promises or Promises()),
        left_out={} if found is None else found["left_out"],
        advice=[] if found is None else found["advice"],
        picture=f"/projects/{project.id}/frontier.svg" if rows else None,
        methods=list(METHODS),
    )


def audit_page(house: House, project: Project, message: ErrorDetail | None = None) -> AuditPage:
    """Show what the table promises as it is."""
    found = _result(house, project, "audit")
    return AuditPage(
        shell=shell_of(project, "audit", message),
        job=house.queue.last(project.id, "audit"),
        report=None if found is None else found["report"],
    )


def queries_page(
    house: House,
    project: Project,
    ledger: Mapping[str, Any] | None,
    message: ErrorDetail | None = None,
    plan: Mapping[str, Any] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> QueriesPage:
    """Show the budget and what was asked."""
    return QueriesPage(
        shell=shell_of(project, "queries", message),
        job=house.queue.last(project.id, "query"),
        ledger_job=_unless_done(house.queue.last(project.id, "ledger")),
        sheet=None if ledger is None else ledger["sheet"],
        history=[] if ledger is None else ledger["history"],
        answer=_result(house, project, "query"),
        plan=plan,
        asked=asked or {},
        columns=[column["name"] for column in (project.profile or {"columns": []})["columns"]],
    )


def _points(rows: Sequence[Mapping[str, Any]], now: Promises) -> list[Point]:
    """Give the runs that led to a table, the least risk first, and say which no other run beats."""
    done = [row for row in rows if row["gcp"] is not None]

    def beaten(row: Mapping[str, Any]) -> bool:
        here = (row["highest_risk"], row["gcp"])
        others = ((other["highest_risk"], other["gcp"]) for other in done)
        return any(risk <= here[0] and loss <= here[1] and (risk, loss) != here for risk, loss in others)

    keys = ("method", "strategy", "k", "gcp", "highest_risk", "average_risk", "seconds", "holds")
    points = [
        Point(
            **{key: row[key] for key in keys},
            on_frontier=bool(row["holds"]) and not beaten(row),
            chosen=(row["method"], row["k"]) == (now.method, now.k)
            and row["strategy"] in {None, now.strategy},
        )
        for row in done
    ]
    return sorted(points, key=lambda point: (point.k, point.gcp))


def _result(house: House, project: Project, verb: str) -> dict[str, Any] | None:
    if verb not in project.jobs:
        return None
    try:
        return result_of(house.store, project.id, project.jobs[verb])
    except (OSError, json.JSONDecodeError):
        return None


def _has(house: House, project: Project, name: str) -> bool:
    return (house.store.folder(project.id) / f"job-{project.jobs['anonymize']}" / "release" / name).is_file()


def _unless_done(job: Job | None) -> Job | None:
    return None if job is None or job.state == "done" else job
