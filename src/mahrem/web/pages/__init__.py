"""The pages: routes that answer with HTML, the views behind them, and templates.

A view turns a project into a context that a template draws; words come from catalogues. Forms are read by
the same settings as bodies of the API.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.pages._contexts import MessagePage as MessagePage
    from mahrem.web.pages._contexts import Shell as Shell
    from mahrem.web.pages._routers import PAGE_ROUTERS as PAGE_ROUTERS
    from mahrem.web.pages._templates import render as render
else:
    __getattr__, __dir__, __all__ = offered(__name__)
