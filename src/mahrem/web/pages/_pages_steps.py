"""The steps of a release: columns, promises, the run, its result, a sweep, an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from mahrem.web._errors import Refused, not_found
from mahrem.web._forms import read_columns, read_own, read_point, read_promises, read_reading, read_sweep
from mahrem.web._house import House, HouseDep, JobId, ProjectDep, ProjectId
from mahrem.web._language import LOOK
from mahrem.web.api import with_point
from mahrem.web.bodies import WISHES, Project
from mahrem.web.bodies.spending import SPENDING
from mahrem.web.guard import PICTURE_POLICY, REPORT_POLICY
from mahrem.web.jobs import report_in
from mahrem.web.pages import _views as views
from mahrem.web.pages._answers import FormDep, attempt, show, to
from mahrem.web.projects import needs_decisions

router = APIRouter(include_in_schema=False)


_PAGES: Mapping[str, Callable[..., object]] = {
    "columns": views.columns_page,
    "promises": views.promises_page,
    "run": views.run_page,
    "result": views.result_page,
    "compare": views.compare_page,
    "audit": views.audit_page,
}
_STEP_OF_VERB = {
    "anonymize": "run",
    "estimate": "run",
    "attack": "result",
    "audit": "audit",
    "compare": "compare",
}
_STEPS = (_PAGES.keys() - {"promises"}) | {
    "history",
    "queries",
    *SPENDING,
    *(f"other/{verb}" for verb in WISHES),
}  # where a job can be cancelled


def _shows(step: str) -> Callable[..., HTMLResponse]:
    def handler(house: HouseDep, project: ProjectDep) -> HTMLResponse:
        return show(_PAGES[step](house, project))

    return handler


for _step in _PAGES:
    router.add_api_route(f"/projects/{{project}}/{_step}", _shows(_step), methods=["GET"])


@router.post("/projects/{project}/columns")
def decide_columns(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Keep the roles."""
    return _decide(
        house,
        project,
        "columns",
        "promises",
        lambda: {"choices": read_columns(project, form), "settled": True},
    )


@router.post("/projects/{project}/promises")
def decide_promises(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Keep the promises."""

    def read() -> dict[str, object]:
        changes: dict[str, object] = {"promises": read_promises(project, form)}
        if project.choices is not None:
            changes["choices"] = read_own(project, form)
        return changes

    return _decide(house, project, "promises", "run", read)


@router.post("/projects/{project}/adopt")
def adopt(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Go on with a point of a sweep."""

    def read() -> dict[str, object]:
        return {"promises": with_point(project, read_point(form))}

    return _decide(house, project, "compare", "run", read)


def _decide(
    house: House, project: Project, step: str, following: str, read: Callable[[], dict[str, object]]
) -> Response:
    """Keep what a form says and go to the following step."""
    address = f"/projects/{project.id}/{following}"
    return attempt(lambda: house.decide(project, **read()), address, _PAGES[step], house, project)


@router.post("/projects/{project}/reading")
def read_again(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Read the file in another way."""

    def act() -> None:
        house.store.update(project.id, reading=read_reading(form), problem=None)
        house.look_again(project.id)

    return attempt(act, f"/projects/{project.id}/columns", views.columns_page, house, project)


@router.post("/projects/{project}/run/{verb}")
def start(house: HouseDep, project: ProjectDep, verb: str, form: FormDep) -> Response:
    """Begin a job that needs no more words."""
    if verb not in _STEP_OF_VERB:
        raise Refused(404, "not_found", "There is no such job")
    step = _STEP_OF_VERB[verb]

    def act() -> None:
        if verb == "anonymize":
            needs_decisions(project)
        house.start(project, verb, read_sweep(form) if verb == "compare" else None)

    return attempt(act, f"/projects/{project.id}/{step}", _PAGES[step], house, project)


@router.post("/projects/{project}/jobs/{job}/cancel")
def cancel(house: HouseDep, project: ProjectId, job: JobId, request: Request) -> Response:
    """Stop a job and go back."""
    if house.queue.get(job).project != project:
        raise not_found("job")
    house.runner.cancel(job)
    back = str(request.query_params.get("back", "run"))
    return to(f"/projects/{project}/{back if back in _STEPS else 'run'}")


@router.get("/projects/{project}/report")
def report(house: HouseDep, project: ProjectDep, language: str = "") -> Response:
    """Give the report for a frame, in a language and in the colours of the page; it runs nothing."""
    text = report_in(house.release_file(project, "report.json"), language)
    shade = {"dark": "all", "light": "not all"}.get(LOOK.get().theme)
    if shade is not None:
        text = text.replace("(prefers-color-scheme: dark)", shade)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


@router.get("/projects/{project}/frontier.svg")
def frontier(house: HouseDep, project: ProjectDep) -> Response:
    """Give the picture of a sweep."""
    path = house.result_folder(project, "compare") / "comparison" / "frontier.svg"
    if not path.is_file():
        raise Refused(404, "not_found", "There is no picture")
    return FileResponse(path, media_type="image/svg+xml", headers={"content-security-policy": PICTURE_POLICY})
