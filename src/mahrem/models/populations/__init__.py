"""Models that count on the population behind a sample: what a stranger may be thought to find there.

Some judge each class by what ``mahrem.estimates`` says of the population, some all classes together
(:class:`TableModel`). They are models as all others of ``mahrem.models``, which nobody loads to list them.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.models.populations._population_k_map import PeopleEnough as PeopleEnough
    from mahrem.models.populations._population_k_map import PopulationKMap as PopulationKMap
    from mahrem.models.populations._population_k_map import PopulationNoAttack as PopulationNoAttack
    from mahrem.models.populations._profitability import PopulationProfitability as PopulationProfitability
    from mahrem.models.populations._profitability import Profitability as Profitability
    from mahrem.models.populations._sampled import JournalistRisk as JournalistRisk
    from mahrem.models.populations._sampled import KMap as KMap
    from mahrem.models.populations._sampled import NoAttack as NoAttack
    from mahrem.models.populations._sampled import Sampled as Sampled
    from mahrem.models.populations._whole_table import AverageRisk as AverageRisk
    from mahrem.models.populations._whole_table import MarketerRisk as MarketerRisk
    from mahrem.models.populations._whole_table import PopulationUniqueness as PopulationUniqueness
    from mahrem.models.populations._whole_table import SampleUniqueness as SampleUniqueness
    from mahrem.models.populations._whole_table import TableModel as TableModel
else:
    __getattr__, __dir__, __all__ = offered(__name__)
