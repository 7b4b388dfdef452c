"""The verbs: what a person does with mahrem. They only arrange what the rooms below know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.attacks import RedTeam
    from mahrem.pipeline._anonymize import anonymize
    from mahrem.pipeline._anonymizer import Anonymizer
    from mahrem.pipeline._apply import apply
    from mahrem.pipeline._attack import attack
    from mahrem.pipeline._attack_model import attack_model
    from mahrem.pipeline._attack_synthetic import attack_synthetic
    from mahrem.pipeline._attacked_model import is_model
    from mahrem.pipeline._audit import Audit, audit
    from mahrem.pipeline._compare import compare
    from mahrem.pipeline._comparison import Comparison
    from mahrem.pipeline._dry_run import dry_run
    from mahrem.pipeline._explorer import Explorer
    from mahrem.pipeline._generalize import generalize
    from mahrem.pipeline._hierarchy import check_hierarchy, make_hierarchy
    from mahrem.pipeline._inspect import Inspection, column_decisions, inspect
    from mahrem.pipeline._lattice import GeneralisationLattice, NodeVerdict, lattice
    from mahrem.pipeline._masked import MaskedRelease
    from mahrem.pipeline._masking_keywords import (
        GeneralisationKeywords,
        PerturbationKeywords,
        RiskKeywords,
        SuppressionKeywords,
    )
    from mahrem.pipeline._masking_settings import (
        GeneralisationSettings,
        PerturbationSettings,
        RiskSettings,
        SuppressionSettings,
        level_settings,
        masking_settings,
    )
    from mahrem.pipeline._on_spark import explain
    from mahrem.pipeline._perturb import perturb
    from mahrem.pipeline._portraits import portray
    from mahrem.pipeline._query import query
    from mahrem.pipeline._release import Release
    from mahrem.pipeline._report import redraw
    from mahrem.pipeline._risk import SurveyRisk, risk
    from mahrem.pipeline._suppress import suppress
    from mahrem.pipeline._sweep import Sweep
    from mahrem.pipeline._synthesize import synthesize
    from mahrem.pipeline._synthetic_run import SyntheticRelease
    from mahrem.pipeline._train import train
    from mahrem.pipeline._trained import TrainedModel, load_model
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Anonymizer",
    "Audit",
    "Comparison",
    "Explorer",
    "GeneralisationKeywords",
    "GeneralisationLattice",
    "GeneralisationSettings",
    "Inspection",
    "MaskedRelease",
    "NodeVerdict",
    "PerturbationKeywords",
    "PerturbationSettings",
    "RedTeam",
    "Release",
    "RiskKeywords",
    "RiskSettings",
    "SuppressionKeywords",
    "SuppressionSettings",
    "SurveyRisk",
    "Sweep",
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
    "level_settings",
    "load_model",
    "make_hierarchy",
    "masking_settings",
    "perturb",
    "portray",
    "query",
    "redraw",
    "risk",
    "suppress",
    "synthesize",
    "train",
]
