"""Rules learnt as a plan says."""

from __future__ import annotations

from collections.abc import Sequence

from mahrem.federated.rules._exact import RulesResult, learn_exact
from mahrem.federated.rules._one_shot import learn_one_shot
from mahrem.federated.rules._plan import RulesPlan
from mahrem.federated.sums import make_adder
from mahrem.federated.wire import MessageGrid

__all__ = ["learn_plan"]


def learn_plan(
    grid: MessageGrid, columns: Sequence[str], plan: RulesPlan, public: bytes | None = None
) -> RulesResult:
    """Learn what was agreed over a grid, in one process or over many.

    Args:
        grid: The clients.
        columns: The columns of all tables, without the target.
        plan: What was agreed.
        public: The server's key of homomorphic sums.
    """
    if plan.how == "one-shot":
        return learn_one_shot(
            grid, columns, plan.cba, sum_over=plan.sum_over, least_clients=plan.least_clients
        )
    return learn_exact(grid, columns, plan, adder=make_adder(plan, public))
