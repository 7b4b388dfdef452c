"""The door before everything: who may come in, how often, and with what.

Sessions and tokens, hosts and origins, sizes and connections are checked before a route is asked. What is
answered carries the policies that browsers keep.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.guard._connections import Connections as Connections
    from mahrem.web.guard._connections import ListeningSocket as ListeningSocket
    from mahrem.web.guard._guard import PICTURE_POLICY as PICTURE_POLICY
    from mahrem.web.guard._guard import REPORT_POLICY as REPORT_POLICY
    from mahrem.web.guard._guard import RequestGuard as RequestGuard
    from mahrem.web.guard._sessions import SESSION_SECONDS as SESSION_SECONDS
    from mahrem.web.guard._sessions import Sessions as Sessions
else:
    __getattr__, __dir__, __all__ = offered(__name__)
