"""Decisions about a release: the policy, what it says of each column, ready policies and their template."""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.release.decisions._cell_pricing import CellPricing as CellPricing
    from mahrem.release.decisions._cell_pricing import cell_costs as cell_costs
    from mahrem.release.decisions._cell_pricing import pricing_of as pricing_of
    from mahrem.release.decisions._columns import ReadingSettings as ReadingSettings
    from mahrem.release.decisions._columns import column_of as column_of
    from mahrem.release.decisions._columns import hierarchies_of as hierarchies_of
    from mahrem.release.decisions._columns import hierarchy_of as hierarchy_of
    from mahrem.release.decisions._columns import least_step as least_step
    from mahrem.release.decisions._columns import method_of as method_of
    from mahrem.release.decisions._columns import reading_beside as reading_beside
    from mahrem.release.decisions._columns import reading_from as reading_from
    from mahrem.release.decisions._columns import reading_of as reading_of
    from mahrem.release.decisions._columns import reading_of_release as reading_of_release
    from mahrem.release.decisions._columns import recoding_of as recoding_of
    from mahrem.release.decisions._columns import refuse_beyond_limit as refuse_beyond_limit
    from mahrem.release.decisions._columns import roles_of as roles_of
    from mahrem.release.decisions._columns import unordered as unordered
    from mahrem.release.decisions._keywords import ReleaseKeywords as ReleaseKeywords
    from mahrem.release.decisions._learnt_groups import Automatic as Automatic
    from mahrem.release.decisions._learnt_groups import best_groups as best_groups
    from mahrem.release.decisions._learnt_groups import learn_groups as learn_groups
    from mahrem.release.decisions._policy import GivenPolicy as GivenPolicy
    from mahrem.release.decisions._policy import Policy as Policy
    from mahrem.release.decisions._policy import policy_from as policy_from
    from mahrem.release.decisions._policy import release_settings as release_settings
    from mahrem.release.decisions._policy_files import own_pseudonyms as own_pseudonyms
    from mahrem.release.decisions._policy_files import read_policy as read_policy
    from mahrem.release.decisions._population import members_in as members_in
    from mahrem.release.decisions._population import others_of as others_of
    from mahrem.release.decisions._population import population_of as population_of
    from mahrem.release.decisions._ready import READY_POLICIES as READY_POLICIES
    from mahrem.release.decisions._ready import about_policy as about_policy
    from mahrem.release.decisions._ready import is_called_so as is_called_so
    from mahrem.release.decisions._ready import policy_text as policy_text
    from mahrem.release.decisions._refusals import BOUNDING as BOUNDING
    from mahrem.release.decisions._refusals import COARSENING as COARSENING
    from mahrem.release.decisions._refusals import coarsened_by_row as coarsened_by_row
    from mahrem.release.decisions._refusals import without_columns as without_columns
    from mahrem.release.decisions._template import policy_template as policy_template
    from mahrem.release.decisions._template import written_policy as written_policy
else:
    __getattr__, __dir__, __all__ = offered(__name__)
