"""Masked tables: cells suppressed, values perturbed, levels chosen privately; the risk a survey leaves.

Each verb has a spec of its settings and gives a :class:`MaskedRelease` or a :class:`SurveyRisk`. It uses
``releasing`` to read back what was written; no other room of ``pipeline`` uses it.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.masking._generalize import generalize as generalize
    from mahrem.pipeline.masking._keywords import GeneralisationKeywords as GeneralisationKeywords
    from mahrem.pipeline.masking._keywords import PerturbationKeywords as PerturbationKeywords
    from mahrem.pipeline.masking._keywords import RiskKeywords as RiskKeywords
    from mahrem.pipeline.masking._keywords import SuppressionKeywords as SuppressionKeywords
    from mahrem.pipeline.masking._masked import MaskedRelease as MaskedRelease
    from mahrem.pipeline.masking._perturb import perturb as perturb
    from mahrem.pipeline.masking._risk import SurveyRisk as SurveyRisk
    from mahrem.pipeline.masking._risk import risk as risk
    from mahrem.pipeline.masking._settings import MASKING as MASKING
    from mahrem.pipeline.masking._settings import SHARED as SHARED
    from mahrem.pipeline.masking._settings import GeneralisationSettings as GeneralisationSettings
    from mahrem.pipeline.masking._settings import PerturbationSettings as PerturbationSettings
    from mahrem.pipeline.masking._settings import RiskSettings as RiskSettings
    from mahrem.pipeline.masking._settings import SuppressionSettings as SuppressionSettings
    from mahrem.pipeline.masking._settings import level_settings as level_settings
    from mahrem.pipeline.masking._settings import masking_settings as masking_settings
    from mahrem.pipeline.masking._suppress import suppress as suppress
else:
    __getattr__, __dir__, __all__ = offered(__name__)
