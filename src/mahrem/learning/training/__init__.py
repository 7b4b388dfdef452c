"""Private training as one task: settings, the models there are, how they are made, measured and kept.

A task is settings and the public facts of a ledger; it makes an untrained estimator of the room
``private``. Canaries and held-out rows say what its promise and its answers are worth; what is kept of it are
public facts and weights.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.training._canaries import Canaries as Canaries
    from mahrem.learning.training._entries import MODELS as MODELS
    from mahrem.learning.training._entries import PrivateModel as PrivateModel
    from mahrem.learning.training._fit import FitResult as FitResult
    from mahrem.learning.training._fit import TrainingRows as TrainingRows
    from mahrem.learning.training._fit import fit_model as fit_model
    from mahrem.learning.training._fit import planned_event as planned_event
    from mahrem.learning.training._held_out import HeldOutMeasure as HeldOutMeasure
    from mahrem.learning.training._keywords import TrainingKeywords as TrainingKeywords
    from mahrem.learning.training._settings import TrainingSettings as TrainingSettings
    from mahrem.learning.training._stored import can_rebuild as can_rebuild
    from mahrem.learning.training._stored import model_settings as model_settings
    from mahrem.learning.training._stored import model_weights as model_weights
    from mahrem.learning.training._stored import rebuild_model as rebuild_model
    from mahrem.learning.training._task import TrainingTask as TrainingTask
else:
    __getattr__, __dir__, __all__ = offered(__name__)
