"""The explorer: every decision answered while the hand is still on it; columns looked at the same way."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response

from mahrem.errors import MahremError
from mahrem.web._explore import as_candidate, ask, look_deeper, try_at_once, try_every_row, wished
from mahrem.web._forms import read_columns
from mahrem.web._house import HouseDep, ProjectDep
from mahrem.web.pages import _explored_views as views
from mahrem.web.pages._answers import FormDep, attempt, show, to
from mahrem.web.pages._views import run_page

router = APIRouter(include_in_schema=False)
Known = Annotated[str, Query(pattern=r"^([0-9a-f]{16})?$")]


@router.get("/projects/{project}/explore")
def explore(house: HouseDep, project: ProjectDep, candidate: Known = "", beside: Known = "") -> HTMLResponse:
    """Show the explorer, with a candidate in it, or two side by side."""
    return show(views.explore_page(house, project, candidate=candidate, beside=beside))


@router.post("/projects/{project}/explore")
def try_form(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Try what a form says and show it, for browsers that run nothing."""
    tried: list[str] = []

    def act() -> None:
        tried.append(try_at_once(house, wished(project, form)).id)

    answer = attempt(act, "", views.explore_page, house, project)
    return to(f"/projects/{project.id}/explore?candidate={tried[0]}") if tried else answer


@router.post("/projects/{project}/explore/try")
def try_live(house: HouseDep, project: ProjectDep, form: FormDep, beside: Known = "") -> Response:
    """Try what a form says; gives the part of the page that changes."""
    try:
        tried = try_at_once(house, wished(project, form))
    except MahremError as error:
        status, part = views.refused_part(house, project, error, beside)
        return HTMLResponse(part, status_code=status)
    return show(views.explored_page(house, project, tried.id, beside))


@router.get("/projects/{project}/explore/part")
def part(house: HouseDep, project: ProjectDep, candidate: Known = "", beside: Known = "") -> HTMLResponse:
    """Give the part of the page that changes, for a candidate that was tried."""
    return show(views.explored_page(house, project, candidate, beside))


@router.post("/projects/{project}/explore/{candidate}/{verb}")
def act_on(house: HouseDep, project: ProjectDep, candidate: str, verb: str, form: FormDep) -> Response:
    """Adopt a candidate, name it, try it on every row, set it beside another one, or forget it."""
    place, other = f"/projects/{project.id}/explore", str(form.get("beside", ""))[:16]

    def act() -> None:
        known = house.candidates.get(project.id, candidate)
        if verb == "adopt":
            after = as_candidate(project, known)
            house.decide(project, choices=after.choices, promises=after.promises)
        elif verb == "name":
            name = " ".join(str(form.get("name", "")).split())[:80]
            house.candidates.change(project.id, candidate, name=name)
        elif verb == "exact":
            try_every_row(house, project, candidate)
        elif verb == "deeper":
            look_deeper(house, project, candidate, other, str(form.get("target", "")))
        else:
            house.candidates.remove(project.id, candidate)

    following = {
        "adopt": f"/projects/{project.id}/run",
        "forget": place,
        "deeper": f"{place}?candidate={candidate}&beside={other}#deep",
    }
    address = following.get(verb, f"{place}?candidate={candidate}")
    return attempt(act, address, views.explore_page, house, project)


@router.post("/projects/{project}/undo")
def undo(house: HouseDep, project: ProjectDep) -> Response:
    """Go back to what was decided before."""
    place = f"/projects/{project.id}/run"
    return attempt(lambda: house.undo(project), place, run_page, house, project)


@router.post("/projects/{project}/columns/look")
def look_at_columns(house: HouseDep, project: ProjectDep, form: FormDep) -> JSONResponse:
    """Say what columns add to singling out and what their cells would become, as a form decides."""
    after = project.model_copy(update={"choices": read_columns(project, form, undecided="drop")})
    singling = views.singling_words(after, lambda others: ask(house, after, "singling", others=others))
    try:
        examples = views.example_words(after, try_at_once(house, after).trial)
    except MahremError as error:
        return JSONResponse({"columns": singling, "message": views.in_words(error)})
    return JSONResponse({"columns": {n: {**one, **examples.get(n, {})} for n, one in singling.items()}})
