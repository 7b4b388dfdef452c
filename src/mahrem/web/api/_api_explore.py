"""The API: settings tried at once, and what was tried."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathPart
from fastapi.responses import Response
from pydantic import BaseModel

from mahrem.web._explore import as_candidate, look_deeper, try_at_once, try_every_row
from mahrem.web._house import KEY, HouseDep, ProjectDep, ProjectId
from mahrem.web.api._api_answers import ERRORS, Started
from mahrem.web.bodies import Columns, Project, ReleasePromises, Strict
from mahrem.web.projects import Candidate, policy_text

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["explorer"], dependencies=[KEY])
CandidateId = Annotated[str, PathPart(pattern=r"^[0-9a-f]{16}$", description="Id of a candidate")]


class ExploreWish(Strict):
    """Settings to try; what is not said is what the project has decided."""

    columns: Columns | None = None
    promises: ReleasePromises | None = None


class CandidateList(BaseModel):
    """What was tried on the table of a project, in this order."""

    candidates: list[Candidate]


@router.post("/projects/{project}/explore")
def explore(house: HouseDep, project: ProjectId, wish: ExploreWish) -> Candidate:
    """Say at once what settings would give, on a sample where the table is large; nothing is published."""
    known = house.store.get(project)
    changes: dict[str, object] = {"choices": wish.columns or known.choices}
    return try_at_once(
        house, known.model_copy(update={**changes, "promises": wish.promises or known.promises})
    )


@router.post("/projects/{project}/undo")
def undo(house: HouseDep, project: ProjectDep) -> Project:
    """Go back to what was decided before; again and again, up to twenty times."""
    return house.undo(project)


@router.get(
    "/projects/{project}/policy.toml",
    response_class=Response,
    responses={200: {"content": {"application/toml": {}}}},
)
def get_policy(project: ProjectDep) -> Response:
    """Give what is decided as a policy file; private files are not named in it."""
    headers = {"content-disposition": 'attachment; filename="policy.toml"'}
    return Response(policy_text(project), media_type="application/toml", headers=headers)


@router.get("/projects/{project}/candidates")
def list_candidates(house: HouseDep, project: ProjectId) -> CandidateList:
    """List what was tried."""
    house.store.folder(project)
    return CandidateList(candidates=house.candidates.list(project))


@router.post("/projects/{project}/candidates/{candidate}/exact", status_code=202)
def try_exactly(house: HouseDep, project: ProjectDep, candidate: CandidateId) -> Started:
    """Try a candidate on every row, in the background."""
    return Started(job=try_every_row(house, project, candidate))


@router.post("/projects/{project}/candidates/{candidate}/adopt")
def adopt_candidate(house: HouseDep, project: ProjectDep, candidate: CandidateId) -> Project:
    """Go on with the settings of a candidate."""
    after = as_candidate(project, house.candidates.get(project.id, candidate))
    return house.decide(project, choices=after.choices, promises=after.promises)


@router.post("/projects/{project}/candidates/{candidate}/beside/{other}", status_code=202)
def set_beside(
    house: HouseDep,
    project: ProjectDep,
    candidate: CandidateId,
    other: CandidateId,
    target: Annotated[str, Query(max_length=1000, description="A column that models learn")] = "",
) -> Started:
    """Make two candidates on every row, to see what they keep and give away; nothing is published."""
    return Started(job=look_deeper(house, project, candidate, other, target))


@router.delete("/projects/{project}/candidates/{candidate}", status_code=204)
def forget_candidate(house: HouseDep, project: ProjectDep, candidate: CandidateId) -> None:
    """Forget a candidate."""
    house.candidates.remove(project.id, house.candidates.get(project.id, candidate).id)
