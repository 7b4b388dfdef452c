"""Learning over tables that stay where they are: rules, weights and trees from many clients.

What most people need is offered here; the rest is in the rooms within, from the bottom up:

- :mod:`~mahrem.federated.wire`: messages, and what carries and counts them;
- :mod:`~mahrem.federated.networks`: dense networks as one vector of weights;
- :mod:`~mahrem.federated.sums`: sums in the clear, under masks or encrypted;
- :mod:`~mahrem.federated.rules`: class association rules;
- :mod:`~mahrem.federated.weights`: networks and trees, their protections, attackers;
- :mod:`~mahrem.federated.shapes`: vertical, split, U-shaped, gossip and transfer learning;
- :mod:`~mahrem.federated.runs`: simulations and run folders;
- :mod:`~mahrem.federated.flower`: real processes.

Sums under masks and clients in processes of their own (Flower) need the extra ``federated``, homomorphic sums
the extra ``he``; both are loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.flower import (
        Federation,
        check_client_table,
        federation_status,
        init_federation,
        join_federation,
        renew_certificate,
        reveal_model,
        reveal_weights,
        run_federation,
        serve_federation,
    )
    from mahrem.federated.rules import ExactSettings, RulesPlan, RulesSilo, learn_exact, learn_one_shot
    from mahrem.federated.runs import (
        RulesSimulation,
        RulesTask,
        ShapeRun,
        ShapeSimulation,
        ShapeTask,
        WeightsSimulation,
        WeightsTask,
        attack_run,
        compare_shape,
        is_run,
        predict_rows,
        report_run,
        simulate,
    )
    from mahrem.federated.weights import (
        LearningPlan,
        Protections,
        SharedModel,
        SharedSchema,
        TrainingSilo,
        learn_together,
        propose_schema,
        read_schema,
        write_schema,
    )
    from mahrem.federated.wire import LocalGrid
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ExactSettings",
    "Federation",
    "LearningPlan",
    "LocalGrid",
    "Protections",
    "RulesPlan",
    "RulesSilo",
    "RulesSimulation",
    "RulesTask",
    "ShapeRun",
    "ShapeSimulation",
    "ShapeTask",
    "SharedModel",
    "SharedSchema",
    "TrainingSilo",
    "WeightsSimulation",
    "WeightsTask",
    "attack_run",
    "check_client_table",
    "compare_shape",
    "federation_status",
    "init_federation",
    "is_run",
    "join_federation",
    "learn_exact",
    "learn_one_shot",
    "learn_together",
    "predict_rows",
    "propose_schema",
    "read_schema",
    "renew_certificate",
    "report_run",
    "reveal_model",
    "reveal_weights",
    "run_federation",
    "serve_federation",
    "simulate",
    "write_schema",
]
