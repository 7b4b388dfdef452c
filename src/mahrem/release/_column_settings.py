"""What may be said of a column by its role: a setting is honoured or refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.settings import settings_of
from mahrem.table import Role

if TYPE_CHECKING:
    from mahrem.release._policy import Policy

_CLASSED = frozenset({Role.QUASI})
_JUDGED = frozenset({Role.QUASI, Role.SENSITIVE})
_PUBLISHED = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})

# Makes values of a column coarser one by one, where it is no quasi-identifier.
COARSENING = ("top", "bottom", "grid", "round", "prefix")

# Roles of the columns that a setting speaks of; what is not here says a role itself.
_HEARD: Mapping[str, frozenset[Role]] = {
    "kind": _JUDGED,
    "order": _JUDGED,
    "hierarchy": _JUDGED,
    "suppress": _CLASSED,
    "weights": _CLASSED,
    **dict.fromkeys(COARSENING, _PUBLISHED),
}


def refuse_unheard(policy: Policy, columns: Sequence[str], roles: Mapping[str, Role | None]) -> None:
    """Refuse what is said of columns on which it would do nothing.

    Args:
        policy: What was said.
        columns: All columns of the table.
        roles: The role of each; None for one that is left out.

    Guarantees:
        - A setting by column acts on every column it names, or is refused by its name.
    """
    for setting, heard in _HEARD.items():
        check.columns_exist(getattr(policy, setting), columns)
        for name in getattr(policy, setting):
            role = roles[name]
            if role in heard or (setting == "kind" and role is Role.INSENSITIVE and coarsened(policy, name)):
                continue
            if role is None or role is Role.IDENTIFIER:
                raise InvalidParameter(
                    f"{setting}.{name} would do nothing: column={name!r} is not published; leave one of them out"
                )
            about = " and ".join(sorted(f"{one} columns" for one in heard))
            raise InvalidParameter(
                f"{setting}.{name} would do nothing: it is about {about}, and column={name!r} is {role}"
            )
    _refuse_contradictions(policy)


def coarsened(policy: Policy, name: str) -> dict[str, Any]:
    """Give what is said of a column that makes its values coarser, by the names of the settings."""
    return {
        setting: getattr(policy, setting)[name] for setting in COARSENING if name in getattr(policy, setting)
    }


def coarsened_by_row(policy: Policy) -> dict[str, dict[str, Any]]:
    """Give what is said of every column that is made coarser without classes: it is no quasi-identifier."""
    names = dict.fromkeys(name for setting in COARSENING for name in getattr(policy, setting))
    return {name: coarsened(policy, name) for name in names if name not in policy.quasi}


def without_columns(policy: Policy, names: frozenset[str], settings: tuple[str, ...] = COARSENING) -> Policy:
    """Take out what some settings say of columns."""
    known = settings_of(type(policy))
    changed = {
        setting: {name: value for name, value in getattr(policy, setting).items() if name not in names}
        for setting in settings
        if setting in known and names & set(getattr(policy, setting))
    }
    return replace(policy, **changed) if changed else policy


def _refuse_contradictions(policy: Policy) -> None:
    """Refuse pairs of settings of one column of which only one could be heard."""
    for name in policy.suppress:
        for setting in (*COARSENING, "hierarchy", "order"):
            if name in getattr(policy, setting):
                raise InvalidParameter(
                    f"{setting}.{name} would do nothing: suppress hides column={name!r} altogether"
                )
    for name in policy.order:
        kind = policy.kind.get(name)
        if name in policy.hierarchy or (kind is not None and str(kind) != "ordinal"):
            other = "hierarchy" if name in policy.hierarchy else "kind"
            raise InvalidParameter(
                f"order.{name} would do nothing beside {other}.{name}; leave one of them out"
            )
    for name in policy.hierarchy:
        said = coarsened(policy, name)
        if said:
            raise InvalidParameter(
                f"{next(iter(said))}.{name} would do nothing: column={name!r} shows levels of its hierarchy; "
                f"say it there, or leave {spelled('hierarchy', {name: 'FILE'})} out"
            )
