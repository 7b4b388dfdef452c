"""What a federation agreed on, in words: read by a client's owner before he takes part."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.federated.flower._federation import Federation
from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import RulesTask, ShapeTask
from mahrem.federated.weights import LearningPlan
from mahrem.federated.wire.certificates import fingerprint
from mahrem.words import Note


def describe_federation(federation: Federation, name: str) -> list[Note]:
    """Say what a client of this name agrees to: what is learnt, what leaves, who sees it, who is in it."""
    return list(_described(federation, name))


def _described(federation: Federation, name: str) -> Iterator[Note]:
    task, server = federation.task, federation.address
    columns = list(task.schema.columns)
    about = {"federation": federation.fingerprint(), "server": server, "name": repr(name)}
    yield Note("federation.review.who", about)
    named = ", ".join(columns)
    learnt = {"target": repr(task.schema.target), "many": len(columns), "columns": named}
    yield Note("federation.review.target", learnt)
    if isinstance(task, ShapeTask):
        yield from _shape(task, name)
    else:
        yield from _rules(task.plan) if isinstance(task, RulesTask) else _learning(task.plan)
        yield from _sums(task.plan, federation.least, len(federation.clients))
    for other, key in federation.clients.items():
        yield Note("federation.review.member", {"name": other, "key": fingerprint(key.encode())})
    yield Note("federation.review.rows")


def _rules(plan: RulesPlan) -> Iterator[Note]:
    if plan.how == "one-shot":
        yield Note("federation.review.one_shot")
        return
    yield Note("federation.review.rules", {"support": plan.support, "confidence": plan.confidence})
    if plan.least_count > 1:
        yield Note("federation.review.counts", {"least": plan.least_count})
    else:
        yield Note("federation.review.all_counts")


def _learning(plan: LearningPlan) -> Iterator[Note]:
    if plan.kind.trees:
        about = {"rounds": plan.rounds, "depth": plan.depth, "least": plan.least_leaf}
        yield Note("federation.review.trees", about)
    else:
        yield Note("federation.review.model", {"model": plan.model, "rounds": plan.rounds})
    noise = plan.perturbation()
    if noise is None:
        yield Note("federation.review.no_noise")
    else:
        promise = {"epsilon": f"{noise.epsilon():.3g}", "delta": f"{noise.delta:g}", "unit": noise.unit}
        yield Note("federation.review.noise", {**promise, "adders": noise.adders})
    if plan.protections.clip is not None and not plan.kind.trees:
        yield Note("federation.review.clip", {"clip": plan.protections.clip})


def _sums(plan: RulesPlan | LearningPlan, least: int, members: int) -> Iterator[Note]:
    if not plan.hides:
        yield Note("federation.review.seen")
        return
    yield Note("federation.review.sums", {"sum": plan.sum, "least": least, "members": members})
    if plan.recount:
        yield Note("federation.review.recount")
    elif least < members and not plan.private:
        yield Note("federation.review.fewer")


def _shape(task: ShapeTask, name: str) -> Iterator[Note]:
    plan = task.plan
    about = {"shape": plan.shape, "model": plan.model, "rounds": plan.rounds, "least": plan.least}
    yield Note("federation.review.shape", about)
    held = ", ".join(plan.holds.get(name, ()))
    label = plan.label(task.schema.target)
    if label is not None:
        yield Note("federation.review.held", {"columns": held, "id": plan.id})
        yield Note("federation.review.labels", {"label": label})
        if plan.model == "boosting":
            yield Note("federation.review.vertical_trees", {"label": label})
        elif plan.model == "logistic":
            yield Note("federation.review.vertical_sums", {"label": label})
        else:
            yield Note("federation.review.vertical_layers", {"label": label})
        if plan.predict:
            yield Note("federation.review.predicts", {"label": label})
    elif held:
        yield Note("federation.review.own", {"columns": held})
    if plan.shape in {"split", "u-shaped", "gossip", "transfer"}:
        yield Note(f"federation.review.{plan.shape.replace('-', '_')}")
    if plan.label_epsilon is not None:
        yield Note("federation.review.label_noise", {"epsilon": plan.label_epsilon})
