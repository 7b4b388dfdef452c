"""The verbs: what a person does with mahrem. They only arrange what the rooms below know.

Its rooms: ``releasing``, which the others use, ``masking``, ``comparing``, ``exploring``, ``modelling`` and
``auditing``. Verbs and what they give are offered here, specs of their settings by the rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks import RedTeam
    from mahrem.pipeline._query import query
    from mahrem.pipeline.auditing import Audit, attack, attack_model, attack_synthetic, audit, is_model
    from mahrem.pipeline.comparing import Comparison, compare
    from mahrem.pipeline.exploring import (
        Explorer,
        GeneralisationLattice,
        Inspection,
        NodeVerdict,
        check_hierarchy,
        column_decisions,
        inspect,
        lattice,
        make_hierarchy,
        portray,
    )
    from mahrem.pipeline.masking import MaskedRelease, SurveyRisk, generalize, perturb, risk, suppress
    from mahrem.pipeline.modelling import SyntheticRelease, TrainedModel, load_model, synthesize, train
    from mahrem.pipeline.releasing import (
        Anonymizer,
        Release,
        anonymize,
        apply,
        dry_run,
        explain,
        redraw,
        redraw_two,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Anonymizer",
    "Audit",
    "Comparison",
    "Explorer",
    "GeneralisationLattice",
    "Inspection",
    "MaskedRelease",
    "NodeVerdict",
    "RedTeam",
    "Release",
    "SurveyRisk",
    "SyntheticRelease",
    "TrainedModel",
    "anonymize",
    "apply",
    "attack",
    "attack_model",
    "attack_synthetic",
    "audit",
    "check_hierarchy",
    "column_decisions",
    "compare",
    "dry_run",
    "explain",
    "generalize",
    "inspect",
    "is_model",
    "lattice",
    "load_model",
    "make_hierarchy",
    "perturb",
    "portray",
    "query",
    "redraw",
    "redraw_two",
    "risk",
    "suppress",
    "synthesize",
    "train",
]
