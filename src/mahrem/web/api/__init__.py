"""The API: one function for each route, with bodies in and bodies out.

Pages call the same functions, so that a browser can do nothing that a program cannot. ``API_ROUTERS`` are
what an application is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web.api._api import with_point
    from mahrem.web.api._api_jobs import (
        ask_privately,
        column_name,
        keep_tree,
        plan_query,
        read_ledger,
        read_tree,
        remove_tree,
    )
    from mahrem.web.api._routers import API_ROUTERS
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "API_ROUTERS",
    "ask_privately",
    "column_name",
    "keep_tree",
    "plan_query",
    "read_ledger",
    "read_tree",
    "remove_tree",
    "with_point",
]
