"""The pages around projects: open a table, remove one, what else the house holds."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from mahrem.errors import MahremError
from mahrem.web import _views as views
from mahrem.web._answers import FormDep, again, to
from mahrem.web._contexts import ApiPage, FederatedPage, Shell
from mahrem.web._errors import Refused
from mahrem.web._house import House, HouseDep, ProjectId
from mahrem.web._models import SourceFacts
from mahrem.web._runs import federated_runs
from mahrem.web._sources import pick_database, pick_file
from mahrem.web._templates import render
from mahrem.web._upload import receive_form

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


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
    facts = SourceFacts(
        kind="folder",
        label=path.name,
        size=size,
        folder=number,
        path=str(form.get("path")),
        **_asked(form),
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
    return _opened(house, SourceFacts(kind="database", label=label, database=label, **_asked(form)))


def _asked(form: FormData) -> dict[str, Any]:
    """Say which table of a database is meant, or what it is asked."""
    return {key: str(form.get(key, "")) or None for key in ("table", "query")}


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


@router.get("/federated")
def federated(house: HouseDep) -> HTMLResponse:
    """List federated runs."""
    return HTMLResponse(
        render(FederatedPage(shell=Shell(title="federated"), **federated_runs(house.settings)))
    )


@router.get("/api")
def api(request: Request) -> HTMLResponse:
    """Show the API as a page, from its own description."""
    described = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            groups.setdefault(about.get("tags", ["other"])[0], []).append(
                {
                    "method": method.upper(),
                    "path": path,
                    "what": about.get("description", "").strip(),
                    "body": _names(about, described),
                    "answers": sorted(about["responses"]),
                }
            )
    page = ApiPage(shell=Shell(title="api"), version=described["info"]["version"], groups=groups)
    return HTMLResponse(render(page))


def _names(about: dict[str, Any], described: dict[str, Any]) -> list[str]:
    """Name the fields of a body."""
    content = about.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    known = schema.get("$ref", "").rsplit("/", 1)[-1]
    found = described["components"]["schemas"].get(known, schema)
    return list(found.get("properties", {})) or list(content)
