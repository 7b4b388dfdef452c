"""Every route of the API."""

from __future__ import annotations

from mahrem.web.api import _api, _api_explore, _api_jobs

API_ROUTERS = (_api.router, _api_jobs.router, _api_explore.router)
