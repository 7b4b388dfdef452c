"""Risk of people in a survey: how likely each is one of few in the population the sample was drawn from.

Individual risk by sampling weights, risk by a model of counts, and special uniques (SUDA): functions of
arrays as all of ``mahrem.metrics``, whose subsets of columns they share.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.metrics.surveys._individual_risk import IndividualRisk as IndividualRisk
    from mahrem.metrics.surveys._individual_risk import household_risk as household_risk
    from mahrem.metrics.surveys._individual_risk import individual_risk as individual_risk
    from mahrem.metrics.surveys._model_risk import ModelRisk as ModelRisk
    from mahrem.metrics.surveys._model_risk import model_risk as model_risk
    from mahrem.metrics.surveys._suda import suda as suda
else:
    __getattr__, __dir__, __all__ = offered(__name__)
