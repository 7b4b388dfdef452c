"""What a federation agreed on, in words: read by a client's owner before he takes part."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.federated.flower._federation import Federation
from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import RulesTask, ShapeTask
from mahrem.federated.weights import LearningPlan
from mahrem.federated.wire import fingerprint


def describe_federation(federation: Federation, name: str) -> list[str]:
    """Say what a client of this name agrees to: what is learnt, what leaves, who sees it, who is in it."""
    task = federation.task
    columns = list(task.schema.columns)
    lines = [
        f"federation {federation.fingerprint()}, server {federation.address}; you are {name!r}",
        f"learns to predict {task.schema.target!r} from {len(columns)} columns: {', '.join(columns)}",
    ]
    if isinstance(task, ShapeTask):
        lines += _shape(task, name)
    else:
        lines += _rules(task.plan) if isinstance(task, RulesTask) else _learning(task.plan)
        lines += _sums(task.plan, federation.least, len(federation.clients))
    lines += [f"member {other}: key {fingerprint(key.encode())}" for other, key in federation.clients.items()]
    return [*lines, "rows never leave this machine; every question is written down here"]


def _shape(task: ShapeTask, name: str) -> Iterator[str]:
    plan = task.plan
    yield f"shape {plan.shape}, {plan.model}, {plan.rounds} rounds"


def _rules(plan: RulesPlan) -> Iterator[str]:
    if plan.how == "one-shot":
        yield "rules that are learnt here leave once, with figures; the server sees them as this client's"
        return
    yield (
        f"rules of all rows together (support {plan.support:g}, confidence {plan.confidence:g}): names of "
        "cells that are frequent here leave, then counts of sets of cells by class"
    )
    least = f"counts below {plan.least_count} leave as 0" if plan.least_count > 1 else "also counts of 1"
    yield f"counts are exact, {least}"


def _learning(plan: LearningPlan) -> Iterator[str]:
    if plan.kind.trees:
        yield (
            f"{plan.rounds} trees of depth {plan.depth}, about {plan.least_leaf} rows or more on each side "
            "of a cut: sums of gradients in cells leave; this client grows the trees itself and no others"
        )
    else:
        yield f"a model ({plan.model}) in {plan.rounds} rounds: what training here changes leaves in each"
    noise = plan.perturbation()
    if noise is None:
        yield "NO noise: what leaves may tell about single rows; whether it does is not bounded"
    else:
        shared = f", shared by {noise.adders} clients" if noise.adders > 1 else ""
        yield (
            f"noise: epsilon {noise.epsilon():.3g} at delta {noise.delta:g} for each {noise.unit} over the "
            f"whole run{shared}"
        )
    if plan.protections.clip is not None and not plan.kind.trees:
        yield f"updates are cut to length {plan.protections.clip:g} here"


def _sums(plan: RulesPlan | LearningPlan, least: int, members: int) -> Iterator[str]:
    if not plan.hides:
        yield "the server SEES this client's own numbers, not only sums"
        return
    yield (
        f"the server sees sums only ({plan.sum}), over at least {least} of {members} members; this "
        "client refuses sums of fewer"
    )
    if plan.recount:
        yield "sums may be over DIFFERENT clients from round to round: differences tell about those who left"
    elif least < members and not plan.private:
        yield (
            "a run over fewer members than before is refused until you agree to it: the difference of two "
            "results tells what is true of those who are missing"
        )
