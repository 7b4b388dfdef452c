"""Give every column one role; nothing is published, dropped or generalised by silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from mahrem import check
from mahrem.errors import InvalidParameter, shorten, spelled
from mahrem.table._schema import Role

_WORDS = {
    **{role.value: role for role in Role},
    # ARX
    "identifying": Role.IDENTIFIER,
    "quasi_identifying": Role.QUASI,
    # ANJANA
    "ident": Role.IDENTIFIER,
    "quasi_ident": Role.QUASI,
    "sens_att": Role.SENSITIVE,
    # sdcMicro; what it keeps as it is stays as it is, a household's number names the household
    "keyvars": Role.QUASI,
    "numvars": Role.QUASI,
    "pramvars": Role.QUASI,
    "sensiblevar": Role.SENSITIVE,
    "hhid": Role.IDENTIFIER,
    "weightvar": Role.INSENSITIVE,
    "stratavar": Role.INSENSITIVE,
    # the command line's own short form
    "qi": Role.QUASI,
}


def is_role_word(word: str) -> bool:
    """Say whether a word names a role in anybody's language."""
    return _spelled(word) in _WORDS


def _spelled(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def role_from_word(word: str) -> Role:
    """Understand a role in our words, ARX's, ANJANA's or sdcMicro's; case, ``-`` and ``_`` do not matter.

    Example:
        >>> role_from_word("QUASI_IDENTIFYING")
        <Role.QUASI: 'quasi'>
    """
    if is_role_word(word):
        return _WORDS[_spelled(word)]
    raise InvalidParameter(
        f"role={word!r} must be one of {', '.join(Role)} (or ARX's, ANJANA's, sdcMicro's word)"
    )


def assign_roles(
    columns: Sequence[str],
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifier: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    rest: Literal["insensitive", "drop"] | None = None,
) -> dict[str, Role | None]:
    """Give each column its role; None means that the column is left out.

    Args:
        columns: All columns of the table, in order.
        quasi: Columns others may know; at least one.
        sensitive: Columns that must not be learnt about a person.
        identifier: Columns that name a person.
        insensitive: Columns published as they are.
        rest: What happens to columns nobody named; without it they are an error.

    Guarantees:
        - Every column of the table is a key, in the table's order; none has two roles.
        - A column is left out or passed through only if it was named or ``rest`` says so.

    Example:
        >>> assign_roles(["age", "disease"], quasi=["age"], sensitive=["disease"])
        {'age': <Role.QUASI: 'quasi'>, 'disease': <Role.SENSITIVE: 'sensitive'>}
    """
    roles = _declared(
        {
            Role.QUASI: tuple(quasi),
            Role.SENSITIVE: tuple(sensitive),
            Role.IDENTIFIER: tuple(identifier),
            Role.INSENSITIVE: tuple(insensitive),
        },
        columns,
    )
    if Role.QUASI not in roles.values():
        raise InvalidParameter(
            f"quasi=() must name at least one column, of which others may know what it says about a person "
            f"({spelled('quasi', ['COLUMN'])}); the columns are {shorten(columns)}"
        )
    undeclared = [name for name in columns if name not in roles]
    if rest is None and undeclared:
        raise InvalidParameter(
            f"rest=None: every column needs a role, and these have none: {shorten(undeclared)}; "
            f"name them, or say {spelled('rest', 'insensitive')} or {spelled('rest', 'drop')}"
        )
    if rest is not None:
        check.one_of(("insensitive", "drop"), rest=rest)
    default = Role.INSENSITIVE if rest == "insensitive" else None
    return {name: roles.get(name, default) for name in columns}


def _declared(lists: dict[Role, tuple[str, ...]], columns: Sequence[str]) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for role, names in lists.items():
        check.columns_exist(names, columns)
        for name in names:
            if roles.setdefault(name, role) is not role:
                raise InvalidParameter(
                    f"column={name!r} must have one role; it is named as {roles[name]} and {role}"
                )
    return roles
