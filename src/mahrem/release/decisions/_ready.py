"""Ready policies by name, and the columns they describe without knowing what a table calls them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.release.decisions._readers import DESCRIBED
from mahrem.table import Kind, Role
from mahrem.table.columns import role_from_word

if TYPE_CHECKING:
    from mahrem.contents import Contents, TableSketch
    from mahrem.release.decisions._policy import Policy

READY_POLICIES = ("minimum-cell-11", "hipaa-safe-harbor", "ema-0.09", "kvkk", "gdpr")


def ready_policy(name: str | Path) -> str | None:
    """Give the text of a ready policy; None for any other name, and where a file of that name exists.

    Example:
        >>> "k = 11" in ready_policy("minimum-cell-11").splitlines()
        True
    """
    return None if str(name) not in READY_POLICIES or Path(name).exists() else policy_text(str(name))


def policy_text(name: str) -> str:
    """Give the text of a ready policy, whatever files there are."""
    return (files("mahrem.release") / "policies" / f"{name}.toml").read_text(encoding="utf-8")


def about_policy(name: str) -> str:
    """Give the first sentence of a ready policy."""
    return policy_text(name).partition("\n")[0].lstrip("# ")


def found_columns(
    policy: Policy, columns: Sequence[str], sketch: TableSketch, contents: Contents
) -> dict[str, Any]:
    """Turn ``look_for`` into settings by name, for the columns a table has.

    What cells hold decides before what a column is called, and what names a person before all else. Names are
    compared without case, blanks and signs: ``Birth Date`` is ``birth_date``. A column that was given a role
    by name keeps it, and its own kind, grid and ends. What should become years and cannot be read as dates is
    left out.
    """
    from mahrem.table import read_kind  # listing policies loads no reader

    roles: dict[str, list[str]] = {}
    named: dict[str, dict[str, Any]] = {key: {} for key in DESCRIBED}
    declared = {*policy.quasi, *policy.sensitive, *policy.identifier, *policy.insensitive, *policy.pseudonym}
    for column in columns:
        entry = _description(policy, column, contents)
        if entry is None:
            continue
        role = role_from_word(str(entry["role"])).value
        if (
            str(entry.get("kind")) == Kind.DATE.value
            and read_kind(sketch.columns[column].values)[0] is not Kind.DATE
        ):
            role, entry = Role.IDENTIFIER.value, {}
        if column not in declared and column != policy.subject:
            roles.setdefault(role, []).append(column)
        for key, values in named.items():
            if key in entry and column not in getattr(policy, key) and column not in policy.hierarchy:
                values[column] = entry[key]
    settings: dict[str, Any] = {
        key: {**getattr(policy, key), **values} for key, values in named.items() if values
    }
    for role, names in roles.items():
        given = getattr(policy, role)
        settings[role] = (
            {**given, **{name: {} for name in names}} if isinstance(given, Mapping) else (*given, *names)
        )
    for key in named:  # what is said of a column that is left out would be about nothing
        if key in settings:
            gone = {*policy.identifier, *roles.get("identifier", ())}
            settings[key] = {name: value for name, value in settings[key].items() if name not in gone}
    return settings


def _description(policy: Policy, column: str, contents: Contents) -> Mapping[str, object] | None:
    """Give the entry that fits a column best."""
    held = {finding.kind for finding in contents.of(column)}
    by_content = [entry for entry in policy.look_for if held & {*entry["contents"]}]
    naming = [entry for entry in by_content if role_from_word(str(entry["role"])) is Role.IDENTIFIER]
    called = [entry for entry in policy.look_for if _calls(entry, column)]
    if called and by_content and not naming:  # both say the same, and the name says it finer
        return called[0]
    return next(iter([*naming, *by_content, *called]), None)


def is_called_so(policy: Policy, column: str) -> bool:
    """Tell whether a policy knows a column by its name."""
    return any(_calls(entry, column) for entry in policy.look_for)


def _calls(entry: Mapping[str, Any], column: str) -> bool:
    return _bare(column) in {_bare(name) for name in entry["names"]}


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
