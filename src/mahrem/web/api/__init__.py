"""The API: one function for each route, with bodies in and bodies out.

Pages call the same functions, so that a browser can do nothing that a program cannot. ``API_ROUTERS`` are
what an application is made of.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.api._api import with_point as with_point
    from mahrem.web.api._api_jobs import ask_privately as ask_privately
    from mahrem.web.api._api_jobs import column_name as column_name
    from mahrem.web.api._api_jobs import keep_tree as keep_tree
    from mahrem.web.api._api_jobs import plan_query as plan_query
    from mahrem.web.api._api_jobs import read_ledger as read_ledger
    from mahrem.web.api._api_jobs import read_tree as read_tree
    from mahrem.web.api._api_jobs import remove_tree as remove_tree
    from mahrem.web.api._routers import API_ROUTERS as API_ROUTERS
else:
    __getattr__, __dir__, __all__ = offered(__name__)
