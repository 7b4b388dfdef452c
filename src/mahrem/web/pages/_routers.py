"""Every route that answers with a page."""

from __future__ import annotations

from mahrem.web.pages import (
    _pages,
    _pages_asking,
    _pages_door,
    _pages_explore,
    _pages_history,
    _pages_jobs,
    _pages_masking,
    _pages_spending,
    _pages_steps,
)

PAGE_ROUTERS = (
    _pages.router,
    _pages_steps.router,
    _pages_explore.router,
    _pages_history.router,
    _pages_jobs.router,
    _pages_asking.router,
    _pages_masking.router,
    _pages_door.router,
    _pages_spending.router,
)
