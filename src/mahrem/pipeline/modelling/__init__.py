"""What is learnt from a table under a ledger: trained models and synthetic tables, with their folders.

``mahrem.learning`` learns; here the ledger, the table and the folder are brought together. ``auditing``
attacks what comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.pipeline.modelling._synthesize import synthesize
    from mahrem.pipeline.modelling._synthetic_report import SYNTHESIS
    from mahrem.pipeline.modelling._synthetic_run import SyntheticRelease
    from mahrem.pipeline.modelling._train import train
    from mahrem.pipeline.modelling._trained import LoadedModel, TrainedModel, load_model
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "SYNTHESIS",
    "LoadedModel",
    "SyntheticRelease",
    "TrainedModel",
    "load_model",
    "synthesize",
    "train",
]
