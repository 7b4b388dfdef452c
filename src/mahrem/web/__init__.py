"""The page and the API: the same verbs in a browser, on this machine alone.

Needs the extra ``web``. Nothing heavy is loaded before a server is made.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web._serve import create_app as create_app
    from mahrem.web._serve import serve as serve
    from mahrem.web._settings import ServeSettings as ServeSettings
else:
    __getattr__, __dir__, __all__ = offered(__name__)
