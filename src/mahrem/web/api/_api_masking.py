"""The API: what is made of a table beside a release, and its lattice."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, StreamingResponse

from mahrem.web._errors import not_found
from mahrem.web._explore import judge_node
from mahrem.web._house import KEY, House, HouseDep, ProjectDep, ProjectId
from mahrem.web._orders import Json
from mahrem.web.api._api_answers import ERRORS, Started
from mahrem.web.api._api_jobs import SENT, FileName, Show, send_file
from mahrem.web.bodies import GeneralizeWish, LatticeWish, PerturbWish, RiskWish, Strict, SuppressWish
from mahrem.web.jobs import NODES
from mahrem.web.projects import zip_files

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["beside a release"], dependencies=[KEY])
Handed = Literal["suppress", "perturb", "generalize", "synthesize", "train"]


@router.post("/projects/{project}/suppress", status_code=202)
def start_suppress(house: HouseDep, project: ProjectId, wish: SuppressWish) -> Started:
    """Hide single cells until every combination of key columns is frequent enough."""
    return _start(house, project, "suppress", wish)


@router.post("/projects/{project}/perturb", status_code=202)
def start_perturb(house: HouseDep, project: ProjectId, wish: PerturbWish) -> Started:
    """Change values by noise, swaps or chance; k is not promised."""
    return _start(house, project, "perturb", wish)


@router.post("/projects/{project}/generalize", status_code=202)
def start_generalize(house: HouseDep, project: ProjectId, wish: GeneralizeWish) -> Started:
    """Publish a sample of real rows with differential privacy; the ledger pays before a value is seen."""
    return _start(house, project, "generalize", wish)


@router.post("/projects/{project}/risk", status_code=202)
def start_risk(house: HouseDep, project: ProjectId, wish: RiskWish) -> Started:
    """Measure the risk of the table as it is; the figures are not for publication."""
    return _start(house, project, "risk", wish)


@router.post("/projects/{project}/lattice", status_code=202)
def start_lattice(house: HouseDep, project: ProjectId, wish: LatticeWish) -> Started:
    """Judge every choice of levels on every row; nothing is published."""
    return _start(house, project, "lattice", wish)


def _start(house: House, project: str, verb: str, wish: Strict) -> Started:
    asked = wish.model_dump(exclude_none=True, exclude_unset=True)
    return Started(job=house.start(house.store.get(project), verb, asked))


@router.get("/projects/{project}/lattice/node")
def get_node(
    house: HouseDep,
    project: ProjectDep,
    levels: Annotated[
        list[int] | None, Query(max_length=100, description="A level for each column; without them the best")
    ] = None,
) -> Json:
    """Judge one node of the lattice at once, with its neighbours, on a sample where the table is large."""
    return judge_node(house, project, tuple(levels or ()))


@router.get(
    "/projects/{project}/lattice/nodes.csv",
    response_class=FileResponse,
    responses={200: {"content": {"text/csv": {}}}},
)
def get_nodes(house: HouseDep, project: ProjectDep) -> FileResponse:
    """Give every node, judged; for whoever holds the table, not for publication."""
    path = house.result_folder(project, "lattice") / NODES
    if not path.is_file():
        raise not_found("list of nodes")
    return FileResponse(path, media_type="text/csv", filename=NODES)


@router.get(
    "/projects/{project}/made/{verb}.zip",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def get_made(house: HouseDep, project: ProjectDep, verb: Handed) -> StreamingResponse:
    """Give what a verb made as one archive: a table or a model, its report and, where k holds, its policy."""
    headers = {"content-disposition": f'attachment; filename="{verb}.zip"'}
    paths = house.release_files(project, verb)
    return StreamingResponse(zip_files(paths), media_type="application/zip", headers=headers)


@router.get(
    "/projects/{project}/made/{verb}/{name}",
    response_class=FileResponse,
    responses=SENT,
)
def get_made_file(
    house: HouseDep, project: ProjectDep, verb: Handed, name: FileName, *, show: Show = False
) -> FileResponse:
    """Give a file of what a verb made: data.csv, report.html, report.json, model.npz, SHA256SUMS."""
    return send_file(house.release_file(project, name, verb), show=show)
