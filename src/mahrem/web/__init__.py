"""The page and the API: the same verbs in a browser, on this machine alone.

Needs the extra ``web``. Nothing heavy is loaded before a server is made.
"""

from mahrem.web._serve import create_app, serve
from mahrem.web._settings import ServeSettings

__all__ = ["ServeSettings", "create_app", "serve"]
