"""The page and the API: the same verbs in a browser, on this machine alone.

Needs the extra ``web``. Nothing heavy is loaded before a server is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web._serve import create_app, serve
    from mahrem.web._settings import ServeSettings
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = ["ServeSettings", "create_app", "serve"]
