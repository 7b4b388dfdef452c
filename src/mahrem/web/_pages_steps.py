"""The steps of a release: columns, promises, the run, its result, a sweep, an audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from mahrem.errors import MahremError
from mahrem.web import _views as views
from mahrem.web._answers import FormDep, again, to
from mahrem.web._api import adopted
from mahrem.web._drawn import report_in
from mahrem.web._errors import Refused, not_found
from mahrem.web._forms import read_columns, read_own, read_point, read_promises, read_reading, read_sweep
from mahrem.web._guard import PICTURE_POLICY, REPORT_POLICY
from mahrem.web._house import House, HouseDep, JobId, ProjectId
from mahrem.web._language import LOOK
from mahrem.web._models import ErrorDetail, Project
from mahrem.web._templates import render

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


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
