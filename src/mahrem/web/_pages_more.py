"""More pages: hierarchies, private queries, coming in, the API as a page."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import ValidationError

from mahrem.errors import MahremError
from mahrem.report import LANGUAGES
from mahrem.web import _views as views
from mahrem.web._api_jobs import column_name, keep_tree, plan_query, read_ledger, read_tree, remove_tree
from mahrem.web._bodies import HierarchyTree
from mahrem.web._contexts import ApiPage, MessagePage, Shell
from mahrem.web._errors import Refused, not_found
from mahrem.web._forms import read_ledger_wish, read_question, read_seen, read_way
from mahrem.web._house import House, HouseDep, JobId, ProjectId
from mahrem.web._language import LANGUAGE_COOKIE, LOOK, THEME_COOKIE, THEMES, own_page, page_words
from mahrem.web._models import ErrorDetail, Project
from mahrem.web._pages import FormDep, again, to
from mahrem.web._sessions import SESSION_SECONDS
from mahrem.web._templates import render, say_in

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_YEAR = 365 * 24 * 3600


@router.get("/projects/{project}/hierarchies/{number}")
def hierarchy(house: HouseDep, project: ProjectId, number: int) -> HTMLResponse:
    """Show a hierarchy as a tree."""
    return HTMLResponse(render(_hierarchy(house, house.store.get(project), number)))


def _hierarchy(house: House, project: Project, number: int, message: ErrorDetail | None = None) -> Any:
    name = column_name(project, number)
    tree = read_tree(house, project, number) if name in project.hierarchies else None
    page = views.hierarchy_page(house, project, number, name, tree)
    if message is None:
        return page
    from dataclasses import replace

    return replace(page, shell=replace(page.shell, message=message))


@router.post("/projects/{project}/hierarchies/{number}")
def edit_hierarchy(house: HouseDep, project: ProjectId, number: int, form: FormDep) -> Response:
    """Keep an edited tree, have one made, or take it away."""
    found = house.store.get(project)
    try:
        if form.get("tree"):
            try:
                body = HierarchyTree.model_validate({"tree": json.loads(str(form["tree"]))})
            except (ValueError, ValidationError, RecursionError):
                raise Refused(
                    422, "no_tree", "This is not a tree of labels", "Undo the last change."
                ) from None
            keep_tree(house, found, number, body)
        elif form.get("do") == "remove":
            remove_tree(house, found, number)
        else:
            said = {"column": column_name(found, number), **read_way(form)}
            house.start(found, "hierarchy", said)
    except MahremError as error:
        return again(_hierarchy, error, house, found, number)
    return to(f"/projects/{project}/hierarchies/{number}")


@router.get("/projects/{project}/queries")
def queries(house: HouseDep, project: ProjectId) -> HTMLResponse:
    """Show the budget and what was asked."""
    return HTMLResponse(render(_queries(house, house.store.get(project))))


def _queries(house: House, project: Project, message: ErrorDetail | None = None, **more: Any) -> Any:
    ledger = None
    if "ledger" in project.jobs:
        ledger = read_ledger(house, project)
    return views.queries_page(house, project, ledger, message, **more)


@router.post("/projects/{project}/ledger")
def make_ledger(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Give the table a budget."""
    found = house.store.get(project)
    try:
        house.start(found, "ledger", read_ledger_wish(form).model_dump(exclude_none=True))
    except MahremError as error:
        return again(_queries, error, house, found)
    return to(f"/projects/{project}/queries")


@router.post("/projects/{project}/queries")
def ask(house: HouseDep, project: ProjectId, form: FormDep) -> Response:
    """Plan a question, or have it answered."""
    found = house.store.get(project)
    try:
        question = read_question(form)
        plan = plan_query(house, found, question)
        if form.get("do") == "plan":
            return HTMLResponse(render(_queries(house, found, plan=plan, asked=question.model_dump())))
        if not plan["fits"]:
            raise Refused(409, "budget_exceeded", "The budget does not cover this question", "Ask for less.")
        seen = read_seen(form)
        house.start(found, "query", question.model_dump(exclude_none=True), seen=seen)
    except MahremError as error:
        return again(_queries, error, house, found)
    return to(f"/projects/{project}/queries")


@router.get("/projects/{project}/jobs/{job}")
def follow(house: HouseDep, project: ProjectId, job: JobId) -> JSONResponse:
    """Say how a job stands, in the words of the page."""
    found = house.queue.get(job)
    if found.project != project:
        raise not_found("job")
    texts = page_words(LOOK.get().language)
    stage = say_in(texts, "stage", found.stage)
    seconds = texts.number(round(found.seconds or 0.0, 1), 1)
    return JSONResponse({"state": found.state, "stage": stage, "seconds": seconds})


@router.post("/look")
def look(house: HouseDep, form: FormDep) -> Response:
    """Keep the language or the colours a person chose, and go back."""
    answer = to(own_page(str(form.get("back", ""))))
    for name, cookie, known in (("language", LANGUAGE_COOKIE, LANGUAGES), ("theme", THEME_COOKIE, THEMES)):
        if form.get(name) in known:
            answer.set_cookie(
                cookie,
                str(form[name]),
                max_age=_YEAR,
                httponly=True,
                samesite="strict",
                secure=house.settings.secure,
            )
    return answer


@router.get("/start")
def begin(house: HouseDep, token: str = "") -> Response:
    """Come in with a token that works once."""
    cookie = house.sessions.begin(token)
    return _with_cookie(house, cookie)


@router.get("/login")
def login(house: HouseDep) -> HTMLResponse:
    """Ask for the password."""
    return HTMLResponse(render(_door(house, 200, "come_in")))


@router.post("/login")
def log_in(house: HouseDep, form: FormDep) -> Response:
    """Come in with the password."""
    try:
        return _with_cookie(house, house.sessions.log_in(str(form.get("password", ""))))
    except Refused as error:
        return HTMLResponse(
            render(_door(house, error.status, error.code, error.message, error.hint)),
            status_code=error.status,
        )


def _door(house: House, status: int, code: str, message: str = "", hint: str = "") -> MessagePage:
    return MessagePage(
        shell=Shell(title="door", signed_in=False),
        status=status,
        error=ErrorDetail(code=code, message=message, hint=hint),
        asks_password=house.sessions.asks_password,
    )


@router.post("/logout")
def log_out(house: HouseDep, request: Request) -> Response:
    """Go out; the cookie is worth nothing after."""
    house.sessions.end(request.cookies.get(house.sessions.cookie))
    answer = HTMLResponse(render(_door(house, 200, "gone_out")))
    answer.delete_cookie(house.sessions.cookie, secure=house.settings.secure)
    return answer


def _with_cookie(house: House, cookie: str) -> Response:
    # A page that goes on by itself: after a redirect from elsewhere a strict cookie would not be sent.
    answer = HTMLResponse(render("start.html.jinja"))
    answer.set_cookie(
        house.sessions.cookie,
        cookie,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=house.settings.secure,
        path="/",
    )
    return answer


@router.get("/api")
def api(request: Request) -> HTMLResponse:
    """Show the API as a page, from its own description."""
    described = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            groups.setdefault(about.get("tags", ["other"])[0], []).append(
                {
                    "method": method.upper(),
                    "path": path,
                    "what": about.get("description", "").strip(),
                    "body": _names(about, described),
                    "answers": sorted(about["responses"]),
                }
            )
    page = ApiPage(shell=Shell(title="api"), version=described["info"]["version"], groups=groups)
    return HTMLResponse(render(page))


def _names(about: dict[str, Any], described: dict[str, Any]) -> list[str]:
    """Name the fields of a body."""
    content = about.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    known = schema.get("$ref", "").rsplit("/", 1)[-1]
    found = described["components"]["schemas"].get(known, schema)
    return list(found.get("properties", {})) or list(content)
