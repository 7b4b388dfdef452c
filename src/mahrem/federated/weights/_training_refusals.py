"""Which ways of training do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mahrem.errors import spelled

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan


def refused_training(plan: LearningPlan) -> Iterator[str]:
    """Name what contradicts itself in how a plan trains, with what to do instead."""
    switches, trees = plan.protections, plan.kind.trees
    asked = {
        "server": plan.server != "average",
        "scaffold": plan.scaffold,
        "personal": plan.personal > 0,
        "early_stop": plan.early_stop is not None,
    }
    for name, on in asked.items():
        if on and trees:
            yield f"{name}: model={plan.model!r} averages no weights; it goes with mlp, logistic and own"
        if on and switches.dummies:
            yield f"{name} does not go with dummies: they look like weights to it"
    if plan.server_rate is not None and plan.server == "average":
        yield f"server_rate={plan.server_rate:g}: an average has no rate; say server='adam', say"
    if plan.scaffold:
        judging = [*switches.vetting, *(["aggregate"] if plan.rule.compares else [])]
        if judging or switches.clip is not None or switches.private or switches.compresses:
            yield (
                "scaffold sends control variates beside the weights, which no defence, clip, noise or "
                "compression here was made for; leave one out"
            )
        if plan.proximal or plan.personal or plan.fraction < 1 or plan.server != "average":
            yield "scaffold goes with all clients in each round, and without proximal, personal and server"
    if plan.early_stop is not None and switches.private:
        yield (
            "early_stop asks for counts of right answers, for which the agreed noise does not pay; judge by "
            f"rows of the server instead ({spelled('test')})"
        )
    if plan.personal and switches.unit == "row":
        yield "personal: private steps (unit='row') would pay for layers that never leave; use unit='client'"
