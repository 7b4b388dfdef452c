"""Work that takes a while: a queue, and processes that do it apart from the server.

A job is an order written down; its process dies with the server, within its limits, and what it leaves is
taken in whole. Warm processes keep a table open while somebody explores it.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.jobs._drawn import drawn as drawn
    from mahrem.web.jobs._drawn import report_in as report_in
    from mahrem.web.jobs._masking import NODES as NODES
    from mahrem.web.jobs._masking import lattice_settings as lattice_settings
    from mahrem.web.jobs._outcomes import result_of as result_of
    from mahrem.web.jobs._queue import JobQueue as JobQueue
    from mahrem.web.jobs._runner import Runner as Runner
    from mahrem.web.jobs._trees import check_tree_of as check_tree_of
else:
    __getattr__, __dir__, __all__ = offered(__name__)
