"""The private loop: gradients of examples, clipped sums, noise, and the plan that pays for them.

Networks of other rooms and of federations take their steps here.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private.steps._checkpoint import Checkpoint as Checkpoint
    from mahrem.learning.private.steps._checkpoint import checkpoint_stream as checkpoint_stream
    from mahrem.learning.private.steps._checkpoint import data_digest as data_digest
    from mahrem.learning.private.steps._checkpoint import pay_or_resume as pay_or_resume
    from mahrem.learning.private.steps._choices import NOISES as NOISES
    from mahrem.learning.private.steps._choices import OPTIMISERS as OPTIMISERS
    from mahrem.learning.private.steps._cost import LARGEST as LARGEST
    from mahrem.learning.private.steps._cost import ORDERS as ORDERS
    from mahrem.learning.private.steps._cost import SMALLEST as SMALLEST
    from mahrem.learning.private.steps._cost import least_gaussian as least_gaussian
    from mahrem.learning.private.steps._descent import Augmentation as Augmentation
    from mahrem.learning.private.steps._descent import Compute as Compute
    from mahrem.learning.private.steps._descent import Descent as Descent
    from mahrem.learning.private.steps._descent import choose_device as choose_device
    from mahrem.learning.private.steps._example_gradients import ClippedSums as ClippedSums
    from mahrem.learning.private.steps._example_gradients import torch_of as torch_of
    from mahrem.learning.private.steps._mixing import refuse_mixing as refuse_mixing
    from mahrem.learning.private.steps._plan import TrainingPlan as TrainingPlan
    from mahrem.learning.private.steps._plan import declared_rows as declared_rows
    from mahrem.learning.private.steps._private_steps import PrivateSteps as PrivateSteps
    from mahrem.learning.private.steps._private_steps import StepExamples as StepExamples
    from mahrem.learning.private.steps._private_steps import limited_units as limited_units
else:
    __getattr__, __dir__, __all__ = offered(__name__)
