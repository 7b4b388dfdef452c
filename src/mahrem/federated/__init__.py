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

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.flower import Federation as Federation
    from mahrem.federated.flower import check_client_table as check_client_table
    from mahrem.federated.flower import federation_status as federation_status
    from mahrem.federated.flower import init_federation as init_federation
    from mahrem.federated.flower import join_federation as join_federation
    from mahrem.federated.flower import renew_certificate as renew_certificate
    from mahrem.federated.flower import reveal_model as reveal_model
    from mahrem.federated.flower import reveal_weights as reveal_weights
    from mahrem.federated.flower import run_federation as run_federation
    from mahrem.federated.flower import serve_federation as serve_federation
    from mahrem.federated.rules import ExactSettings as ExactSettings
    from mahrem.federated.rules import RulesPlan as RulesPlan
    from mahrem.federated.rules import RulesSilo as RulesSilo
    from mahrem.federated.rules import learn_exact as learn_exact
    from mahrem.federated.rules import learn_one_shot as learn_one_shot
    from mahrem.federated.runs import RulesSimulation as RulesSimulation
    from mahrem.federated.runs import RulesTask as RulesTask
    from mahrem.federated.runs import ShapeRun as ShapeRun
    from mahrem.federated.runs import ShapeSimulation as ShapeSimulation
    from mahrem.federated.runs import ShapeTask as ShapeTask
    from mahrem.federated.runs import WeightsSimulation as WeightsSimulation
    from mahrem.federated.runs import WeightsTask as WeightsTask
    from mahrem.federated.runs import attack_run as attack_run
    from mahrem.federated.runs import compare_shape as compare_shape
    from mahrem.federated.runs import is_run as is_run
    from mahrem.federated.runs import predict_rows as predict_rows
    from mahrem.federated.runs import report_run as report_run
    from mahrem.federated.runs import simulate as simulate
    from mahrem.federated.weights import LearningPlan as LearningPlan
    from mahrem.federated.weights import Protections as Protections
    from mahrem.federated.weights import SharedModel as SharedModel
    from mahrem.federated.weights import SharedSchema as SharedSchema
    from mahrem.federated.weights import TrainingSilo as TrainingSilo
    from mahrem.federated.weights import learn_together as learn_together
    from mahrem.federated.weights import propose_schema as propose_schema
    from mahrem.federated.weights import read_schema as read_schema
    from mahrem.federated.weights import write_schema as write_schema
    from mahrem.federated.wire import LocalGrid as LocalGrid
else:
    __getattr__, __dir__, __all__ = offered(__name__)
