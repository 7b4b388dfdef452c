"""Release folders and run records: policy in, staged files, hashes, and one atomic rename."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.release._column_settings import BOUNDING, COARSENING, coarsened_by_row, without_columns
    from mahrem.release._columns import (
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
    from mahrem.release._folder import (
        DATA_FILES,
        check_hashes,
        find_data,
        is_release,
        named_folder,
        replace_page,
        staged_release,
    )
    from mahrem.release._gate import (
        Doubt,
        decided,
        find_doubts,
        is_nearly_unique,
        is_rarely_shared,
        look_at,
        refuse_giving_away,
        warn_of_several_rows,
    )
    from mahrem.release._keywords import ReleaseKeywords
    from mahrem.release._learnt_groups import Automatic, best_groups, learn_groups
    from mahrem.release._own_claims import OwnClaims, read_own_claims
    from mahrem.release._parallel import in_parallel
    from mahrem.release._people import remember_people, watch_people
    from mahrem.release._policy import (
        AUTOMATIC,
        GivenPolicy,
        Policy,
        own_pseudonyms,
        policy_from,
        read_policy,
        release_settings,
    )
    from mahrem.release._population import members_in, others_of, population_of
    from mahrem.release._ready import READY_POLICIES, about_policy, is_called_so, policy_text
    from mahrem.release._recipe import BY_RECIPE, RECIPE, Recipe, read_recipe
    from mahrem.release._record import earlier_seconds, record_run
    from mahrem.release._releases import RememberedRelease, difference, mark_release, remembered_releases
    from mahrem.release._signature import (
        Signature,
        check_signature,
        is_signed,
        make_signing_key,
        sign_release,
        verify_release,
    )
    from mahrem.release._template import policy_template, written_policy
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "AUTOMATIC",
    "BOUNDING",
    "BY_RECIPE",
    "COARSENING",
    "DATA_FILES",
    "READY_POLICIES",
    "RECIPE",
    "Automatic",
    "Doubt",
    "GivenPolicy",
    "OwnClaims",
    "Policy",
    "ReadingSettings",
    "Recipe",
    "ReleaseKeywords",
    "RememberedRelease",
    "Signature",
    "about_policy",
    "best_groups",
    "check_hashes",
    "check_signature",
    "coarsened_by_row",
    "column_of",
    "decided",
    "difference",
    "earlier_seconds",
    "find_data",
    "find_doubts",
    "hierarchies_of",
    "hierarchy_of",
    "in_parallel",
    "is_called_so",
    "is_nearly_unique",
    "is_rarely_shared",
    "is_release",
    "is_signed",
    "learn_groups",
    "least_step",
    "look_at",
    "make_signing_key",
    "mark_release",
    "members_in",
    "method_of",
    "named_folder",
    "others_of",
    "own_pseudonyms",
    "policy_from",
    "policy_template",
    "policy_text",
    "population_of",
    "read_own_claims",
    "read_policy",
    "read_recipe",
    "reading_beside",
    "reading_from",
    "reading_of",
    "reading_of_release",
    "recoding_of",
    "record_run",
    "refuse_beyond_limit",
    "refuse_giving_away",
    "release_settings",
    "remember_people",
    "remembered_releases",
    "replace_page",
    "roles_of",
    "sign_release",
    "staged_release",
    "unordered",
    "verify_release",
    "warn_of_several_rows",
    "watch_people",
    "without_columns",
    "written_policy",
]
