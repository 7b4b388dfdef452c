"""Masked tables: cells suppressed, values perturbed, levels chosen privately; the risk a survey leaves.

Each verb has a spec of its settings and gives a :class:`MaskedRelease` or a :class:`SurveyRisk`. It uses
``releasing`` to read back what was written; no other room of ``pipeline`` uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.pipeline.masking._generalize import generalize
    from mahrem.pipeline.masking._keywords import (
        GeneralisationKeywords,
        PerturbationKeywords,
        RiskKeywords,
        SuppressionKeywords,
    )
    from mahrem.pipeline.masking._masked import MaskedRelease
    from mahrem.pipeline.masking._perturb import perturb
    from mahrem.pipeline.masking._risk import SurveyRisk, risk
    from mahrem.pipeline.masking._settings import (
        MASKING,
        SHARED,
        GeneralisationSettings,
        PerturbationSettings,
        RiskSettings,
        SuppressionSettings,
        level_settings,
        masking_settings,
    )
    from mahrem.pipeline.masking._suppress import suppress
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "MASKING",
    "SHARED",
    "GeneralisationKeywords",
    "GeneralisationSettings",
    "MaskedRelease",
    "PerturbationKeywords",
    "PerturbationSettings",
    "RiskKeywords",
    "RiskSettings",
    "SuppressionKeywords",
    "SuppressionSettings",
    "SurveyRisk",
    "generalize",
    "level_settings",
    "masking_settings",
    "perturb",
    "risk",
    "suppress",
]
