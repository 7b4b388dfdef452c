"""The API: projects, tables, columns and promises."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated

from fastapi import APIRouter, Body, Query, Request
from fastapi import Path as PathPart
from starlette.concurrency import run_in_threadpool

from mahrem.web._house import KEY, HouseDep, ProjectDep, ProjectId
from mahrem.web.api._api_answers import ERRORS, About, Health, Opened, OpenSession, ProjectList, SessionList
from mahrem.web.bodies import (
    Adopted,
    Columns,
    NewProject,
    Project,
    ReadingChoice,
    ReleasePromises,
    SourceDatabase,
    SourceFacts,
    SourcePath,
)
from mahrem.web.projects import (
    database_label,
    file_facts,
    list_files,
    needs_source,
    pick_database,
    receive_body,
)

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["projects"], dependencies=[KEY])
_EXTRAS = {
    "dp": "opendp",
    "excel": "fastexcel",
    "federated": "flwr",
    "learning": "sklearn",
    "sql": "duckdb",
    "survey": "pyreadstat",
    "spark": "pyspark",
    "train": "torch",
}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}


@router.get("/about")
def about(house: HouseDep) -> About:
    """Say what this server is, what it takes and what may be opened by path."""
    import mahrem
    from mahrem.partition import METHODS
    from mahrem.words import LANGUAGES

    settings = house.settings
    return About(
        version=mahrem.__version__,
        methods=list(METHODS),
        languages=list(LANGUAGES),
        max_upload=settings.max_upload,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        keep_hours=settings.keep_hours,
        folders=list(list_files(settings)),
        databases=[database_label(uri) for uri in settings.databases],
        extras={name: find_spec(module) is not None for name, module in _EXTRAS.items()},
    )


@router.get("/health")
def health(house: HouseDep) -> Health:
    """Say whether jobs are begun and old raw data is removed."""
    troubles = house.runner.troubles()
    return Health(works=not troubles, troubles=troubles)


@router.get("/sessions")
def list_sessions(house: HouseDep) -> SessionList:
    """List who has come in; the key for scripts is no session."""
    return SessionList(sessions=[OpenSession(**asdict(one)) for one in house.sessions.list()])


@router.delete("/sessions/{session}")
def end_session(
    house: HouseDep,
    session: Annotated[str, PathPart(pattern=r"^[0-9a-f]{16}$", description="Id of a session")],
) -> SessionList:
    """End a session; its cookie is worth nothing after."""
    house.sessions.revoke(session)
    return list_sessions(house)


@router.get("/projects")
def list_projects(house: HouseDep) -> ProjectList:
    """List all projects."""
    return ProjectList(projects=house.store.list())


@router.post("/projects", status_code=201)
def create_project(house: HouseDep, wish: NewProject) -> Project:
    """Make an empty project; send it a table next."""
    return house.store.create(wish.name)


@router.get("/projects/{project}")
def get_project(project: ProjectDep) -> Project:
    """Give a project with all that was decided."""
    return project


@router.delete("/projects/{project}", status_code=204)
def delete_project(house: HouseDep, project: ProjectId) -> None:
    """Remove a project with its table, its releases and its jobs."""
    house.remove(project)


@router.put("/projects/{project}/source", status_code=202, openapi_extra=_FILE)
async def put_source(
    house: HouseDep,
    project: ProjectId,
    request: Request,
    name: Annotated[str, Query(max_length=200, description="What to call the table")] = "table",
) -> Opened:
    """Send a CSV, TSV, Parquet or Arrow file as the body; it is streamed to disk and then looked at."""
    house.store.folder(project)
    most = await run_in_threadpool(house.largest_upload)
    facts = await receive_body(request, house.store, project, name, most)
    job = await run_in_threadpool(house.open_source, project, facts)
    return Opened(project=house.store.get(project), job=job)


@router.post("/projects/{project}/source/path", status_code=202)
def open_path(house: HouseDep, project: ProjectId, wish: SourcePath) -> Opened:
    """Take a file below a declared folder; it stays where it is."""
    house.store.folder(project)
    facts = file_facts(house.settings, wish.folder, wish.path, table=wish.table, query=wish.query)
    return Opened(job=house.open_source(project, facts), project=house.store.get(project))


@router.post("/projects/{project}/source/database", status_code=202)
def open_database(house: HouseDep, project: ProjectId, wish: SourceDatabase) -> Opened:
    """Take a table of a declared PostgreSQL database, or the answer to a question to it."""
    house.store.folder(project)
    pick_database(house.settings, wish.database)
    facts = SourceFacts(
        kind="database",
        label=f"{wish.database} {wish.table or 'query'}",
        database=wish.database,
        table=wish.table,
        query=wish.query,
    )
    return Opened(job=house.open_source(project, facts), project=house.store.get(project))


@router.post("/projects/{project}/source/demo", status_code=202)
def open_demo(house: HouseDep, project: ProjectId) -> Opened:
    """Take 2,000 fictional patients, with roles and promises ready."""
    house.store.folder(project)
    return Opened(job=house.open_demo(project), project=house.store.get(project))


@router.delete("/projects/{project}/source")
def forget_source(house: HouseDep, project: ProjectId) -> Project:
    """Remove the raw data of a project: what was sent and its hierarchies. Releases stay."""
    return house.forget(project)


@router.put("/projects/{project}/reading", status_code=202)
def put_reading(house: HouseDep, project: ProjectId, reading: ReadingChoice) -> Opened:
    """Say how the file is to be read (encoding, delimiter …) and look at it again."""
    needs_source(house.store.get(project))
    house.store.update(project, reading=reading, problem=None)
    return Opened(job=house.look_again(project), project=house.store.get(project))


@router.put("/projects/{project}/columns")
def put_columns(house: HouseDep, project: ProjectId, columns: Columns) -> Project:
    """Decide the roles of columns; those that are not named are not published."""
    return house.decide(house.store.get(project), choices=columns, settled=True)


@router.put("/projects/{project}/promises")
def put_promises(
    house: HouseDep, project: ProjectId, promises: Annotated[ReleasePromises, Body()]
) -> Project:
    """Decide what is promised and how the release is made."""
    return house.decide(house.store.get(project), promises=promises)


@router.post("/projects/{project}/adopt")
def adopt(house: HouseDep, project: ProjectId, point: Adopted) -> Project:
    """Go on with the method and k of a point of a comparison."""
    known = house.store.get(project)
    return house.decide(known, promises=with_point(known, point))


def with_point(project: Project, point: Adopted) -> ReleasePromises:
    """Give the promises of a project with the method and k of a point."""
    changes: dict[str, object] = {"method": point.method, "k": point.k}
    if point.strategy is not None:
        changes["strategy"] = point.strategy
    return (project.promises or ReleasePromises()).model_copy(update=changes)
