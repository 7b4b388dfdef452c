"""Hierarchies and private queries: pages that need more than a table and its promises."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import ValidationError

from mahrem.errors import MahremError
from mahrem.web import _views as views
from mahrem.web._answers import FormDep, again, to
from mahrem.web._api_jobs import (
    ask_privately,
    column_name,
    keep_tree,
    plan_query,
    read_ledger,
    read_tree,
    remove_tree,
)
from mahrem.web._bodies import HierarchyTree
from mahrem.web._errors import Refused, not_found
from mahrem.web._forms import read_ledger_wish, read_question, read_seen, read_way
from mahrem.web._house import House, HouseDep, JobId, ProjectId
from mahrem.web._language import LOOK
from mahrem.web._models import ErrorDetail, Project
from mahrem.web._templates import render, say_in
from mahrem.words import load_catalogue

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


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
        if form.get("do") == "plan":
            plan = plan_query(house, found, question)
            return HTMLResponse(render(_queries(house, found, plan=plan, asked=question.model_dump())))
        ask_privately(house, found, question, seen=read_seen(form))
    except MahremError as error:
        return again(_queries, error, house, found)
    return to(f"/projects/{project}/queries")


@router.get("/projects/{project}/jobs/{job}")
def follow(house: HouseDep, project: ProjectId, job: JobId) -> JSONResponse:
    """Say how a job stands, in the words of the page."""
    found = house.queue.get(job)
    if found.project != project:
        raise not_found("job")
    texts = load_catalogue(LOOK.get().language)
    stage = say_in(texts, "stage", found.stage)
    seconds = texts.number(round(found.seconds or 0.0, 1), 1)
    return JSONResponse({"state": found.state, "stage": stage, "seconds": seconds})
