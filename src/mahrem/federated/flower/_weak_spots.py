"""What a plan lets a server do that keeps to the letter of it: its owner agrees to that, or stays away."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._known_houses import plain_key
from mahrem.federated.flower._memory import groups_of
from mahrem.federated.rules import FEW_PEOPLE
from mahrem.federated.runs import CheckFinding, ClientSettings, ShapeTask
from mahrem.federated.weights import LearningPlan


def strangers(federation: Federation, name: str, known: frozenset[str]) -> Iterator[CheckFinding]:
    """Find members of hidden sums whose keys nobody vouched for: the server may have made them up."""
    if federation.task.plan.hides:
        for other, key in sorted(federation.clients.items()):
            if other != name and plain_key(key) not in known:
                yield CheckFinding(code="stranger", column=other)


def weak_spots(federation: Federation, settings: ClientSettings) -> Iterator[CheckFinding]:
    """Find what an agreed question can tell about one person.

    - ``noiseless``: what is learnt leaves without noise. Weights that the server chose (from the second round
      on any can have been reached) make a unit answer to one row, whose cells are then read off the sum.
    - ``exact``: counts leave as they are, or in groups of few. Those of a set of cells and of the same set
      with one cell more differ by the people in between, and that may be one.
    - ``pair``: a sum of two tells each of them what the other counted.
    - ``recount``: sums of one run may be over different clients, and nobody remembers over whom.
    """
    plan, target = federation.task.plan, federation.task.schema.target
    if plan.hides and not plan.private and not isinstance(federation.task, ShapeTask):
        if federation.least < 3:
            yield CheckFinding(code="pair", column=target)
        if plan.recount:
            yield CheckFinding(code="recount", column=target)
    if isinstance(plan, LearningPlan) and not plan.private and settings.policy is None:
        yield CheckFinding(code="noiseless", column=target)
    least = groups_of(federation, settings)
    if least is not None and least < FEW_PEOPLE:
        yield CheckFinding(code="exact", column=target)


def promises(federation: Federation, settings: ClientSettings) -> bool:
    """Say whether a client answers with noise that no ledger pays for."""
    return settings.ledger is None and (federation.task.plan.private or settings.epsilon is not None)
