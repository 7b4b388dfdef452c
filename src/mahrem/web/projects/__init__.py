"""Projects on disk: their tables, decisions, candidates and finished runs.

Everything is private to its owner and appears whole or not at all. What a step needs before it can be taken
is refused here.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.projects._candidates import Candidate as Candidate
    from mahrem.web.projects._candidates import CandidateStore as CandidateStore
    from mahrem.web.projects._job_folder import SHOWS_ROWS as SHOWS_ROWS
    from mahrem.web.projects._job_folder import make_private as make_private
    from mahrem.web.projects._needs import needs_decisions as needs_decisions
    from mahrem.web.projects._needs import needs_source as needs_source
    from mahrem.web.projects._needs import needs_table as needs_table
    from mahrem.web.projects._plan import OWN_CLUSTER as OWN_CLUSTER
    from mahrem.web.projects._plan import check_choices as check_choices
    from mahrem.web.projects._plan import check_methods as check_methods
    from mahrem.web.projects._plan import decided_elsewhere as decided_elsewhere
    from mahrem.web.projects._plan import decisions_of as decisions_of
    from mahrem.web.projects._plan import mask_settings_of as mask_settings_of
    from mahrem.web.projects._plan import policy_text as policy_text
    from mahrem.web.projects._plan import settings_of as settings_of
    from mahrem.web.projects._runs import FederatedRun as FederatedRun
    from mahrem.web.projects._runs import FederatedRuns as FederatedRuns
    from mahrem.web.projects._runs import list_runs as list_runs
    from mahrem.web.projects._runs import read_listed as read_listed
    from mahrem.web.projects._sources import database_label as database_label
    from mahrem.web.projects._sources import file_facts as file_facts
    from mahrem.web.projects._sources import list_files as list_files
    from mahrem.web.projects._sources import locate as locate
    from mahrem.web.projects._sources import mark_of as mark_of
    from mahrem.web.projects._sources import pick_database as pick_database
    from mahrem.web.projects._sources import refuse_another_table as refuse_another_table
    from mahrem.web.projects._store import ProjectStore as ProjectStore
    from mahrem.web.projects._store import in_words as in_words
    from mahrem.web.projects._store import now_words as now_words
    from mahrem.web.projects._upload import receive_body as receive_body
    from mahrem.web.projects._upload import receive_form as receive_form
    from mahrem.web.projects._zip import zip_files as zip_files
else:
    __getattr__, __dir__, __all__ = offered(__name__)
