"""The pages: a route, a view, a context, a template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from mahrem.errors import MahremError
from mahrem.web import _views as views
from mahrem.web._contexts import FederatedPage, Shell
from mahrem.web._drawn import report_in
from mahrem.web._errors import Refused, described, not_found
from mahrem.web._forms import read_columns, read_own, read_promises, read_reading, read_sweep
from mahrem.web._guard import PICTURE_POLICY, REPORT_POLICY
from mahrem.web._house import House, HouseDep, JobId, ProjectId
from mahrem.web._language import LOOK
from mahrem.web._models import ErrorDetail, Project, SourceFacts
from mahrem.web._runs import federated_runs
from mahrem.web._sources import pick_database, pick_file
from mahrem.web._templates import render
from mahrem.web._upload import receive_form

__all__ = ["FormDep", "again", "router", "to"]

router = APIRouter(include_in_schema=False)


async def _form(request: Request) -> FormData:
    return await request.form()


FormDep = Annotated[FormData, Depends(_form)]


def to(address: str) -> RedirectResponse:
    """Go on to another page after something was done."""
    return RedirectResponse(address, status_code=303)


def again(page: Callable[..., Any], error: MahremError, *known: Any) -> HTMLResponse:
    """Show a page once more, with what was wrong."""
    status, detail = described(error)
    return HTMLResponse(render(page(*known, message=ErrorDetail(**detail))), status_code=status)


@router.get("/")
def first() -> Response:
    """Begin at the projects."""
    return to("/projects")


@router.get("/projects")
def projects(house: HouseDep) -> HTMLResponse:
    """Show all projects and the ways to open a table."""
    return HTMLResponse(render(views.projects_page(house)))


@router.post("/projects")
async def upload(house: HouseDep, request: Request) -> Response:
    """Take a file from a form."""
    try:
        project, facts, _ = await receive_form(
            request, lambda name: house.store.create(name).id, house.store, house.settings.max_upload
        )
    except MahremError as error:
        return await run_in_threadpool(again, views.projects_page, error, house)
    if facts is not None:
        await run_in_threadpool(house.open_source, project, facts)
    return to(f"/projects/{project}/columns")


@router.post("/projects/demo")
def demo(house: HouseDep) -> Response:
    """Open fictional patients."""
    project = house.store.create("fictional patients")
    house.open_demo(project.id)
    return to(f"/projects/{project.id}/columns")


@router.post("/projects/path")
def from_path(house: HouseDep, form: FormDep) -> Response:
    """Open a file below a declared folder."""
    try:
        number = int(str(form.get("folder", "")) or -1)
        path, size = pick_file(house.settings, number, str(form.get("path", "")))
    except (MahremError, ValueError) as error:
        refused = (
            error if isinstance(error, MahremError) else Refused(404, "not_found", "There is no such folder")
        )
        return again(views.projects_page, refused, house)
    asked: dict[str, Any] = {key: str(form.get(key, "")) or None for key in ("table", "query")}
    facts = SourceFacts(
        kind="folder", label=path.name, size=size, folder=number, path=str(form.get("path")), **asked
    )
    return _opened(house, facts)


@router.post("/projects/database")
def from_database(house: HouseDep, form: FormDep) -> Response:
    """Ask a declared database."""
    label = str(form.get("database", ""))
    try:
        pick_database(house.settings, label)
    except MahremError as error:
        return again(views.projects_page, error, house)
    asked: dict[str, Any] = {key: str(form.get(key, "")) or None for key in ("table", "query")}
    return _opened(house, SourceFacts(kind="database", label=label, database=label, **asked))


def _opened(house: House, facts: SourceFacts) -> Response:
    project = house.store.create(facts.label)
    house.open_source(project.id, facts)
    return to(f"/projects/{project.id}/columns")


@router.get("/projects/{project}")
def project_home(house: HouseDep, project: ProjectId) -> Response:
    """Go to the step a project has reached."""
    step = "result" if "anonymize" in house.store.get(project).jobs else "columns"
    return to(f"/projects/{project}/{step}")


@router.post("/projects/{project}/forget")
def forget(house: HouseDep, project: ProjectId) -> Response:
    """Remove the raw data."""
    house.forget(project)
    return to("/projects")


@router.post("/projects/{project}/delete")
def delete(house: HouseDep, project: ProjectId) -> Response:
    """Remove a project."""
    house.remove(project)
    return to("/projects")


@router.get("/projects/{project}/columns")
def columns(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show the columns."""
    return HTMLResponse(render(views.columns_page(house, house.store.get(project))))


@router.post("/projects/{project}/columns")
def decide_columns(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Keep the roles."""
    return _decided(
        house, project, views.columns_page, "promises", lambda found: {"choices": read_columns(found, form)}
    )


@router.post("/projects/{project}/reading")
def read_again(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Read the file in another way."""
    found = house.store.get(project)
    try:
        house.store.update(project, reading=read_reading(form), problem=None)
    except MahremError as error:
        return again(views.columns_page, error, house, found)
    house.look_again(project)
    return to(f"/projects/{project}/columns")


@router.get("/projects/{project}/promises")
def promises(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show what may be promised."""
    return HTMLResponse(render(views.promises_page(house.store.get(project))))


@router.post("/projects/{project}/promises")
def decide_promises(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Keep the promises."""

    def page(_: House, found: Project, message: ErrorDetail) -> Any:
        return views.promises_page(found, message)

    return _decided(
        house,
        project,
        page,
        "run",
        lambda found: {
            "promises": read_promises(found, form),
            **({"choices": read_own(found, form)} if found.choices is not None else {}),
        },
    )


def _decided(
    house: House,
    project: str,
    page: Callable[..., Any],
    following: str,
    read: Callable[[Project], dict[str, Any]],
) -> Response:
    found = house.store.get(project)
    try:
        house.decide(found, **read(found))
    except MahremError as error:
        return again(page, error, house, found)
    return to(f"/projects/{project}/{following}")


@router.get("/projects/{project}/run")
def run(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show what will be done."""
    return HTMLResponse(render(views.run_page(house, house.store.get(project))))


@router.post("/projects/{project}/run/{verb}")
def start(house: HouseDep, project: ProjectId, verb: str, form: FormDep) -> Response:
    """Begin a job that needs no more words."""
    found = house.store.get(project)
    pages = {
        "anonymize": ("run", views.run_page),
        "estimate": ("run", views.run_page),
        "attack": ("result", views.result_page),
        "audit": ("audit", views.audit_page),
        "compare": ("compare", views.compare_page),
    }
    if verb not in pages:
        raise Refused(404, "not_found", "There is no such job")
    step, page = pages[verb]
    try:
        house.start(found, verb, read_sweep(form) if verb == "compare" else None)
    except MahremError as error:
        return again(page, error, house, found)
    return to(f"/projects/{project}/{step}")


@router.post("/projects/{project}/jobs/{job}/cancel")
def cancel(house: HouseDep, project: ProjectId, job: JobId, request: Request) -> Response:
    """Stop a job and go back."""
    if house.queue.get(job).project != project:
        raise not_found("job")
    house.runner.cancel(job)
    back = str(request.query_params.get("back", "run"))
    return to(f"/projects/{project}/{back if back in _STEPS else 'run'}")


_STEPS = frozenset({"columns", "run", "result", "compare", "audit", "queries"})


@router.get("/projects/{project}/result")
def result(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show the release."""
    return HTMLResponse(render(views.result_page(house, house.store.get(project))))


@router.get("/projects/{project}/report")
def report(house: HouseDep, project: ProjectId, language: str = "") -> Response:
    """Give the report for a frame, in a language and in the colours of the page; it runs nothing."""
    found = house.store.get(project)
    text = report_in(house.release_file(found, "report.json"), language)
    shade = {"dark": "all", "light": "not all"}.get(LOOK.get().theme)
    if shade is not None:
        text = text.replace("(prefers-color-scheme: dark)", shade)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


@router.get("/projects/{project}/compare")
def compare(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show a sweep."""
    return HTMLResponse(render(views.compare_page(house, house.store.get(project))))


@router.get("/projects/{project}/frontier.svg")
def frontier(house: HouseDep, project: ProjectId) -> Response:
    """Give the picture of a sweep."""
    found = house.store.get(project)
    path = (
        house.store.folder(project) / f"job-{house.job_of(found, 'compare')}" / "comparison" / "frontier.svg"
    )
    if not path.is_file():
        raise Refused(404, "not_found", "There is no picture")
    return FileResponse(path, media_type="image/svg+xml", headers={"content-security-policy": PICTURE_POLICY})


@router.post("/projects/{project}/adopt")
def adopt(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Go on with a point of a sweep."""
    from mahrem.web._api import adopted
    from mahrem.web._forms import read_point

    return _decided(
        house,
        project,
        views.compare_page,
        "run",
        lambda found: {"promises": adopted(found, read_point(form))},
    )


@router.get("/projects/{project}/audit")
def audit(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show what the table promises as it is."""
    return HTMLResponse(render(views.audit_page(house, house.store.get(project))))


@router.get("/federated")
def federated(house: HouseDep) -> HTMLResponse:
    """List federated runs."""
    return HTMLResponse(
        render(FederatedPage(shell=Shell(title="federated"), **federated_runs(house.settings)))
    )
