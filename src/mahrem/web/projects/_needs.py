"""What a step needs of a project before it can begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mahrem.web._errors import Refused
from mahrem.web.bodies import Project, SourceFacts


def needs_source(project: Project) -> SourceFacts:
    """Say where the table of a project comes from, or that it has none."""
    if project.source is None:
        raise Refused(409, "no_table", "This project has no table", "Open a file first.")
    return project.source


def needs_table(project: Project) -> Mapping[str, Any]:
    """Give the profile of a project, or say that there is none yet."""
    needs_source(project)
    if project.profile is None:
        raise Refused(
            409,
            "not_profiled",
            "The columns of this table are not known yet",
            "Wait until it was read, or say how it is to be read.",
        )
    return project.profile


def needs_decisions(project: Project) -> None:
    """Refuse to publish columns as they are that nobody decided about."""
    if project.settled or project.choices is None:
        return
    plain = [name for name, choice in project.choices.columns.items() if choice.role == "insensitive"]
    if plain:
        raise Refused(409, "undecided", column=plain[0])
