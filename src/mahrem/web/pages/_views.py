"""From a project to what its pages show; nothing here changes anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mahrem.models import model_settings
from mahrem.table import Kind
from mahrem.web._errors import Refused, refusal_of
from mahrem.web._house import House
from mahrem.web._language import LOOK
from mahrem.web._orders import Json
from mahrem.web.bodies import (
    DECLARED,
    ROLES,
    ColumnChoice,
    Columns,
    ErrorDetail,
    FormField,
    Job,
    Project,
    ReleasePromises,
    form_fields,
    settings_of_column,
    settings_of_step,
)
from mahrem.web.jobs import drawn, result_of
from mahrem.web.pages._contexts import (
    AuditPage,
    ColumnLine,
    ColumnsPage,
    ComparePage,
    HierarchyPage,
    PageStep,
    Point,
    ProjectsPage,
    PromisesPage,
    QueriesPage,
    ResultPage,
    RunPage,
    SensitiveLine,
    Shell,
)
from mahrem.web.pages._frontier import frontier
from mahrem.web.projects import OWN_CLUSTER, database_label, decisions_of, list_files, settings_of
from mahrem.words import Note, load_catalogue

_USUAL_KS = (3, 5, 10, 20)  # that a sweep tries, with the k that is wanted
_STEPS = (
    "columns",
    "promises",
    "explore",
    "run",
    "result",
    "history",
    "compare",
    "audit",
    "queries",
    "other",
)


def shell_of(project: Project, current: str, message: ErrorDetail | None = None) -> Shell:
    """Give what stands around a page of a project."""
    ready = project.profile is not None
    is_open = {"columns": True, "result": "anonymize" in project.jobs}
    steps = tuple(
        PageStep(
            key=key,
            url=f"/projects/{project.id}/{key}",
            current=key == current,
            open=is_open.get(key, ready),
        )
        for key in _STEPS
    )
    return Shell(title=current, project=project, steps=steps, message=message)


def projects_page(house: House, message: ErrorDetail | None = None) -> ProjectsPage:
    """Show all projects and the ways to open a table."""
    return ProjectsPage(
        shell=Shell(title="projects", message=message),
        projects=house.store.list(),
        folders=list(list_files(house.settings)),
        databases=[database_label(uri) for uri in house.settings.databases],
        max_upload=house.settings.max_upload,
        keep_hours=house.settings.keep_hours,
        troubles=[
            ErrorDetail(**Refused(503, f"{what}_stuck", since=since).record)
            for what, since in sorted(house.runner.troubles().items())
        ],
    )


def columns_page(house: House, project: Project, message: ErrorDetail | None = None) -> ColumnsPage:
    """Show the columns of a table."""
    profile = project.profile or {"rows": 0, "columns": []}
    words, looked = load_catalogue(LOOK.get().language), house.queue.last(project.id, "inspect")
    choices = project.choices or Columns(columns={})
    texts, settings = load_catalogue(LOOK.get().language), settings_of_column().values()
    lines = []
    for number, facts in enumerate(profile["columns"]):
        choice = choices.columns.get(facts["name"])
        decided = {} if choice is None else choice.model_dump()
        fields = form_fields(settings, decided, texts, more_choices={"kind": tuple(Kind)})
        lines.append(
            ColumnLine(
                number=number,
                **{
                    key: facts[key] for key in ("name", "kind", "distinct", "missing", "rows", "unique_share")
                },
                suggested_role=facts["suggested_role"],
                reason=words.tell(Note.read(facts.get("reason_note"), facts["reason"])),
                role=_role(project, choice),
                portrait=facts.get("portrait"),
                fields=[replace(field, name=f"{field.name}-{number}") for field in fields],
                has_hierarchy=facts["name"] in project.hierarchies,
            )
        )
    return ColumnsPage(
        shell=shell_of(project, "columns", message),
        job=_unless_done(looked),
        problem=looked.error if project.problem and looked and looked.error else project.problem,
        rows=profile["rows"],
        columns=lines,
        subject=choices.subject or "",
        hints=[words.tell(Note.read(hint, hint["text"])) for hint in profile.get("hints", ())],
        roles=ROLES,
        reading=form_fields(settings_of_step("reading").values(), project.reading.model_dump(), texts),
    )


def _role(project: Project, choice: ColumnChoice | None) -> str:
    """Give the role of a column; that it is published as it is has to be decided by somebody."""
    if choice is None:
        return "drop"
    return "" if choice.role == "insensitive" and not project.settled else choice.role


def hierarchy_page(
    house: House, project: Project, number: int, column: str, tree: Mapping[str, object] | None
) -> HierarchyPage:
    """Show the hierarchy of a column."""
    return HierarchyPage(
        shell=shell_of(project, "hierarchy"),
        number=number,
        column=column,
        tree=tree,
        job=_unless_done(house.queue.last(project.id, "hierarchy")),
    )


def promises_page(house: House, project: Project, message: ErrorDetail | None = None) -> PromisesPage:
    """Show what may be promised, and every other decision about the whole release."""
    texts, figures = load_catalogue(LOOK.get().language), model_settings()
    decided = (project.promises or ReleasePromises(language=LOOK.get().language)).model_dump()
    settings = settings_of_step("promises")
    files = tuple(f"{folder.number}:{file}" for folder in list_files(house.settings) for file in folder.files)
    places = {**dict.fromkeys(DECLARED, files), "master": (OWN_CLUSTER, *house.settings.masters)}

    def fields(names: Iterable[str]) -> list[FormField]:
        return form_fields([settings[name] for name in names], decided, texts, more_choices=places)

    chosen = (project.choices or Columns(columns={})).columns
    names = [column["name"] for column in (project.profile or {"columns": []})["columns"]]
    sensitive = [
        SensitiveLine(
            name=name,
            fields=form_fields(figures.values(), chosen[name].promises, texts, prefix=f"own-{number}-"),
            own=len(chosen[name].promises),
        )
        for number, name in enumerate(names)
        if name in chosen and chosen[name].role == "sensitive"
    ]
    rest = [name for name in settings if name not in {"k", "method", *figures}]
    return PromisesPage(
        shell=shell_of(project, "promises", message),
        everybody=fields(["k"]),
        figures=fields(figures),
        method=fields(["method"]),
        more={
            texts.say(f"setting_group.{group}"): fields(
                name for name in rest if settings[name].group == group
            )
            for group in dict.fromkeys(settings[name].group for name in rest)
        },
        sensitive=sensitive,
    )


def run_page(house: House, project: Project, message: ErrorDetail | None = None) -> RunPage:
    """Show what will be done, and how it goes."""
    problem, settings = None, {}
    try:
        settings = settings_of(project, house.store.folder(project.id), house.settings)
    except Exception as error:  # noqa: BLE001 - the page says why
        problem = ErrorDetail(**refusal_of(error).record)
    roles_first = sorted(settings, key=lambda key: key not in {*ROLES, "subject"})
    shown = {
        key: settings[key]
        for key in roles_first
        if settings[key] not in (None, [], {}) and key != "hierarchy"
    }
    estimated = result_of_verb(house, project, "estimate")
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
    parts = _parts(house, project, "anonymize")
    attacked = (_parts(house, project, "attack") or {}) if _is_attacked(house, project) else {}
    result = result_of_verb(house, project, "anonymize")
    words = load_catalogue(LOOK.get().language)
    notes = [] if result is None else zip(result["privacy_notes"], result["privacy_warnings"], strict=True)
    own = [words.tell(Note.read(note, text)) for note, text in notes]
    return ResultPage(
        shell=shell_of(project, "result", message),
        job=house.queue.last(project.id, "anonymize"),
        parts=parts,
        old=is_old(project, "anonymize"),
        red_team=attacked.get("red_team") or (parts or {}).get("red_team") or {},
        files=[] if parts is None else _files(house, project),
        report_url=f"/projects/{project.id}/report",
        attack_job=_unless_done(house.queue.last(project.id, "attack")),
        warnings=[*(parts or {}).get("warnings", ()), *own],
    )


def _is_attacked(house: House, project: Project) -> bool:
    """Say whether the attacks that are known were on the release that is shown."""
    attacked = result_of_verb(house, project, "attack") or {}
    return attacked.get("release") == project.jobs.get("anonymize")


def compare_page(house: House, project: Project, message: ErrorDetail | None = None) -> ComparePage:
    """Show a sweep."""
    from mahrem.partition import METHODS

    sweep = result_of_verb(house, project, "compare") or {"results": [], "left_out": {}}
    words, notes = load_catalogue(LOOK.get().language), sweep.get("left_out_notes", {})
    now = project.promises or ReleasePromises()
    points = _points(sweep["results"], now)
    take = _to_take(points, now.k)
    return ComparePage(
        shell=shell_of(project, "compare", message),
        job=house.queue.last(project.id, "compare"),
        points=points,
        left_out={
            name: words.tell(Note.read(notes.get(name), why)) for name, why in sweep["left_out"].items()
        },
        take=take,
        ks=sorted({*_USUAL_KS, *([] if now.k is None else [now.k])}),
        picture=frontier(points, take[0].name if take else None),
        methods=list(METHODS),
        usual=[name for name, method in METHODS.items() if method.usual],
    )


def audit_page(house: House, project: Project, message: ErrorDetail | None = None) -> AuditPage:
    """Show what the table promises as it is."""
    return AuditPage(
        shell=shell_of(project, "audit", message),
        job=house.queue.last(project.id, "audit"),
        parts=_parts(house, project, "audit"),
        old=is_old(project, "audit"),
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
        gain=None if ledger is None else ledger["gain"],
        history=[] if ledger is None else ledger["history"],
        answer=result_of_verb(house, project, "query"),
        plan=plan,
        asked=asked or {},
        columns=[column["name"] for column in (project.profile or {"columns": []})["columns"]],
    )


def _points(rows: Sequence[Mapping[str, Any]], now: ReleasePromises) -> list[Point]:
    """Give the runs that led to a table, the least risk first, and say which no other run beats."""
    done = [row for row in rows if row["gcp"] is not None]

    def beaten(row: Mapping[str, Any]) -> bool:
        here = (row["highest_risk"], row["gcp"])
        others = ((other["highest_risk"], other["gcp"]) for other in done)
        return any(risk <= here[0] and loss <= here[1] and (risk, loss) != here for risk, loss in others)

    keys = ("method", "strategy", "k", "gcp", "highest_risk", "average_risk", "seconds", "holds")
    cuts = {(row["method"], row["strategy"]) for row in done}
    several = {method for method, _ in cuts if sum(method == other for other, _ in cuts) > 1}
    points = [
        Point(
            name=f"{row['method']} {row['strategy']}" if row["method"] in several else row["method"],
            **{key: row[key] for key in keys},
            on_frontier=bool(row["holds"]) and not beaten(row),
            chosen=(row["method"], row["k"]) == (now.method, now.k)
            and row["strategy"] in {None, now.strategy},
        )
        for row in done
    ]
    return sorted(points, key=lambda point: (point.k, point.gcp))


def _to_take(points: Sequence[Point], k: int | None) -> tuple[Point, Point] | None:
    """Give the run that loses least at the k that is wanted, and the quickest there."""
    there = [point for point in points if point.holds and point.k == k]
    if not there:
        return None
    return min(there, key=lambda point: point.gcp), min(there, key=lambda point: point.seconds)


def result_of_verb(house: House, project: Project, verb: str) -> Json | None:
    """Give what the last job of a verb found, if there is one."""
    if verb not in project.jobs:
        return None
    try:
        return result_of(house.store, project.id, project.jobs[verb])
    except (OSError, json.JSONDecodeError, Refused):
        return None


def _parts(house: House, project: Project, verb: str) -> Json | None:
    if verb not in project.jobs:
        return None
    return drawn(house.store.folder(project.id) / f"job-{project.jobs[verb]}", LOOK.get().language)


def is_old(project: Project, verb: str) -> bool:
    """Say whether something was decided otherwise since a result was made."""
    return project.decided.get(verb, "") not in {"", decisions_of(project)}


def _files(house: House, project: Project) -> list[tuple[str, int]]:
    return [(path.name, path.stat().st_size) for path in house.release_files(project)]


def _unless_done(job: Job | None) -> Job | None:
    return None if job is None or job.state == "done" else job
