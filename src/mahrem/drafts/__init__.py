"""Drafts: a table and a policy become what will be published, and what that loses and gives away.

A table is prepared (roles, axes, values), its rows are sorted and its cells rewritten; the draft is measured
(risk, relations between columns, learning, a quick red team) and its recipe is written down. A draft is
never handed out: ``pipeline`` verifies what will be published first.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.drafts._coarse_axes import coarse_axis as coarse_axis
    from mahrem.drafts._crowd import Crowd as Crowd
    from mahrem.drafts._crowd import crowd_of as crowd_of
    from mahrem.drafts._crowd import is_shifted as is_shifted
    from mahrem.drafts._doubts import accepted_columns as accepted_columns
    from mahrem.drafts._doubts import doubts_of as doubts_of
    from mahrem.drafts._doubts import tied_rows as tied_rows
    from mahrem.drafts._draft import Draft as Draft
    from mahrem.drafts._draft import beside as beside
    from mahrem.drafts._draft import draft as draft
    from mahrem.drafts._full_domain import node_search as node_search
    from mahrem.drafts._learning_measure import ORIGINAL as ORIGINAL
    from mahrem.drafts._learning_measure import LearningMeasure as LearningMeasure
    from mahrem.drafts._learning_measure import correlations as correlations
    from mahrem.drafts._method import admission as admission
    from mahrem.drafts._prepare import Prepared as Prepared
    from mahrem.drafts._prepare import coded_ends as coded_ends
    from mahrem.drafts._prepare import plain_text as plain_text
    from mahrem.drafts._prepare import prepare as prepare
    from mahrem.drafts._prepare import prepared_at_gate as prepared_at_gate
    from mahrem.drafts._prepare import promise_anew as promise_anew
    from mahrem.drafts._prepare import subjects_of as subjects_of
    from mahrem.drafts._probe import probe as probe
    from mahrem.drafts._recipe import recipe_of as recipe_of
    from mahrem.drafts._relations import relations as relations
    from mahrem.drafts._release_learning import measure_learning as measure_learning
    from mahrem.drafts._rewritten import compared_with as compared_with
    from mahrem.drafts._rewritten import original_of as original_of
    from mahrem.drafts._rewritten import rewritten as rewritten
    from mahrem.drafts._risk import RISK_THRESHOLD as RISK_THRESHOLD
    from mahrem.drafts._risk import as_told as as_told
    from mahrem.drafts._risk import hides_whose as hides_whose
    from mahrem.drafts._risk import people_behind as people_behind
    from mahrem.drafts._risk import risk_before as risk_before
    from mahrem.drafts._risk import risk_of as risk_of
    from mahrem.drafts._risk import singling_columns as singling_columns
    from mahrem.drafts._risk import utility_of as utility_of
    from mahrem.drafts._steps import ladder as ladder
    from mahrem.drafts._woven_file import write_draft as write_draft
else:
    __getattr__, __dir__, __all__ = offered(__name__)
