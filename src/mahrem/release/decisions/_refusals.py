"""Refusals: a setting is honoured or refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.table import EVERY, Missing, Role

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


def _check_coarseness(policy: Policy) -> None:
    """Refuse steps that are none, and pairs of settings of one column that contradict each other."""
    for setting in ("round", *BOUNDING):
        for name, step in getattr(policy, setting).items():
            if not isinstance(step, str) and not step > 0:
                raise InvalidParameter(f"{setting}.{name}={step:g} must be above 0")
    for name, shown in policy.prefix.items():
        check.at_least(1, **{f"prefix.{name}": shown})
    for name in {name for setting in (*_ONE_OF, "at_most") for name in getattr(policy, setting)}:
        settings = [setting for setting in _ONE_OF if name in getattr(policy, setting)]
        if name in policy.at_most and "bands" in settings:
            settings = ["bands", "at_most"]
        if "prefix" in settings:
            settings += [setting for setting in ("top", "bottom") if name in getattr(policy, setting)]
        if "round" in settings and name in policy.quasi:
            settings += [
                setting for setting in ("top", "bottom", "at_most") if name in getattr(policy, setting)
            ]
        if len(settings) > 1:
            raise InvalidParameter(f"{settings[0]}.{name} and {settings[1]}.{name}: say one of them")
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
        settings = [
            *coarsened(policy, name),
            *(key for key in ("order", "hierarchy") if name in getattr(policy, key)),
        ]
        if settings:
            raise InvalidParameter(
                f"redact.{name} is about text and {settings[0]}.{name} is not: say one of them"
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


def refuse_contradicting(policy: Policy) -> None:
    """Refuse settings that contradict each other, or that nothing is there for, before a table is seen."""
    if policy.fraction == 0:
        raise InvalidParameter("fraction=0 must be above 0: somebody is in the table")
    _check_defences(policy)
    for name, weight in policy.weights.items():
        check.at_least(0, **{f"weights.{name}": weight})
    if policy.models and not policy.sensitive and not policy.look_for:  # else a table decides
        figure = next(iter(policy.models))
        raise InvalidParameter(
            f"{figure}={policy.models[figure]!r} speaks of a sensitive column; "
            f"name one with {spelled('sensitive')}"
        )
    if policy.delta_presence is not None:
        _check_presence(policy)
    elif policy.known_absence is not None:
        raise InvalidParameter(
            f"known_absence={policy.known_absence!r} is about delta_presence; say delta_presence too"
        )
    _check_profitability(policy)
    for name in policy.counted:
        _check_counted(policy, name)
    if policy.suppressed != "hidden":
        _check_suppressed(policy)
    _check_automatic(policy)
    if policy.subject is not None and policy.subject in policy.pseudonym and policy.trajectory_k is None:
        raise InvalidParameter(
            f"subject={policy.subject!r} as a pseudonym would tie a person's rows together, and k would "
            f"not hold for people; leave the pseudonym or the subject out, or promise that so many "
            f"people share all that a person's rows show: {spelled('trajectory_k', 5)}"
        )


def _check_defences(policy: Policy) -> None:
    for name, bottom in policy.bottom.items():
        check.finite(**{f"bottom.{name}": bottom})
    for name, top in policy.top.items():
        check.finite(**{f"top.{name}": top})
        if name in policy.bottom and policy.bottom[name] >= top:
            raise InvalidParameter(f"top.{name}={top:g} must lie above bottom.{name}")
    _check_coarseness(policy)


def _check_automatic(policy: Policy) -> None:
    if policy.automatic is None:
        for name in ("rho", "smoothing", "minimum_count", "learn_from"):
            value = getattr(policy, name)
            if value is not None and not (isinstance(value, tuple) and not value):
                raise InvalidParameter(
                    f"{name} is about learnt groups; name their target: {spelled('automatic', 'COLUMN')}"
                )
    else:  # groups have neither ends nor a middle
        check.one_of(("text",), **{"cells (with automatic)": policy.cells})


def _check_presence(policy: Policy) -> None:
    if policy.population is None:
        raise InvalidParameter(
            f"delta_presence needs the public table it speaks of: {spelled('population', 'FILE')}"
        )
    # Cells of different classes must not overlap, or a person may be in either and presence adds up.
    for name, wanted in (("strategy", "strict"), ("bounds", "exact"), ("cells", "text")):
        check.one_of((wanted,), **{f"{name} (with delta_presence)": getattr(policy, name)})

    if policy.local:
        raise InvalidParameter(
            "local makes cells that overlap, and delta_presence needs cells that do not; leave one out"
        )
    if policy.repair:
        raise InvalidParameter(
            "repair makes cells that overlap, and delta_presence needs cells that do not; leave one out"
        )
    _refuse_hidden_anywhere(policy, "delta_presence")


def _check_counted(policy: Policy, name: str) -> None:
    """Refuse what would keep people of the population from being counted."""
    if policy.fraction is not None:
        raise InvalidParameter(
            f"{name} is counted in population or estimated from fraction; give one of the two"
        )
    if policy.subject is not None:
        raise InvalidParameter(
            f"subject: people of several rows would count several times in population, and {name} would "
            f"not hold; publish one row for each person"
        )
    check.one_of(("text",), **{f"cells (with {name} and population)": policy.cells})
    _refuse_hidden_anywhere(policy, name)


def _check_profitability(policy: Policy) -> None:
    """Refuse what would keep the loss of a row from being reckoned."""
    if policy.profitability is None:
        return
    for name in ("subject", "local", "repair", "trajectory_k"):
        if getattr(policy, name):
            raise InvalidParameter(f"{name} does not go with profitability; leave one out")
    if policy.suppressed != "hidden":
        raise InvalidParameter(
            f"suppressed={policy.suppressed!r} shows rows that earn nothing; leave profitability out"
        )
    check.one_of(("text",), **{"cells (with profitability)": policy.cells})


def _refuse_hidden_anywhere(policy: Policy, promise: str) -> None:
    if policy.missing is Missing.SUPPRESS:
        raise InvalidParameter(
            "missing='suppress' hides rows whose people could be anywhere in the population, and "
            f"{promise} could not be judged; drop them, or let a missing value be a category"
        )


def _check_suppressed(policy: Policy) -> None:
    if not policy.sensitive:
        raise InvalidParameter(
            f"suppressed={policy.suppressed!r} is about sensitive columns; "
            f"name one with {spelled('sensitive')}"
        )
    if not policy.suppression_limit:
        raise InvalidParameter(
            f"suppressed={policy.suppressed!r} is about rows that a method suppresses; "
            f"allow some with {spelled('suppression_limit', 0.05)}"
        )
    if policy.minimality_safe:
        raise InvalidParameter(
            f"suppressed={policy.suppressed!r} shows sensitive values that decide who is suppressed; "
            f"it does not go with {spelled('minimality_safe', True)}"
        )
