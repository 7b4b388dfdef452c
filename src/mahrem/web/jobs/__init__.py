"""Work that takes a while: a queue, and processes that do it apart from the server.

A job is an order written down; its process dies with the server, within its limits, and what it leaves is
taken in whole. Warm processes keep a table open while somebody explores it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web.jobs._drawn import drawn, report_in
    from mahrem.web.jobs._masking import NODES, lattice_settings
    from mahrem.web.jobs._outcomes import result_of
    from mahrem.web.jobs._queue import JobQueue
    from mahrem.web.jobs._runner import Runner
    from mahrem.web.jobs._trees import check_tree_of
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "NODES",
    "JobQueue",
    "Runner",
    "check_tree_of",
    "drawn",
    "lattice_settings",
    "report_in",
    "result_of",
]
