"""Runs and their folders: a simulation of any task on one machine, and what a folder gives away.

A task says what is learnt; a run goes on after its last round and keeps what it reached. Tables are shared
out here, and a finished run is attacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.runs._agreed_shape import AgreedShape
    from mahrem.federated.runs._arrange import ShapeRun, arrange
    from mahrem.federated.runs._attack import attack_run, is_run
    from mahrem.federated.runs._check import CheckedClient, CheckFinding, TableCheck, check_table
    from mahrem.federated.runs._dirichlet import dirichlet_rows
    from mahrem.federated.runs._entries import BINS, SHAPES
    from mahrem.federated.runs._folder import MEMBERS, RunFolder, read_run
    from mahrem.federated.runs._predict import Prediction, RunModel, predict_rows
    from mahrem.federated.runs._report import RunReport, report_run
    from mahrem.federated.runs._rules_task import RulesTask
    from mahrem.federated.runs._settings import ClientSettings, RunSettings, Tell
    from mahrem.federated.runs._shape_task import ShapeTask
    from mahrem.federated.runs._sharing import TableSharing
    from mahrem.federated.runs._simulate import simulate
    from mahrem.federated.runs._simulate_rules import RulesSimulation
    from mahrem.federated.runs._simulate_shapes import ShapeFigures, ShapeSimulation, compare_shape
    from mahrem.federated.runs._simulate_weights import WeightsSimulation, train_alone
    from mahrem.federated.runs._split import split_rows, split_table
    from mahrem.federated.runs._task import FederatedTask, TableOwner, TaskRun
    from mahrem.federated.runs._weights_task import WeightsTask
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BINS",
    "MEMBERS",
    "SHAPES",
    "AgreedShape",
    "CheckFinding",
    "CheckedClient",
    "ClientSettings",
    "FederatedTask",
    "Prediction",
    "RulesSimulation",
    "RulesTask",
    "RunFolder",
    "RunModel",
    "RunReport",
    "RunSettings",
    "ShapeFigures",
    "ShapeRun",
    "ShapeSimulation",
    "ShapeTask",
    "TableCheck",
    "TableOwner",
    "TableSharing",
    "TaskRun",
    "Tell",
    "WeightsSimulation",
    "WeightsTask",
    "arrange",
    "attack_run",
    "check_table",
    "compare_shape",
    "dirichlet_rows",
    "is_run",
    "predict_rows",
    "read_run",
    "report_run",
    "simulate",
    "split_rows",
    "split_table",
    "train_alone",
]
