"""The API: what was made of a table, and what became of it; policies that decide."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response, StreamingResponse
from pydantic import BaseModel, Field, StringConstraints

from mahrem.web._house import KEY, HouseDep, JobId, ProjectDep, ProjectId
from mahrem.web._policies import adopt_policy, look_at_policy, ready_policies
from mahrem.web._policy_text import LARGEST_POLICY
from mahrem.web._releases import (
    SIGNING,
    KeptRelease,
    ReleaseState,
    drawn_beside,
    forget_release,
    list_releases,
    release_of,
    set_state,
    sign,
)
from mahrem.web.api._api_answers import ERRORS, Started
from mahrem.web.bodies import Project, Strict
from mahrem.web.guard import REPORT_POLICY
from mahrem.web.projects import zip_files

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["releases"], dependencies=[KEY])


class ReleaseList(BaseModel):
    """Releases of a project, the newest first."""

    releases: list[KeptRelease]


class PolicyText(Strict):
    """A policy: the name of a ready one, or the text of a file."""

    ready: Annotated[str, StringConstraints(max_length=80)] = ""
    text: Annotated[str, StringConstraints(max_length=LARGEST_POLICY)] = ""


class PolicyList(BaseModel):
    """Ready policies by name, each with what it is for."""

    policies: dict[str, str] = Field(description="Name and first sentence")


@router.get("/projects/{project}/releases")
def get_releases(house: HouseDep, project: ProjectDep) -> ReleaseList:
    """List what was made of a table and what became of it."""
    return ReleaseList(releases=list_releases(house, project))


@router.post("/projects/{project}/releases/{job}/{state}")
def mark(house: HouseDep, project: ProjectDep, job: JobId, state: ReleaseState) -> ReleaseList:
    """Say that a release is a draft, is published, or was withdrawn."""
    set_state(house, project, job, state)
    return get_releases(house, project)


@router.post("/projects/{project}/signatures/{job}")
def sign_one(house: HouseDep, project: ProjectDep, job: JobId) -> ReleaseList:
    """Sign a release with the key of this server."""
    sign(house, project, job)
    return get_releases(house, project)


@router.get("/signing-key", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def signing_key(house: HouseDep) -> Response:
    """Give the public half of the key that signs here: who has it can check releases."""
    path = house.settings.state / f"{SIGNING}.pub"
    return Response(path.read_bytes() if path.is_file() else b"", media_type="text/plain")


@router.delete("/projects/{project}/releases/{job}")
def remove(house: HouseDep, project: ProjectDep, job: JobId) -> Project:
    """Remove a release; a published one is withdrawn first."""
    return forget_release(house, project, job)


@router.get(
    "/projects/{project}/releases/{job}/release.zip",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def download(house: HouseDep, project: ProjectDep, job: JobId) -> StreamingResponse:
    """Give a release as one archive, made while it is sent."""
    folder = release_of(house, project, job)
    headers = {"content-disposition": 'attachment; filename="release.zip"'}
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return StreamingResponse(zip_files(paths), media_type="application/zip", headers=headers)


@router.get(
    "/projects/{project}/differences/{first}/{second}",
    response_class=Response,  # HTMLResponse would describe errors as HTML too; they are JSON
    responses={200: {"content": {"text/html": {}}}},
)
def differences(house: HouseDep, project: ProjectDep, first: JobId, second: JobId) -> HTMLResponse:
    """Draw two releases side by side, as a page that loads nothing."""
    page = drawn_beside(house, project, first, second, "en")
    return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})


@router.get("/policies")
def get_policies() -> PolicyList:
    """List the ready policies."""
    return PolicyList(policies=ready_policies())


@router.post("/projects/{project}/policy", status_code=202)
def look_at(house: HouseDep, project: ProjectId, wish: PolicyText) -> Started:
    """Find out what a policy does with each column of a table; nothing is decided by it yet."""
    return Started(job=look_at_policy(house, house.store.get(project), ready=wish.ready, text=wish.text))


@router.post("/projects/{project}/policy/adopt")
def adopt(house: HouseDep, project: ProjectDep) -> Project:
    """Decide as the policy that was looked at last."""
    return adopt_policy(house, project)
