"""Hierarchies and private queries: pages that need more than a table and its promises."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from mahrem.errors import MahremError
from mahrem.web._errors import Refused
from mahrem.web._forms import read_ledger_wish, read_question, read_seen, read_way
from mahrem.web._house import House, HouseDep, ProjectDep
from mahrem.web.api import (
    ask_privately,
    column_name,
    keep_tree,
    plan_query,
    read_ledger,
    read_tree,
    remove_tree,
)
from mahrem.web.bodies import ErrorDetail, HierarchyTree, Project
from mahrem.web.bodies.spending import SPENDING
from mahrem.web.pages import _views as views
from mahrem.web.pages._answers import FormDep, again, attempt, show, to

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project}/hierarchies/{number}")
def hierarchy(house: HouseDep, project: ProjectDep, number: int) -> HTMLResponse:
    """Show a hierarchy as a tree."""
    return show(_hierarchy(house, project, number))


def _hierarchy(house: House, project: Project, number: int, message: ErrorDetail | None = None) -> object:
    name = column_name(project, number)
    tree = read_tree(house, project, number) if name in project.hierarchies else None
    page = views.hierarchy_page(house, project, number, name, tree)
    return replace(page, shell=replace(page.shell, message=message))


@router.post("/projects/{project}/hierarchies/{number}")
def edit_hierarchy(house: HouseDep, project: ProjectDep, number: int, form: FormDep) -> Response:
    """Keep an edited tree, have one made, or take it away."""

    def act() -> None:
        if form.get("tree"):
            keep_tree(house, project, number, _tree(str(form["tree"])))
        elif form.get("do") == "remove":
            remove_tree(house, project, number)
        else:
            house.start(project, "hierarchy", {"column": column_name(project, number), **read_way(form)})

    address = f"/projects/{project.id}/hierarchies/{number}"
    return attempt(act, address, _hierarchy, house, project, number)


def _tree(text: str) -> HierarchyTree:
    try:
        return HierarchyTree.model_validate({"tree": json.loads(text)})
    except (ValueError, ValidationError, RecursionError):
        raise Refused(422, "no_tree") from None


@router.get("/projects/{project}/queries")
def queries(house: HouseDep, project: ProjectDep) -> HTMLResponse:
    """Show the budget and what was asked."""
    return show(_queries(house, project))


def _queries(house: House, project: Project, message: ErrorDetail | None = None, **more: Any) -> object:
    ledger = read_ledger(house, project) if "ledger" in project.jobs else None
    return views.queries_page(house, project, ledger, message, **more)


@router.post("/projects/{project}/ledger")
def make_ledger(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Give the table a budget."""

    def act() -> None:
        house.start(project, "ledger", read_ledger_wish(form).model_dump(exclude_none=True))

    back = str(form.get("back", ""))
    address = f"/projects/{project.id}/{back if back in SPENDING else 'queries'}"
    return attempt(act, address, _queries, house, project)


@router.post("/projects/{project}/queries")
def ask(house: HouseDep, project: ProjectDep, form: FormDep) -> Response:
    """Plan a question, or have it answered."""
    try:
        question = read_question(form)
        if form.get("do") == "plan":
            plan = plan_query(house, project, question)
            return show(_queries(house, project, plan=plan, asked=question.model_dump()))
        ask_privately(house, project, question, seen=read_seen(form))
    except MahremError as error:
        return again(_queries, error, house, project)
    return to(f"/projects/{project.id}/queries")
