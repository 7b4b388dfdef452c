"""The private loop: gradients of examples, clipped sums, noise, and the plan that pays for them.

Networks of other rooms and of federations take their steps here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private.steps._checkpoint import (
        Checkpoint,
        checkpoint_stream,
        data_digest,
        pay_or_resume,
    )
    from mahrem.learning.private.steps._choices import NOISES, OPTIMISERS
    from mahrem.learning.private.steps._cost import LARGEST, ORDERS, SMALLEST, least_gaussian
    from mahrem.learning.private.steps._descent import Augmentation, Compute, Descent, choose_device
    from mahrem.learning.private.steps._example_gradients import ClippedSums, torch_of
    from mahrem.learning.private.steps._mixing import refuse_mixing
    from mahrem.learning.private.steps._plan import TrainingPlan, declared_rows
    from mahrem.learning.private.steps._private_steps import PrivateSteps, StepExamples, limited_units
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "LARGEST",
    "NOISES",
    "OPTIMISERS",
    "ORDERS",
    "SMALLEST",
    "Augmentation",
    "Checkpoint",
    "ClippedSums",
    "Compute",
    "Descent",
    "PrivateSteps",
    "StepExamples",
    "TrainingPlan",
    "checkpoint_stream",
    "choose_device",
    "data_digest",
    "declared_rows",
    "least_gaussian",
    "limited_units",
    "pay_or_resume",
    "refuse_mixing",
    "torch_of",
]
