"""Private training as one task: settings, the models there are, how they are made, measured and kept.

A task is settings and the public facts of a ledger; it makes an untrained estimator of the room
``private``. Canaries and held-out rows say what its promise and its answers are worth; what is kept of it are
public facts and weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.training._canaries import Canaries
    from mahrem.learning.training._entries import GRADIENTS, MODELS, PrivateModel
    from mahrem.learning.training._fit import FitResult, TrainingRows, fit_model, planned_event
    from mahrem.learning.training._held_out import HeldOutMeasure
    from mahrem.learning.training._keywords import TrainingKeywords
    from mahrem.learning.training._settings import TrainingSettings
    from mahrem.learning.training._stored import can_rebuild, model_settings, model_weights, rebuild_model
    from mahrem.learning.training._task import TrainingTask
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "GRADIENTS",
    "MODELS",
    "Canaries",
    "FitResult",
    "HeldOutMeasure",
    "PrivateModel",
    "TrainingKeywords",
    "TrainingRows",
    "TrainingSettings",
    "TrainingTask",
    "can_rebuild",
    "fit_model",
    "model_settings",
    "model_weights",
    "planned_event",
    "rebuild_model",
]
