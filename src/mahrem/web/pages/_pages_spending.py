"""Synthetic rows and private models: planned, confirmed, paid from the budget of a table."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from mahrem.web._forms import read_seen, read_spending
from mahrem.web._house import HouseDep, ProjectDep
from mahrem.web._spending import plan_spending, spend_as_planned
from mahrem.web.bodies.spending import SpendVerb, settings_of_spending
from mahrem.web.guard import REPORT_POLICY
from mahrem.web.jobs import report_in
from mahrem.web.pages._answers import FormDep, attempt, show
from mahrem.web.pages._spending_views import spend_page

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project}/paid/{verb}/report")
def report(house: HouseDep, project: ProjectDep, verb: SpendVerb, language: str = "") -> Response:
    """Give the report for a frame; it runs nothing."""
    house.release_file(project, "report.html", verb)
    text = report_in(house.release_file(project, "report.json", verb), language)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


@router.get("/projects/{project}/{verb}")
def spending(house: HouseDep, project: ProjectDep, verb: SpendVerb) -> HTMLResponse:
    """Show a verb, its plan and what came of it."""
    return show(spend_page(house, project, verb))


@router.post("/projects/{project}/{verb}")
def begin(house: HouseDep, project: ProjectDep, verb: SpendVerb, form: FormDep) -> Response:
    """Plan what a form says, or spend what was planned."""
    typed = {name: str(form.get(name, "")) for name in settings_of_spending(verb)}

    def act() -> None:
        if form.get("do") == "spend":
            spend_as_planned(house, project, verb, str(form.get("plan", "")), seen=read_seen(form))
        else:
            plan_spending(house, project, verb, read_spending(verb, form), typed)

    kept = None if form.get("do") == "spend" else typed
    return attempt(act, f"/projects/{project.id}/{verb}", spend_page, house, project, verb, kept)
