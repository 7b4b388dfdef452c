"""Models that count on the population behind a sample: what a stranger may be thought to find there.

Some judge each class by what ``mahrem.estimates`` says of the population, some all classes together
(:class:`TableModel`). They are models as all others of ``mahrem.models``, which nobody loads to list them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.models.populations._population_k_map import PeopleEnough, PopulationKMap, PopulationNoAttack
    from mahrem.models.populations._profitability import PopulationProfitability, Profitability
    from mahrem.models.populations._sampled import JournalistRisk, KMap, NoAttack, Sampled
    from mahrem.models.populations._whole_table import (
        AverageRisk,
        MarketerRisk,
        PopulationUniqueness,
        SampleUniqueness,
        TableModel,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AverageRisk",
    "JournalistRisk",
    "KMap",
    "MarketerRisk",
    "NoAttack",
    "PeopleEnough",
    "PopulationKMap",
    "PopulationNoAttack",
    "PopulationProfitability",
    "PopulationUniqueness",
    "Profitability",
    "SampleUniqueness",
    "Sampled",
    "TableModel",
]
