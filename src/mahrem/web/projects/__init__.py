"""Projects on disk: their tables, decisions, candidates and finished runs.

Everything is private to its owner and appears whole or not at all. What a step needs before it can be taken
is refused here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web.projects._candidates import Candidate, CandidateStore
    from mahrem.web.projects._needs import needs_decisions, needs_source, needs_table
    from mahrem.web.projects._plan import (
        OWN_CLUSTER,
        check_choices,
        check_methods,
        decided_elsewhere,
        decisions_of,
        mask_settings_of,
        policy_text,
        settings_of,
    )
    from mahrem.web.projects._runs import FederatedRun, FederatedRuns, list_runs, read_listed
    from mahrem.web.projects._sources import (
        database_label,
        file_facts,
        list_files,
        locate,
        mark_of,
        pick_database,
        refuse_another_table,
    )
    from mahrem.web.projects._store import SHOWS_ROWS, ProjectStore, in_words, make_private, now_words
    from mahrem.web.projects._upload import receive_body, receive_form
    from mahrem.web.projects._zip import zip_files
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "OWN_CLUSTER",
    "SHOWS_ROWS",
    "Candidate",
    "CandidateStore",
    "FederatedRun",
    "FederatedRuns",
    "ProjectStore",
    "check_choices",
    "check_methods",
    "database_label",
    "decided_elsewhere",
    "decisions_of",
    "file_facts",
    "in_words",
    "list_files",
    "list_runs",
    "locate",
    "make_private",
    "mark_of",
    "mask_settings_of",
    "needs_decisions",
    "needs_source",
    "needs_table",
    "now_words",
    "pick_database",
    "policy_text",
    "read_listed",
    "receive_body",
    "receive_form",
    "refuse_another_table",
    "settings_of",
    "zip_files",
]
