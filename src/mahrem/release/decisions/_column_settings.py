"""What may be said of a column by its role: a setting is honoured or refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.table import EVERY, Role

if TYPE_CHECKING:
    from mahrem.release.decisions._policy import Policy

_CLASSED = frozenset({Role.QUASI})
_JUDGED = frozenset({Role.QUASI, Role.SENSITIVE})
_PUBLISHED = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})

# Makes values of a column coarser one by one, where it is no quasi-identifier.
COARSENING = ("top", "bottom", "grid", "round", "prefix")

# How cells of quasi-identifiers are kept within bounds.
BOUNDING = ("bands", "at_least", "at_most")
_ONE_OF = ("grid", "round", "prefix", "bands", "at_least")  # each says how fine cells may be

# Roles of the columns that a setting speaks of; what is not here says a role itself.
_HEARD: Mapping[str, frozenset[Role]] = {
    "kind": _JUDGED,
    "order": _JUDGED,
    "hierarchy": _JUDGED,
    "suppress": _CLASSED,
    "weights": _CLASSED,
    "redact": frozenset({Role.SENSITIVE, Role.INSENSITIVE}),
    "sparse": _PUBLISHED,
    "accept": _PUBLISHED,
    **dict.fromkeys(COARSENING, _PUBLISHED),
    **dict.fromkeys(BOUNDING, _CLASSED),
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
        named = [name for name in getattr(policy, setting) if (setting, name) != ("accept", EVERY)]
        check.columns_exist(named, columns)
        for name in named:
            role = roles[name]
            if role in heard or (setting == "kind" and role is Role.INSENSITIVE and coarsened(policy, name)):
                continue
            if role is None or role is Role.IDENTIFIER:
                raise InvalidParameter(f"{setting}.{name} would do nothing: column={name!r} is not published")
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


def without_columns(policy: Policy, names: frozenset[str]) -> Policy:
    """Take out what is said of columns about how coarse they are."""
    changed: dict[str, Any] = {
        setting: {name: value for name, value in getattr(policy, setting).items() if name not in names}
        for setting in (*COARSENING, *BOUNDING)
        if names & set(getattr(policy, setting))
    }
    return replace(policy, **changed) if changed else policy


def check_coarseness(policy: Policy) -> None:
    """Refuse steps that are none, and pairs of settings of one column that contradict each other."""
    for setting in ("round", *BOUNDING):
        for name, step in getattr(policy, setting).items():
            if not isinstance(step, str) and not step > 0:
                raise InvalidParameter(f"{setting}.{name}={step:g} must be above 0")
    for name, shown in policy.prefix.items():
        check.at_least(1, **{f"prefix.{name}": shown})
    for name in {name for setting in (*_ONE_OF, "at_most") for name in getattr(policy, setting)}:
        said = [setting for setting in _ONE_OF if name in getattr(policy, setting)]
        if name in policy.at_most and "bands" in said:
            said = ["bands", "at_most"]
        if "prefix" in said:
            said += [setting for setting in ("top", "bottom") if name in getattr(policy, setting)]
        if "round" in said and name in policy.quasi:
            said += [setting for setting in ("top", "bottom", "at_most") if name in getattr(policy, setting)]
        if len(said) > 1:
            raise InvalidParameter(f"{said[0]}.{name} and {said[1]}.{name}: say one of them")
        _check_lines(policy, name)


def _check_lines(policy: Policy, name: str) -> None:
    """Refuse ends and widths between two lines of a column's steps: cells could not keep to both."""
    steps = {
        setting: getattr(policy, setting).get(name) for setting in ("at_least", "bands", "grid", "round")
    }
    classed = name in policy.quasi
    for setting, step in steps.items():
        if not isinstance(step, int | float) or (classed and setting in {"grid", "round"}):
            continue
        for end in ("top", "bottom"):
            if Decimal(str(getattr(policy, end).get(name, 0))) % Decimal(str(step)):
                raise InvalidParameter(
                    f"{end}.{name}={getattr(policy, end)[name]:g} must be a multiple of "
                    f"{setting}.{name}={step:g}: the last cell would be narrower than the others"
                )
    most = policy.at_most.get(name)
    for setting in ("at_least", "grid"):
        step = steps[setting]
        both = isinstance(most, int | float) and isinstance(step, int | float)
        if both and name not in policy.hierarchy and policy.kind.get(name) != "code" and _parts(most, step):
            raise InvalidParameter(f"at_most.{name}={most:g} must be a multiple of {setting}.{name}={step:g}")


def _parts(most: object, step: object) -> bool:
    return bool(Decimal(str(most)) % Decimal(str(step)))


def _refuse_contradictions(policy: Policy) -> None:
    """Refuse pairs of settings of one column of which only one could be heard."""
    for name in policy.suppress:
        for setting in (*COARSENING, *BOUNDING, "hierarchy", "order"):
            if name in getattr(policy, setting):
                raise InvalidParameter(
                    f"{setting}.{name} would do nothing: suppress hides column={name!r} altogether"
                )
    for name in policy.redact:
        said = [
            *coarsened(policy, name),
            *(key for key in ("order", "hierarchy") if name in getattr(policy, key)),
        ]
        if said:
            raise InvalidParameter(
                f"redact.{name} is about text and {said[0]}.{name} is not: say one of them"
            )
    for name in policy.order:
        kind = policy.kind.get(name)
        if name in policy.hierarchy or (kind is not None and str(kind) != "ordinal"):
            other = "hierarchy" if name in policy.hierarchy else "kind"
            raise InvalidParameter(
                f"order.{name} would do nothing beside {other}.{name}; leave one of them out"
            )
    for name in policy.hierarchy:
        coarser = coarsened(policy, name)
        if coarser:
            raise InvalidParameter(
                f"{next(iter(coarser))}.{name} would do nothing: column={name!r} shows levels of a tree; "
                f"say it there, or leave {spelled('hierarchy', {name: 'FILE'})} out"
            )
