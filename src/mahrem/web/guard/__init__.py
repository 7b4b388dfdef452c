"""The door before everything: who may come in, how often, and with what.

Sessions and tokens, hosts and origins, sizes and connections are checked before a route is asked. What is
answered carries the policies that browsers keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web.guard._connections import Connections, ListeningSocket
    from mahrem.web.guard._guard import PICTURE_POLICY, REPORT_POLICY, RequestGuard
    from mahrem.web.guard._sessions import SESSION_SECONDS, Sessions
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PICTURE_POLICY",
    "REPORT_POLICY",
    "SESSION_SECONDS",
    "Connections",
    "ListeningSocket",
    "RequestGuard",
    "Sessions",
]
