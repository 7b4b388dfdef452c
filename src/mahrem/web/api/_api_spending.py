"""The API: synthetic rows and private models, paid from the budget of a table."""

from __future__ import annotations

from fastapi import APIRouter

from mahrem.web._house import KEY, House, HouseDep, ProjectId
from mahrem.web._orders import Json
from mahrem.web._spending import plan_spending, spend
from mahrem.web.api._api_answers import ERRORS, Started
from mahrem.web.bodies import Strict
from mahrem.web.bodies.spending import SynthesizeWish, TrainWish

router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["paid from a budget"], dependencies=[KEY])


@router.post("/projects/{project}/synthesize/plan", status_code=202)
def plan_synthesize(house: HouseDep, project: ProjectId, wish: SynthesizeWish) -> Started:
    """Say how far off synthetic rows would be, and whether the budget covers them; costs nothing."""
    return Started(job=plan_spending(house, house.store.get(project), "synthesize", _asked(wish)))


@router.post("/projects/{project}/synthesize", status_code=202)
def start_synthesize(house: HouseDep, project: ProjectId, wish: SynthesizeWish) -> Started:
    """Make synthetic rows with differential privacy; the ledger pays before a value is seen."""
    return _start(house, project, "synthesize", wish)


@router.post("/projects/{project}/train/plan", status_code=202)
def plan_train(house: HouseDep, project: ProjectId, wish: TrainWish) -> Started:
    """Say what a private model would cost, and whether the budget covers it; costs nothing."""
    return Started(job=plan_spending(house, house.store.get(project), "train", _asked(wish)))


@router.post("/projects/{project}/train", status_code=202)
def start_train(house: HouseDep, project: ProjectId, wish: TrainWish) -> Started:
    """Train a private model; the ledger pays for every step before the first one."""
    return _start(house, project, "train", wish)


def _start(house: House, project: str, verb: str, wish: Strict) -> Started:
    return Started(job=spend(house, house.store.get(project), verb, _asked(wish)))


def _asked(wish: Strict) -> Json:
    return wish.model_dump(exclude_none=True, exclude_defaults=False)
