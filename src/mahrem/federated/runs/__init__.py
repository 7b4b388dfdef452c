"""Runs and their folders: a simulation of any task on one machine, and what a folder gives away.

A task says what is learnt; a run goes on after its last round and keeps what it reached. Tables are shared
out here, and a finished run is attacked.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.runs._agreed_shape import AgreedShape as AgreedShape
    from mahrem.federated.runs._arrange import ShapeRun as ShapeRun
    from mahrem.federated.runs._arrange import arrange as arrange
    from mahrem.federated.runs._attack import attack_run as attack_run
    from mahrem.federated.runs._attack import is_run as is_run
    from mahrem.federated.runs._check import CheckedClient as CheckedClient
    from mahrem.federated.runs._check import CheckFinding as CheckFinding
    from mahrem.federated.runs._check import TableCheck as TableCheck
    from mahrem.federated.runs._check import check_table as check_table
    from mahrem.federated.runs._dirichlet import dirichlet_rows as dirichlet_rows
    from mahrem.federated.runs._entries import BINS as BINS
    from mahrem.federated.runs._entries import SHAPES as SHAPES
    from mahrem.federated.runs._folder import MEMBERS as MEMBERS
    from mahrem.federated.runs._folder import RunFolder as RunFolder
    from mahrem.federated.runs._folder import read_run as read_run
    from mahrem.federated.runs._predict import Prediction as Prediction
    from mahrem.federated.runs._predict import RunModel as RunModel
    from mahrem.federated.runs._predict import predict_rows as predict_rows
    from mahrem.federated.runs._report import RunReport as RunReport
    from mahrem.federated.runs._report import report_run as report_run
    from mahrem.federated.runs._rules_task import RulesTask as RulesTask
    from mahrem.federated.runs._settings import ClientSettings as ClientSettings
    from mahrem.federated.runs._settings import RunSettings as RunSettings
    from mahrem.federated.runs._settings import Tell as Tell
    from mahrem.federated.runs._shape_task import ShapeTask as ShapeTask
    from mahrem.federated.runs._sharing import TableSharing as TableSharing
    from mahrem.federated.runs._simulate import simulate as simulate
    from mahrem.federated.runs._simulate_rules import RulesSimulation as RulesSimulation
    from mahrem.federated.runs._simulate_shapes import ShapeFigures as ShapeFigures
    from mahrem.federated.runs._simulate_shapes import ShapeSimulation as ShapeSimulation
    from mahrem.federated.runs._simulate_shapes import compare_shape as compare_shape
    from mahrem.federated.runs._simulate_weights import WeightsSimulation as WeightsSimulation
    from mahrem.federated.runs._simulate_weights import train_alone as train_alone
    from mahrem.federated.runs._split import split_rows as split_rows
    from mahrem.federated.runs._split import split_table as split_table
    from mahrem.federated.runs._task import FederatedTask as FederatedTask
    from mahrem.federated.runs._task import TableOwner as TableOwner
    from mahrem.federated.runs._task import TaskRun as TaskRun
    from mahrem.federated.runs._weights_task import WeightsTask as WeightsTask
else:
    __getattr__, __dir__, __all__ = offered(__name__)
