"""What a sample tells of the population: uniques, k-map, and the risk of being found.

Plain functions of class sizes. Reports measure with them (``metrics`` offers them by name), and privacy
models promise what they say.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.estimates._attackers import Risk as Risk
    from mahrem.estimates._attackers import expected_risks as expected_risks
    from mahrem.estimates._attackers import journalist_risk as journalist_risk
    from mahrem.estimates._attackers import marketer_risk as marketer_risk
    from mahrem.estimates._attackers import prosecutor_risk as prosecutor_risk
    from mahrem.estimates._k_map import k_map as k_map
    from mahrem.estimates._k_map import k_map_rows as k_map_rows
    from mahrem.estimates._pitman import pitman_parameters as pitman_parameters
    from mahrem.estimates._pitman import pitman_uniques as pitman_uniques
    from mahrem.estimates._population_uniques import PopulationUniques as PopulationUniques
    from mahrem.estimates._population_uniques import population_uniques as population_uniques
    from mahrem.estimates._slide_negative_binomial import expected_classes as expected_classes
    from mahrem.estimates._slide_negative_binomial import snb_uniques as snb_uniques
    from mahrem.estimates._zayatz import zayatz_uniques as zayatz_uniques
else:
    __getattr__, __dir__, __all__ = offered(__name__)
