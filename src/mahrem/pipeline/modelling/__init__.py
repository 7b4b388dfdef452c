"""What is learnt from a table under a ledger: trained models and synthetic tables, with their folders.

``mahrem.learning`` learns; here the ledger, the table and the folder are brought together. ``auditing``
attacks what comes out.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.modelling._plans import plan_synthesis as plan_synthesis
    from mahrem.pipeline.modelling._plans import plan_training as plan_training
    from mahrem.pipeline.modelling._synthesize import synthesize as synthesize
    from mahrem.pipeline.modelling._synthetic_report import SYNTHESIS as SYNTHESIS
    from mahrem.pipeline.modelling._synthetic_run import SyntheticRelease as SyntheticRelease
    from mahrem.pipeline.modelling._train import train as train
    from mahrem.pipeline.modelling._trained import LoadedModel as LoadedModel
    from mahrem.pipeline.modelling._trained import TrainedModel as TrainedModel
    from mahrem.pipeline.modelling._trained import load_model as load_model
else:
    __getattr__, __dir__, __all__ = offered(__name__)
