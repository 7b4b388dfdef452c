"""Policies on the page: ready ones and files of a person's own, looked at first and then taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mahrem.models import model_settings
from mahrem.release.decisions import READY_POLICIES, about_policy, release_settings
from mahrem.table import EVERY
from mahrem.web._errors import Refused
from mahrem.web._forms import problem_in
from mahrem.web._house import House
from mahrem.web._orders import Json
from mahrem.web._policy_text import read_policy_text
from mahrem.web.bodies import (
    DECLARED,
    ROLES,
    Columns,
    Job,
    Project,
    ReleasePromises,
    settings_of_column,
    settings_of_step,
)
from mahrem.web.jobs import result_of
from mahrem.web.projects import mark_of, needs_source, needs_table

_WHOLE = frozenset({*ROLES, "roles", "rest", "subject", "look_for"})  # said of columns, not of one alone


def ready_policies() -> dict[str, str]:
    """Give the ready policies by name, each with its first sentence."""
    return {name: about_policy(name) for name in READY_POLICIES}


def look_at_policy(house: House, project: Project, *, ready: str = "", text: str = "") -> Job:
    """Have a policy looked at beside the table: what it does with each column.

    Args:
        house: The server.
        project: Whose table.
        ready: The name of a ready policy.
        text: A policy file; it names no file of this machine.
    """
    if bool(ready) == bool(text.strip()):
        raise Refused(422, "one_policy")
    if ready:
        if ready not in READY_POLICIES:
            raise Refused(422, "no_such_policy")
        return house.start(project, "policy", {"ready": ready, "settings": {}})
    return house.start(project, "policy", {"ready": "", "settings": _of_file(text)})


def _of_file(text: str) -> Json:
    settings = read_policy_text(text)
    elsewhere = sorted(name for name in settings if name in release_settings() and not _is_taken(name))
    if elsewhere:
        raise Refused(422, "policy_names_files", names=", ".join(elsewhere))
    everywhere = sorted(name for name in settings_of_column() if _speaks_of_all(settings.get(name)))
    if everywhere:
        raise Refused(422, "policy_speaks_of_all", names=", ".join(everywhere))
    return settings


def _is_taken(name: str) -> bool:
    """Say whether the page can keep a setting: it decides about it, and it names nothing of this machine."""
    known = release_settings()[name]
    if known.private and not known.on_page:
        return False
    return name in {
        *_WHOLE,
        *settings_of_column(),
        *settings_of_step("reading"),
        *settings_of_step("promises"),
    }


def _speaks_of_all(value: object) -> bool:
    return isinstance(value, Mapping | list) and EVERY in value


def adopt_policy(house: House, project: Project) -> Project:
    """Decide as the policy that was looked at last; it can be taken back like every decision.

    Raises:
        Refused: If it was looked at beside another table than the one that is there now.
    """
    look = result_of(house.store, project.id, house.job_of(project, "policy"))
    source = needs_source(project)
    if not is_about_this_table(project, look) or source.seen != mark_of(source, house.settings):
        raise Refused(409, "another_table")
    decided = look["decided"]
    columns, promises = as_decisions(project, decided)
    changes: Json = {"choices": columns, "settled": True} if look["speaks"] else {}
    if "region" in decided:
        changes["reading"] = project.reading.model_copy(update={"region": decided["region"]})
    return house.decide(project, promises=promises, **changes)


def is_about_this_table(project: Project, look: Mapping[str, Any]) -> bool:
    """Say whether a policy was looked at beside the table, and the very columns, that a project shows."""
    if project.source is None or project.profile is None:
        return False
    known = [column["name"] for column in project.profile["columns"]]
    seen = [column["name"] for column in look.get("columns", ())]
    return (look.get("source"), seen) == (project.source.seen, known)


def as_decisions(project: Project, decided: Mapping[str, Any]) -> tuple[Columns, ReleasePromises]:
    """Turn the settings of a policy into what the page keeps of columns and of the whole release."""
    known = [column["name"] for column in needs_table(project)["columns"]]
    roles = {
        name: role for role in ("quasi", "identifier", "insensitive") for name in decided.get(role, ())
    } | dict.fromkeys(decided.get("sensitive", {}), "sensitive")
    if decided.get("rest") == "insensitive":  # what nobody named is published as it is; the gate looks at it
        roles = {name: "insensitive" for name in known if name != decided.get("subject")} | roles
    chosen: dict[str, Json] = {}
    for name in known:
        if name not in roles:
            continue
        own = dict(decided["sensitive"][name]) if roles[name] == "sensitive" else {}
        chosen[name] = {"role": roles[name], "promises": own} | {
            key: (decided[key][name] if isinstance(decided[key], Mapping) else True)
            for key in settings_of_column()
            if name in decided.get(key, ())
        }
    wanted = {
        key: value
        for key, value in decided.items()
        if key in {*settings_of_step("promises"), *model_settings()} - DECLARED
    }
    try:
        return (
            Columns.model_validate({"columns": chosen, "subject": decided.get("subject")}),
            ReleasePromises.model_validate({"k": None, **wanted}),
        )
    except ValidationError as error:
        raise problem_in(list(error.errors())) from None
