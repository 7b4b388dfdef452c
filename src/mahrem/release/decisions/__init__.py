"""Decisions about a release: the policy, what it says of each column, ready policies and their template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.release.decisions._cell_pricing import CellPricing, cell_costs, pricing_of
    from mahrem.release.decisions._columns import (
        ReadingSettings,
        column_of,
        hierarchies_of,
        hierarchy_of,
        least_step,
        method_of,
        reading_beside,
        reading_from,
        reading_of,
        reading_of_release,
        recoding_of,
        refuse_beyond_limit,
        roles_of,
        unordered,
    )
    from mahrem.release.decisions._keywords import ReleaseKeywords
    from mahrem.release.decisions._learnt_groups import Automatic, best_groups, learn_groups
    from mahrem.release.decisions._policy import GivenPolicy, Policy, policy_from, release_settings
    from mahrem.release.decisions._policy_files import own_pseudonyms, read_policy
    from mahrem.release.decisions._population import members_in, others_of, population_of
    from mahrem.release.decisions._ready import READY_POLICIES, about_policy, is_called_so, policy_text
    from mahrem.release.decisions._refusals import (
        BOUNDING,
        COARSENING,
        coarsened_by_row,
        without_columns,
    )
    from mahrem.release.decisions._template import policy_template, written_policy
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "BOUNDING",
    "COARSENING",
    "READY_POLICIES",
    "Automatic",
    "CellPricing",
    "GivenPolicy",
    "Policy",
    "ReadingSettings",
    "ReleaseKeywords",
    "about_policy",
    "best_groups",
    "cell_costs",
    "coarsened_by_row",
    "column_of",
    "hierarchies_of",
    "hierarchy_of",
    "is_called_so",
    "learn_groups",
    "least_step",
    "members_in",
    "method_of",
    "others_of",
    "own_pseudonyms",
    "policy_from",
    "policy_template",
    "policy_text",
    "population_of",
    "pricing_of",
    "read_policy",
    "reading_beside",
    "reading_from",
    "reading_of",
    "reading_of_release",
    "recoding_of",
    "refuse_beyond_limit",
    "release_settings",
    "roles_of",
    "unordered",
    "without_columns",
    "written_policy",
]
