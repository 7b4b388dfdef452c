"""From what a project holds to what a verb is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mahrem.web._errors import Refused
from mahrem.web._models import Columns, Project, Promises, SourceFacts

__all__ = ["check_choices", "check_methods", "needs_source", "needs_table", "settings_of"]


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


def settings_of(project: Project, folder: Path) -> dict[str, Any]:
    """Give the settings of a release, by the names every verb knows; they are judged as a policy is."""
    needs_table(project)
    settings = _settings(project.choices or Columns(columns={}), project.promises or Promises())
    used = {
        name: file
        for name, file in project.hierarchies.items()
        if name in {*settings["quasi"], *settings["sensitive"]}
    }
    if used:
        settings["hierarchy"] = {name: str(folder / file) for name, file in used.items()}
    if not settings["quasi"]:
        raise Refused(
            409,
            "no_roles",
            "No column is named as something others may know",
            "Give at least one column the role quasi-identifier.",
        )
    return settings


def check_choices(project: Project, choices: Columns, promises: Promises) -> None:
    """Refuse choices that no release could be made with, by the same rules as a policy."""
    from mahrem import check
    from mahrem.release import Policy

    names = [column["name"] for column in needs_table(project)["columns"]]
    check.columns_exist([*choices.columns, *([choices.subject] if choices.subject else [])], names)
    check_methods([promises.method], auto=True)
    Policy.of(_settings(choices, promises))


def check_methods(names: Iterable[str], *, auto: bool = False) -> None:
    """Refuse a method nobody knows; ``auto`` may stand for one that is chosen."""
    from mahrem import check
    from mahrem.partition import METHODS

    for name in names:
        check.one_of((*METHODS, "auto") if auto else METHODS, method=name)


def _settings(choices: Columns, promises: Promises) -> dict[str, Any]:
    told = {key: value for key, value in promises.model_dump().items() if value is not None}
    roles: dict[str, list[str]] = {"quasi": [], "identifier": [], "insensitive": []}
    sensitive: dict[str, dict[str, Any]] = {}
    for name, choice in choices.columns.items():
        if choice.role == "sensitive":
            sensitive[name] = _whole(choice.promises)
        elif choice.role != "drop":
            roles[choice.role].append(name)
    told = _whole(told)
    if not sensitive:
        told = {key: value for key, value in told.items() if key not in _OF_SENSITIVE}
    chosen = choices.columns.items()
    return {
        **told,
        **roles,
        "sensitive": sensitive,
        "rest": "drop",
        "subject": choices.subject,
        "kind": {name: choice.kind for name, choice in chosen if choice.kind and choice.role != "drop"},
        "order": {name: choice.order for name, choice in chosen if choice.order and choice.role != "drop"},
    }


def _whole(said: Mapping[str, Any]) -> dict[str, Any]:
    """Write an l of 3.0 as 3: distinct diversity counts values."""
    level = said.get("l")
    return {**said, "l": int(level)} if isinstance(level, float) and level.is_integer() else dict(said)


_OF_SENSITIVE = frozenset(
    {"l", "l_kind", "c", "t", "t_kind", "alpha", "beta", "beta_kind", "delta_disclosure"}
)
