"""The API: jobs, results, hierarchies, private queries."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi import Path as PathPart
from fastapi.responses import FileResponse, StreamingResponse

from mahrem.web._errors import Refused, not_found
from mahrem.web._house import FILES, KEY, House, HouseDep, JobId, ProjectDep, ProjectId
from mahrem.web._orders import Json
from mahrem.web.api._api_answers import ERRORS, JobList, LedgerSheet, Started, TreeFacts
from mahrem.web.bodies import CompareWish, HierarchyTree, HierarchyWish, Job, LedgerWish, Project, Question
from mahrem.web.guard import REPORT_POLICY
from mahrem.web.jobs import check_tree_of, result_of
from mahrem.web.projects import FederatedRuns, check_methods, list_runs, needs_table, zip_files

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["jobs"], dependencies=[KEY])
Number = Annotated[int, PathPart(ge=0, le=100_000, description="Number of the column, from 0")]
Plain = Literal["anonymize", "audit", "attack", "estimate"]
FileName = Annotated[str, PathPart(pattern=r"^[A-Za-z0-9_.]{1,40}$")]
Show = Annotated[bool, Query(description="Show it instead of saving it")]
SENT: dict[int | str, Json] = {200: {"content": {kind.split(";")[0]: {} for kind in FILES.values()}}}


@router.get("/projects/{project}/jobs")
def list_jobs(house: HouseDep, project: ProjectId) -> JobList:
    """List the jobs of a project."""
    house.store.folder(project)
    return JobList(jobs=house.queue.of_project(project))


@router.post("/projects/{project}/compare", status_code=202)
def start_compare(house: HouseDep, project: ProjectId, wish: CompareWish) -> Started:
    """Sweep methods over k; nothing is published."""
    check_methods(wish.methods or ())
    return Started(job=house.start(house.store.get(project), "compare", wish.model_dump(exclude_none=True)))


@router.post("/projects/{project}/run/{verb}", status_code=202)
def start_verb(house: HouseDep, project: ProjectDep, verb: Plain) -> Started:
    """Anonymise, audit the table as it is, attack the release, or estimate what a run would give."""
    return Started(job=house.start(project, verb))


@router.get("/jobs/{job}")
def get_job(house: HouseDep, job: JobId) -> Job:
    """Say how a job stands; ask again while it is queued or running."""
    return house.queue.get(job)


@router.post("/jobs/{job}/cancel")
def cancel_job(house: HouseDep, job: JobId) -> Job:
    """Stop a job; one that has ended stays as it is."""
    return house.runner.cancel(job)


@router.get("/jobs/{job}/result")
def get_result(house: HouseDep, job: JobId) -> Json:
    """Give what a job found, once it is done."""
    ended = house.queue.get(job)
    if ended.state != "done":
        raise Refused(409, "not_done", state=ended.state)
    return result_of(house.store, ended.project, job)


@router.get(
    "/projects/{project}/release/{name}",
    response_class=FileResponse,
    responses=SENT,
)
def get_release_file(
    house: HouseDep,
    project: ProjectDep,
    name: FileName,
    *,
    show: Show = False,
) -> FileResponse:
    """Give a file of the release: data.csv, report.html, report.json, policy.toml, SHA256SUMS."""
    return send_file(house.release_file(project, name), show=show)


@router.get(
    "/projects/{project}/release.zip",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def get_release(house: HouseDep, project: ProjectDep) -> StreamingResponse:
    """Give the whole release as one archive, made while it is sent."""
    paths = house.release_files(project)
    headers = {"content-disposition": 'attachment; filename="release.zip"'}
    return StreamingResponse(zip_files(paths), media_type="application/zip", headers=headers)


@router.post("/hierarchies/check")
def check_tree(body: HierarchyTree) -> TreeFacts:
    """Say whether a tree is a hierarchy and whether its labels are true; nothing is kept."""
    return TreeFacts(**check_tree_of(body.tree.model_dump()))


@router.get("/projects/{project}/hierarchies/{number}")
def get_hierarchy(house: HouseDep, project: ProjectDep, number: Number) -> Json:
    """Give the hierarchy of a column as a tree."""
    return {"column": column_name(project, number), "tree": read_tree(house, project, number)}


@router.put("/projects/{project}/hierarchies/{number}")
def put_hierarchy(house: HouseDep, project: ProjectId, number: Number, body: HierarchyTree) -> TreeFacts:
    """Give a column a hierarchy, edited as a tree."""
    return keep_tree(house, house.store.get(project), number, body)


@router.delete("/projects/{project}/hierarchies/{number}")
def delete_hierarchy(house: HouseDep, project: ProjectDep, number: Number) -> Project:
    """Take the hierarchy of a column away."""
    return remove_tree(house, project, number)


@router.post("/projects/{project}/hierarchies/{number}/make", status_code=202)
def make_hierarchy(house: HouseDep, project: ProjectId, number: Number, wish: HierarchyWish) -> Started:
    """Make a hierarchy over the values of a column."""
    known = house.store.get(project)
    arguments = {"column": column_name(known, number), **wish.model_dump(exclude_none=True)}
    return Started(job=house.start(known, "hierarchy", arguments))


@router.post("/projects/{project}/ledger", status_code=202)
def make_ledger(house: HouseDep, project: ProjectId, wish: LedgerWish) -> Started:
    """Give the table a privacy budget; a table has one budget, it is not made again."""
    return Started(job=house.start(house.store.get(project), "ledger", wish.model_dump(exclude_none=True)))


@router.get("/projects/{project}/ledger")
def get_ledger(house: HouseDep, project: ProjectDep) -> LedgerSheet:
    """Say what was spent and what is left."""
    return LedgerSheet(**read_ledger(house, project))


@router.post("/projects/{project}/queries/plan")
def plan(house: HouseDep, project: ProjectId, question: Question) -> Json:
    """Say how far off an answer would be and whether it fits; nothing is spent."""
    return plan_query(house, house.store.get(project), question)


@router.post("/projects/{project}/queries", status_code=202)
def ask(house: HouseDep, project: ProjectId, question: Question) -> Started:
    """Answer a question privately; the ledger pays before any value is looked at."""
    return Started(job=ask_privately(house, house.store.get(project), question))


@router.get("/federated")
def list_federated(house: HouseDep) -> FederatedRuns:
    """List the federated runs below the declared folders."""
    return list_runs(house.settings)


def send_file(path: Path, *, show: bool) -> FileResponse:
    """Send a file of a release, to be saved; a report may be shown instead."""
    return FileResponse(
        path,
        media_type=FILES[path.name],
        filename=path.name,
        content_disposition_type="inline" if show and path.name.startswith("report.") else "attachment",
        headers={"content-security-policy": REPORT_POLICY},
    )


def column_name(project: Project, number: int) -> str:
    """Give the name of a column by its number."""
    columns = needs_table(project)["columns"]
    if not 0 <= number < len(columns):
        raise not_found("column")
    name: str = columns[number]["name"]
    return name


def read_tree(house: House, project: Project, number: int) -> Json:
    """Read the hierarchy of a column as a tree."""
    from mahrem.table import read_hierarchy
    from mahrem.table.hierarchies import nested_hierarchy

    name = column_name(project, number)
    if name not in project.hierarchies:
        raise not_found("hierarchy")
    return nested_hierarchy(read_hierarchy(house.store.folder(project.id) / project.hierarchies[name]))


def keep_tree(house: House, project: Project, number: int, body: HierarchyTree) -> TreeFacts:
    """Give a column a hierarchy."""
    name = column_name(project, number)
    file = f"hierarchy-{secrets.token_hex(16)}.csv"
    facts = TreeFacts(**check_tree_of(body.tree.model_dump(), house.store.folder(project.id) / file))
    house.store.edit(
        project.id, lambda now: now.model_copy(update={"hierarchies": {**now.hierarchies, name: file}})
    )
    return facts


def remove_tree(house: House, project: Project, number: int) -> Project:
    """Take the hierarchy of a column away."""
    name = column_name(project, number)
    if name not in project.hierarchies:
        raise not_found("hierarchy")
    (house.store.folder(project.id) / project.hierarchies[name]).unlink(missing_ok=True)
    left = {key: file for key, file in project.hierarchies.items() if key != name}
    return house.store.update(project.id, hierarchies=left)


def read_ledger(house: House, project: Project) -> Json:
    """Read the ledger of a project."""
    from mahrem.dp import Ledger
    from mahrem.dp.accounting import promised_gain

    opened = Ledger.open(house.ledger_path(project))
    gains = {"spent": opened.gain(), "promised": promised_gain(opened.epsilon, opened.delta)}
    return _plain(
        {
            "sheet": opened.data_sheet(),
            "history": opened.history(),
            "gain": {name: gain.as_dict() for name, gain in gains.items()} | {"measured": opened.audits()},
        }
    )


def plan_query(house: House, project: Project, question: Question) -> Json:
    """Say what a question would cost and how far off its answer would be."""
    from mahrem.pipeline import query

    settings = question.model_dump(exclude={"question"}, exclude_none=True)
    answer = query(None, question.question, ledger=house.ledger_path(project), plan=True, **settings)
    return _plain(answer.as_dict())


def ask_privately(house: House, project: Project, question: Question, *, seen: int | None = None) -> Job:
    """Have a question answered if the budget covers it; ``seen``: lines of the ledger a person saw."""
    if not plan_query(house, project, question)["fits"]:
        raise Refused(409, "budget_exceeded")
    return house.start(project, "query", question.model_dump(exclude_none=True), seen=seen)


def _plain(figures: Json) -> Json:
    """Give data as JSON has it; figures that are no numbers become null."""
    from mahrem.report import to_json

    plain: Json = json.loads(to_json(figures))
    return plain
