"""Every route of the API."""

from __future__ import annotations

from mahrem.web.api import _api, _api_explore, _api_jobs, _api_masking, _api_releases, _api_spending

API_ROUTERS = (
    _api.router,
    _api_jobs.router,
    _api_explore.router,
    _api_masking.router,
    _api_spending.router,
    _api_releases.router,
)
