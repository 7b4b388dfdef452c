"""Jobs that a budget pays: synthetic rows, private models, and what either would cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

from mahrem.errors import BudgetExceeded
from mahrem.release.folders import mark_release
from mahrem.web._orders import JobOrder, Json
from mahrem.web.jobs._masking import plain_settings
from mahrem.words import Note, Progress


def _plan(order: JobOrder, verb: str) -> Json:
    """Say what a verb would cost, from what is public alone: the table is not opened."""
    from mahrem.pipeline.modelling import plan_synthesis, plan_training

    ledger, asked = order.beside("ledger", order.arguments["ledger"]), order.arguments["asked"]
    if verb == "train":
        return plan_training(ledger=ledger, **asked)
    return plan_synthesis(ledger=ledger, table=order.arguments["columns"], **asked)


def _foresee(order: JobOrder, progress: Progress, *, verb: str) -> Json:
    progress(Note("stage.planning"))
    kept = {name: order.arguments[name] for name in ("asked", "typed", "ledger")}
    return {"plan": _plan(order, verb), **kept}


def _spend(order: JobOrder, progress: Progress, *, verb: str) -> Json:
    """Do what was asked for, if the budget covers it; that is known before the table is opened.

    Raises:
        BudgetExceeded: If it does not; nothing was read.
    """
    from mahrem import pipeline

    progress(Note("stage.planning"))
    plan = _plan(order, verb)
    if not plan["fits"]:
        raise BudgetExceeded(
            f"epsilon={plan['epsilon']:g} does not fit: {plan['remaining']['epsilon']:.4g} is left; "
            "nothing was read or computed"
        )
    ledger, folder = order.beside("ledger", order.arguments["ledger"]), order.place / "release"
    getattr(pipeline, verb)(
        order.table,
        ledger=ledger,
        output=folder,
        progress=progress,
        **plain_settings(order),
        **order.arguments["asked"],
    )
    mark_release(folder, "draft")  # until somebody hands it out
    # What was written says nothing that was not paid for; what is in memory also knows how long it took.
    return {"report": json.loads((folder / "report.json").read_bytes())}


SPENDING_JOBS: Mapping[str, Callable[[JobOrder, Progress], Json]] = {
    **{verb: partial(_spend, verb=verb) for verb in ("synthesize", "train")},
    **{f"plan_{verb}": partial(_foresee, verb=verb) for verb in ("synthesize", "train")},
}
