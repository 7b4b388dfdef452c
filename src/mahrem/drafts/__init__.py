"""Drafts: a table and a policy become what will be published, and what that loses and gives away.

A table is prepared (roles, axes, values), its rows are sorted and its cells rewritten; the draft is measured
(risk, relations between columns, learning, a quick red team) and its recipe is written down. A draft is
never handed out: ``pipeline`` verifies what will be published first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.drafts._coarse_axes import coarse_axis
    from mahrem.drafts._crowd import Crowd, crowd_of, is_shifted
    from mahrem.drafts._doubts import accepted_columns, doubts_of, found_by, tied_rows
    from mahrem.drafts._draft import Draft, beside, draft
    from mahrem.drafts._full_domain import node_search
    from mahrem.drafts._learning_measure import ORIGINAL, LearningMeasure, correlations
    from mahrem.drafts._method import admission
    from mahrem.drafts._prepare import Prepared, coded_ends, plain_text, prepare, promise_anew, subjects_of
    from mahrem.drafts._probe import probe
    from mahrem.drafts._recipe import recipe_of
    from mahrem.drafts._relations import relations
    from mahrem.drafts._release_learning import measure_learning
    from mahrem.drafts._rewritten import compared_with, original_of, past_the_door, rewritten
    from mahrem.drafts._risk import (
        RISK_THRESHOLD,
        as_told,
        hides_whose,
        people_behind,
        risk_before,
        risk_of,
        singling_columns,
        utility_of,
    )
    from mahrem.drafts._steps import ladder
    from mahrem.drafts._woven_file import write_draft
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ORIGINAL",
    "RISK_THRESHOLD",
    "Crowd",
    "Draft",
    "LearningMeasure",
    "Prepared",
    "accepted_columns",
    "admission",
    "as_told",
    "beside",
    "coarse_axis",
    "coded_ends",
    "compared_with",
    "correlations",
    "crowd_of",
    "doubts_of",
    "draft",
    "found_by",
    "hides_whose",
    "is_shifted",
    "ladder",
    "measure_learning",
    "node_search",
    "original_of",
    "past_the_door",
    "people_behind",
    "plain_text",
    "prepare",
    "probe",
    "promise_anew",
    "recipe_of",
    "relations",
    "rewritten",
    "risk_before",
    "risk_of",
    "singling_columns",
    "subjects_of",
    "tied_rows",
    "utility_of",
    "write_draft",
]
