"""Options of a verb that are made from a spec of settings, under the headings the spec gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mahrem.cli._options import SOURCE_ROWS, Row, rows_of
from mahrem.settings import settings_of

__all__ = ["spec_panels", "typed_settings"]


def spec_panels(spec: type, words: str) -> dict[str, list[Row]]:
    """Give the options of a spec, and those that say how a source is read, by panel."""
    panels: dict[str, list[Row]] = {}
    for row, known in zip(rows_of(spec, words), settings_of(spec).values(), strict=True):
        panels.setdefault(known.group.capitalize(), []).append(row)
    return {**panels, "Table": list(SOURCE_ROWS)}


def typed_settings(spec: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn texts that were typed into what the Python verb takes; what was read already stays."""
    known = settings_of(spec)
    return {
        name: known[name].typed(name, typed)  # type: ignore[misc]
        if name in known and known[name].typed is not None and isinstance(typed, list | dict)
        else typed
        for name, typed in given.items()
    }
