"""Risk of people in a survey: how likely each is one of few in the population the sample was drawn from.

Individual risk by sampling weights, risk by a model of counts, and special uniques (SUDA): functions of
arrays as all of ``mahrem.metrics``, whose subsets of columns they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.metrics.surveys._individual_risk import IndividualRisk, household_risk, individual_risk
    from mahrem.metrics.surveys._model_risk import ModelRisk, model_risk
    from mahrem.metrics.surveys._suda import suda
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "IndividualRisk",
    "ModelRisk",
    "household_risk",
    "individual_risk",
    "model_risk",
    "suda",
]
