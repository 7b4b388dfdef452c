"""The plugin of dbt-duckdb: every connection of dbt knows the commands of mahrem."""

from __future__ import annotations

import shlex
from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin
from mahrem_commands import register


class Plugin(BasePlugin):
    """Takes ``command`` from the profile: how mahrem is called, if not with the Python of dbt."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Read the settings of the profile."""
        command = plugin_config.get("command")
        self._command = None if command is None else shlex.split(str(command))

    def configure_connection(self, conn: Any) -> None:
        """Teach a connection the commands."""
        register(conn, self._command)
