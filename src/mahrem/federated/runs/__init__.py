"""Runs and their folders: a simulation of any task on one machine, and what a folder gives away.

A task says what is learnt; a run goes on after its last round and keeps what it reached. Tables are shared
out here, and a finished run is attacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.runs._arrange import Shape, ShapeModel, ShapeRun, arrange
    from mahrem.federated.runs._attack import attack_run, is_run
    from mahrem.federated.runs._dirichlet import dirichlet_rows
    from mahrem.federated.runs._folder import RunFolder
    from mahrem.federated.runs._learning import LearningRun
    from mahrem.federated.runs._simulate import Bins, Split, simulate, split_table
    from mahrem.federated.runs._simulate_learning import TableSharing, simulate_learning, train_alone
    from mahrem.federated.runs._simulate_shapes import ShapeFigures, compare_shape, simulate_shape
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Bins",
    "LearningRun",
    "RunFolder",
    "Shape",
    "ShapeFigures",
    "ShapeModel",
    "ShapeRun",
    "Split",
    "TableSharing",
    "arrange",
    "attack_run",
    "compare_shape",
    "dirichlet_rows",
    "is_run",
    "simulate",
    "simulate_learning",
    "simulate_shape",
    "split_table",
    "train_alone",
]
