"""The pages around projects: open a table, remove one, what else the house holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from mahrem.errors import MahremError
from mahrem.web._errors import Refused
from mahrem.web._house import House, HouseDep, ProjectDep, ProjectId
from mahrem.web.bodies import SourceFacts
from mahrem.web.pages import _views as views
from mahrem.web.pages._answers import FormDep, again, show, to
from mahrem.web.pages._contexts import ApiPage, ApiRoute, FederatedPage, LivePage, Shell
from mahrem.web.projects import file_facts, list_runs, pick_database, read_listed, receive_form

router = APIRouter(include_in_schema=False)


@router.get("/")
def first() -> Response:
    """Begin at the projects."""
    return to("/projects")


@router.get("/projects")
def projects(house: HouseDep) -> HTMLResponse:
    """Show all projects and the ways to open a table."""
    return show(views.projects_page(house))


@router.post("/projects")
async def upload(house: HouseDep, request: Request) -> Response:
    """Take a file from a form."""
    try:
        most = await run_in_threadpool(house.largest_upload)
        project, facts, _ = await receive_form(
            request, lambda name: house.store.create(name).id, house.store, most
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
    folder, path = str(form.get("folder", "")), str(form.get("path", ""))
    number = int(folder) if folder.isdecimal() else -1  # no folder has it
    return _open(house, lambda: file_facts(house.settings, number, path, **_asked(form)))


@router.post("/projects/database")
def from_database(house: HouseDep, form: FormDep) -> Response:
    """Ask a declared database."""
    label = str(form.get("database", ""))

    def facts() -> SourceFacts:
        pick_database(house.settings, label)
        asked = _asked(form)
        return SourceFacts(
            kind="database", label=label, database=label, table=asked["table"], query=asked["query"]
        )

    return _open(house, facts)


def _asked(form: FormData) -> dict[str, str | None]:
    """Say which table of a database is meant, or what it is asked."""
    return {key: str(form.get(key, "")) or None for key in ("table", "query")}


def _open(house: House, facts: Callable[[], SourceFacts]) -> Response:
    try:
        source = facts()
    except MahremError as error:
        return again(views.projects_page, error, house)
    project = house.store.create(source.label)
    house.open_source(project.id, source)
    return to(f"/projects/{project.id}/columns")


@router.get("/projects/{project}")
def project_home(project: ProjectDep) -> Response:
    """Go to the step a project has reached."""
    return to(f"/projects/{project.id}/{'result' if 'anonymize' in project.jobs else 'columns'}")


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
    listed = list_runs(house.settings)
    return show(FederatedPage(shell=Shell(title="federated"), installed=listed.installed, runs=listed.runs))


@router.get("/federated/run")
def live(house: HouseDep, name: str) -> HTMLResponse:
    """Show one federated run while it goes on."""
    run = read_listed(house.settings, name)
    if run is None:
        raise Refused(404, "not_found", what="run")
    return show(LivePage(shell=Shell(title="live"), name=name, run=run))


@router.get("/api")
def api(request: Request) -> HTMLResponse:
    """Show the API as a page, from its own description."""
    description = request.app.openapi()
    groups: dict[str, list[ApiRoute]] = {}
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            route = ApiRoute(
                method=method.upper(),
                path=path,
                what=about.get("description", "").strip(),
                body=_names(about, description["components"]["schemas"]),
                answers=sorted(about["responses"]),
            )
            groups.setdefault(about.get("tags", ["other"])[0], []).append(route)
    return show(ApiPage(shell=Shell(title="api"), version=description["info"]["version"], groups=groups))


def _names(about: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[str]:
    """Name the fields of a body."""
    content = about.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    schema = schemas.get(schema.get("$ref", "").rsplit("/", 1)[-1], schema)
    return list(schema.get("properties", {})) or list(content)
