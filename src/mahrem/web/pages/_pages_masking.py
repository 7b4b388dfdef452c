"""Verbs beside a release: a page for each, and the lattice, judged while one waits."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from mahrem.web._forms import read_mask, read_seen
from mahrem.web._house import HouseDep, ProjectDep
from mahrem.web.bodies import MaskVerb, settings_of_mask
from mahrem.web.pages import _masked_views as views
from mahrem.web.pages._answers import FormDep, attempt, show

router = APIRouter(include_in_schema=False)
Plain = Literal["suppress", "perturb", "generalize", "risk"]
Levels = Annotated[str, Query(max_length=400)]
Loss = Annotated[str, Query(max_length=40)]


@router.get("/projects/{project}/other")
def other(house: HouseDep, project: ProjectDep) -> HTMLResponse:
    """Show what else can be made of a table."""
    return show(views.other_page(house, project))


@router.get("/projects/{project}/other/lattice")
def lattice(house: HouseDep, project: ProjectDep, levels: Levels = "", loss: Loss = "") -> HTMLResponse:
    """Show a node of the lattice; without levels, the best."""
    return show(views.lattice_page(house, project, levels, loss))


@router.get("/projects/{project}/other/{verb}")
def masked(house: HouseDep, project: ProjectDep, verb: Plain) -> HTMLResponse:
    """Show a verb and what came of it."""
    return show(views.masked_page(house, project, verb))


@router.post("/projects/{project}/other/{verb}")
def start(house: HouseDep, project: ProjectDep, verb: MaskVerb, form: FormDep) -> Response:
    """Begin a verb with what a form says."""

    def act() -> None:
        house.start(project, verb, read_mask(verb, form), seen=read_seen(form))

    address = f"/projects/{project.id}/other/{verb}"
    if verb == "lattice":
        return attempt(act, address, views.lattice_page, house, project)
    typed = {name: str(form.get(name, "")) for name in settings_of_mask(verb)}
    return attempt(act, address, views.masked_page, house, project, verb, typed)
