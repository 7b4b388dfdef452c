"""What a sample tells of the population: uniques, k-map, and the risk of being found.

Plain functions of class sizes. Reports measure with them (``metrics`` offers them by name), and privacy
models promise what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.estimates._attackers import (
        Risk,
        expected_risks,
        journalist_risk,
        marketer_risk,
        prosecutor_risk,
    )
    from mahrem.estimates._k_map import k_map, k_map_rows
    from mahrem.estimates._pitman import pitman_parameters, pitman_uniques
    from mahrem.estimates._population_uniques import PopulationUniques, population_uniques
    from mahrem.estimates._slide_negative_binomial import expected_classes, snb_uniques
    from mahrem.estimates._zayatz import zayatz_uniques
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PopulationUniques",
    "Risk",
    "expected_classes",
    "expected_risks",
    "journalist_risk",
    "k_map",
    "k_map_rows",
    "marketer_risk",
    "pitman_parameters",
    "pitman_uniques",
    "population_uniques",
    "prosecutor_risk",
    "snb_uniques",
    "zayatz_uniques",
]
