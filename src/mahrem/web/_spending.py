"""What a budget pays, planned and begun: for pages and for the API."""

from __future__ import annotations

from collections.abc import Mapping

from mahrem.web._errors import Refused
from mahrem.web._house import House
from mahrem.web._orders import Json
from mahrem.web.bodies import Job, Project
from mahrem.web.jobs import result_of
from mahrem.web.projects import needs_table


def plan_spending(
    house: House, project: Project, verb: str, asked: Json, typed: Mapping[str, str] | None = None
) -> Job:
    """Have it said what a verb would cost; ``typed`` is how a form said it, to be shown again."""
    _refuse_more_than_all(house, project, asked)
    return house.start(project, f"plan_{verb}", {**_arguments(project, asked), "typed": dict(typed or {})})


def spend(house: House, project: Project, verb: str, asked: Json, *, seen: int | None = None) -> Job:
    """Begin a verb that the budget pays; ``seen``: lines of the ledger a person saw."""
    _refuse_more_than_all(house, project, asked)
    return house.start(project, verb, _arguments(project, asked), seen=seen)


def spend_as_planned(house: House, project: Project, verb: str, plan: str, *, seen: int | None) -> Job:
    """Begin a verb with what was planned: the plan that a person looked at, and no other.

    Raises:
        Refused: If another plan was made since.
    """
    if seen is None or not plan or project.jobs.get(f"plan_{verb}") != plan:
        raise Refused(409, "planned_meanwhile")
    return spend(house, project, verb, result_of(house.store, project.id, plan)["asked"], seen=seen)


def _arguments(project: Project, asked: Json) -> Json:
    return {"asked": asked, "columns": [column["name"] for column in needs_table(project)["columns"]]}


def _refuse_more_than_all(house: House, project: Project, asked: Json) -> None:
    """Refuse at once what a whole ledger could not pay; the job says it exactly, before it reads a row."""
    from mahrem.dp import Ledger

    cost = asked["epsilon"] + (asked.get("evaluate_epsilon") or 0.0)
    if cost > Ledger.open(house.ledger_path(project)).epsilon:
        raise Refused(409, "budget_exceeded")
