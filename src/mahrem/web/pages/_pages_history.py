"""History: what was made, what became of it, what was decided, and policies that decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from mahrem.web._errors import not_found
from mahrem.web._house import House, HouseDep, JobId, ProjectDep
from mahrem.web._language import LOOK
from mahrem.web._policies import adopt_policy, is_about_this_table, look_at_policy, ready_policies
from mahrem.web._policy_text import LARGEST_POLICY
from mahrem.web._releases import (
    KeptRelease,
    drawn_beside,
    forget_release,
    list_releases,
    release_of,
    set_state,
    sign,
)
from mahrem.web.bodies import ErrorDetail, Job, Project
from mahrem.web.guard import REPORT_POLICY
from mahrem.web.jobs import report_in
from mahrem.web.pages._answers import FormDep, attempt, show
from mahrem.web.pages._contexts import Shell
from mahrem.web.pages._views import result_of_verb, shell_of
from mahrem.web.projects import Candidate, decisions_of
from mahrem.words import Note, load_catalogue

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """What was made of a table and what became of it, candidates, and policies."""

    shell: Shell
    releases: Sequence[KeptRelease]
    candidates: Sequence[tuple[Candidate, bool]]  # those with a name, and whether it is what is decided now
    policies: Sequence[tuple[str, str]]  # ready ones, each with what it is for
    job: Job | None
    looked: Sequence[tuple[str, str, str]]  # what a policy does: column, what becomes of it, why
    looked_at: str  # the name of the policy, if it is a ready one
    ready: bool  # whether there is one to take
    largest: int  # characters of a policy


def history_page(house: House, project: Project, message: ErrorDetail | None = None) -> HistoryPage:
    """Show what was made, what is kept under a name, and what policies would do."""
    words, now = load_catalogue(LOOK.get().language), decisions_of(project)
    result = result_of_verb(house, project, "policy") or {}
    if not is_about_this_table(project, result):
        result = {}
    job = house.queue.last(project.id, "policy")
    return HistoryPage(
        shell=shell_of(project, "history", message),
        releases=list_releases(house, project),
        candidates=[(one, one.decided == now) for one in house.candidates.list(project.id) if one.name],
        policies=list(ready_policies().items()),
        job=None if job is None or job.state == "done" else job,
        looked=[
            (one["name"], words.tell(Note.read(one["becomes"], "")), words.tell(Note.read(one["why"], "")))
            for one in result.get("columns", ())
        ],
        looked_at=str(result.get("ready", "")),
        ready=bool(result),
        largest=LARGEST_POLICY,
    )


@router.get("/projects/{project}/history")
def history(house: HouseDep, project: ProjectDep) -> HTMLResponse:
    """Show the history of a project."""
    return show(history_page(house, project))


@router.post("/projects/{project}/history/policy")
def policy(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Have a policy looked at, or decide as the one that was."""

    def act() -> None:
        if form.get("do") == "adopt":
            adopt_policy(house, project)
            return
        look_at_policy(house, project, ready=str(form.get("ready", "")), text=str(form.get("text", "")))

    adopting = form.get("do") == "adopt"
    place = f"/projects/{project.id}/{'columns' if adopting else 'history#policy'}"
    return attempt(act, place, history_page, house, project)


@router.post("/projects/{project}/history/{job}/{verb}")
def act_on(house: HouseDep, project: ProjectDep, job: JobId, verb: str) -> Response:
    """Publish, sign, withdraw or forget a release."""
    acts: dict[str, Callable[[], object]] = {
        "publish": lambda: set_state(house, project, job, "published"),
        "withdraw": lambda: set_state(house, project, job, "withdrawn"),
        "sign": lambda: sign(house, project, job),
        "forget": lambda: forget_release(house, project, job),
    }
    if verb not in acts:
        raise not_found("page")
    return attempt(acts[verb], f"/projects/{project.id}/history", history_page, house, project)


@router.get("/projects/{project}/history/{job}/report")
def report(house: HouseDep, project: ProjectDep, job: JobId) -> HTMLResponse:
    """Show the report of a release; it runs nothing."""
    text = report_in(release_of(house, project, job) / "report.json", LOOK.get().language)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


@router.get("/projects/{project}/differences")
def differences(house: HouseDep, project: ProjectDep, first: str = "", second: str = "") -> HTMLResponse:
    """Show two releases side by side; it runs nothing."""
    text = drawn_beside(house, project, first, second, LOOK.get().language)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})
