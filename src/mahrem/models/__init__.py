"""Privacy models: what is promised about every class, judged for all classes at once.

A model is a frozen dataclass that sees a column as sorted (class, value, count) triplets and declares its
algebra: whether a union of admissible classes is admissible, and whether a larger level is safer. A
:class:`Promise` ties a model to a column; :func:`judge` says what a table makes of it. What counts on the
population behind a sample is in ``populations``, who shows which values in ``people``.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.models._alpha_k import AlphaK as AlphaK
    from mahrem.models._beta_likeness import BasicLikeness as BasicLikeness
    from mahrem.models._beta_likeness import EnhancedLikeness as EnhancedLikeness
    from mahrem.models._counts import Counts as Counts
    from mahrem.models._counts import Need as Need
    from mahrem.models._counts import PrivacyModel as PrivacyModel
    from mahrem.models._counts import counts_of as counts_of
    from mahrem.models._counts import holds_either_way as holds_either_way
    from mahrem.models._counts import people_counts as people_counts
    from mahrem.models._delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from mahrem.models._delta_presence import DeltaPresence as DeltaPresence
    from mahrem.models._delta_presence import ShownPresence as ShownPresence
    from mahrem.models._entries import COUNTED as COUNTED
    from mahrem.models._entries import MODELS as MODELS
    from mahrem.models._entries import TABLE_SETTINGS as TABLE_SETTINGS
    from mahrem.models._entries import ModelEntry as ModelEntry
    from mahrem.models._entries import ModelKeywords as ModelKeywords
    from mahrem.models._entries import model_setting as model_setting
    from mahrem.models._entries import model_settings as model_settings
    from mahrem.models._k_anonymity import KAnonymity as KAnonymity
    from mahrem.models._k_anonymity import TrajectoryAnonymity as TrajectoryAnonymity
    from mahrem.models._l_diversity import DistinctDiversity as DistinctDiversity
    from mahrem.models._l_diversity import EntropyDiversity as EntropyDiversity
    from mahrem.models._l_diversity import GrassbergerDiversity as GrassbergerDiversity
    from mahrem.models._l_diversity import RecursiveDiversity as RecursiveDiversity
    from mahrem.models._parse import model_of_risk as model_of_risk
    from mahrem.models._parse import models_from_settings as models_from_settings
    from mahrem.models._parse import models_of_risk as models_of_risk
    from mahrem.models._parse import parse_sensitive as parse_sensitive
    from mahrem.models._promise import Outcome as Outcome
    from mahrem.models._promise import Promise as Promise
    from mahrem.models._promise import judge as judge
    from mahrem.models._promise import refuse_unreachable as refuse_unreachable
    from mahrem.models._shares import spans_of as spans_of
    from mahrem.models._t_closeness import EqualCloseness as EqualCloseness
    from mahrem.models._t_closeness import HierarchicalCloseness as HierarchicalCloseness
    from mahrem.models._t_closeness import KLCloseness as KLCloseness
    from mahrem.models._t_closeness import OrderedCloseness as OrderedCloseness
else:
    __getattr__, __dir__, __all__ = offered(__name__)
