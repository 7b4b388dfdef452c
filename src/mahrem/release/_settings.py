"""What may be said to a verb, and how each thing that is said is read.

Every key has a reader that refuses what does not fit by its name: a policy comes from a file somebody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypedDict

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.models import SETTINGS as MODEL_KEYS
from mahrem.models import parse_sensitive
from mahrem.table import Hierarchy, Kind, Missing, hold, is_role_word, role_from_word

__all__ = ["Settings", "read_settings"]

Name = Hashable  # of a column: text, or whatever a frame calls it
Names = Name | Sequence[Name]
Texts = str | Sequence[str]


class Settings(TypedDict, total=False):
    """What may be said to a verb; every key is a field of :class:`Policy`."""

    roles: Mapping[Any, str]
    quasi: Names
    sensitive: Names | Mapping[Any, Mapping[str, object]]
    identifier: Names
    insensitive: Names
    rest: str | None
    kind: Mapping[Any, str]
    order: Mapping[Any, Texts]
    null: Texts
    missing: str
    subject: Name | None
    hierarchy: Mapping[Any, Any]
    automatic: Name | None
    rho: str | float | Sequence[float]
    smoothing: float
    minimum_count: int
    learn_from: Any
    pseudonym: Mapping[Any, Any]
    k: int
    l: float  # noqa: E741 - the literature's name
    l_kind: str
    c: float
    t: float
    t_kind: str
    alpha: float
    beta: float
    beta_kind: str
    delta_disclosure: float
    delta_presence: Sequence[float] | str
    population: Any
    fraction: float
    method: str
    options: Mapping[str, Any]
    strategy: str
    bounds: str
    grid: Mapping[Any, float | str]
    cells: str
    top: Mapping[Any, float]
    bottom: Mapping[Any, float]
    jitter: float | None
    suppress: Names
    suppression_limit: float
    weights: Mapping[Any, float]
    seed: int | None
    engine: str
    master: str | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    query: str | None
    table: str | None
    format: str
    shuffle: bool | None
    language: str
    look_for: Sequence[Mapping[str, object]]


def read_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, object]]:
    """Read settings by name; gives the policy's own, and those of privacy models."""
    given = _in_our_words({key: value for key, value in settings.items() if value is not None})
    check.unknown_keys(given, tuple(Settings.__annotations__), where="setting")
    models: dict[str, object] = {key: given.pop(key) for key in MODEL_KEYS if key in given}
    return {key: _READERS[key](key, value) for key, value in given.items()}, models


def _in_our_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """Take columns under other tools' names (``quasi_ident``, ``keyVars``), and ``roles`` by column."""
    ours: dict[str, Any] = {}
    columns: dict[str, list[str]] = {}
    for key, value in given.items():
        if key == "roles":
            for column, word in _by_name(key, value, _text).items():
                columns.setdefault(role_from_word(word).value, []).append(column)
        elif key not in Settings.__annotations__ and is_role_word(key):
            columns.setdefault(role_from_word(key).value, []).extend(_columns(key, value))
        else:
            ours[key] = value
    for role, names in columns.items():
        said = ours.get(role, ())
        if isinstance(said, Mapping):
            ours[role] = {**said, **{name: {} for name in names}}
        else:
            ours[role] = (*_columns(role, said), *names)
    return ours


def _wrong(key: str, value: object, wanted: str) -> InvalidParameter:
    return InvalidParameter(f"{key} must be {wanted}, not {type(value).__name__}")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(key, value, "text")
    return str(value)


def _number(key: str, value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(key, value, "a number")
    return value


def _whole(key: str, value: object) -> int:
    return check.whole(**{key: value})


def _switch(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(key, value, "true or false")
    return value


def _column(key: str, value: object) -> str:
    return check.column_name(**{key: value})


def _columns(key: str, value: object) -> tuple[str, ...]:
    return check.column_names(**{key: value})


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(text, str) for text in value):
        raise _wrong(key, value, "a text or a list of texts")
    return tuple(dict.fromkeys(value))


def _by_name(key: str, value: object, read: Callable[[str, Any], Any]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(key, value, f"a table of names and values, as in {{name = …}}, under [{key}]")
    return {name: read(f"{key}.{name}", inner) for name, inner in check.by_column(value, where=key).items()}


def _anything(key: str, value: object) -> object:  # noqa: ARG001 - a reader like the others
    return value


def _other_table(key: str, value: object) -> object:  # noqa: ARG001 - a reader like the others
    return hold(value)  # it may be looked at several times


def _sensitive(key: str, value: object) -> Mapping[str, Mapping[str, object]]:
    if isinstance(value, Mapping):
        own = _by_name(key, value, lambda where, inner: _by_name(where, inner, _anything))
    else:
        own = {name: dict(settings) for name, settings in map(parse_sensitive, _columns(key, value))}
    for name, settings in own.items():
        check.unknown_keys(settings, MODEL_KEYS, where=f"{key}.{name}")
    return own


def _kind(key: str, value: object) -> Kind:
    return Kind(check.one_of(tuple(Kind), **{key: _text(key, value)}))


def _order(key: str, value: object) -> tuple[str, ...]:
    return _texts(key, value.split(",") if isinstance(value, str) else value)


def _step(key: str, value: object) -> float | str:
    return value if isinstance(value, str) else _number(key, value)


def _file_or(kinds: type | UnionType, wanted: str) -> Callable[[str, object], Any]:
    def read(key: str, value: object) -> Any:
        if not isinstance(value, str | Path | kinds):
            raise _wrong(key, value, wanted)
        return value

    return read


def _missing(key: str, value: object) -> Missing:
    return Missing(check.one_of(tuple(Missing), **{key: _text(key, value)}))


def _presence(key: str, value: object) -> tuple[float, float]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or len(parts) != 2:
        raise InvalidParameter(f"{key} must be two numbers: MIN,MAX")
    try:
        return float(parts[0]), float(parts[1])
    except (TypeError, ValueError):
        raise InvalidParameter(f"{key} must be two numbers: MIN,MAX") from None


def _widths(key: str, value: object) -> tuple[float, ...]:
    parts = (
        value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value
    )
    if not isinstance(parts, Sequence):
        raise _wrong(key, value, "numbers: 5,10,20,50")
    try:
        return tuple(float(part) for part in parts)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{key} must be numbers: 5,10,20,50") from None


def _look_for(key: str, value: object) -> tuple[dict[str, Any], ...]:
    """Read what a policy says of columns it does not know by name."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _wrong(key, value, "a list of tables, as in [[look_for]]")
    known = ("names", "role", "kind", "grid", "top", "bottom")
    found = []
    for entry in value:
        said = _by_name(key, entry, _anything)
        check.unknown_keys(said, known, where=key)
        if "names" not in said or "role" not in said:
            raise InvalidParameter(f"{key} needs names and a role in every entry")
        found.append({**said, "names": _texts(f"{key}.names", said["names"])})
    return tuple(found)


def _tables(read: Callable[[str, Any], Any]) -> Callable[[str, object], Any]:
    return lambda key, value: _by_name(key, value, read)


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("quasi", "identifier", "insensitive", "suppress"), _columns),
    **dict.fromkeys(("subject", "automatic"), _column),
    "null": _texts,
    **dict.fromkeys(("rest", "method", "strategy", "bounds", "cells", "engine", "master"), _text),
    **dict.fromkeys(("delimiter", "encoding", "decimal", "query", "table", "format", "language"), _text),
    **dict.fromkeys(("k", "seed"), _whole),
    **dict.fromkeys(("suppression_limit", "smoothing"), _number),
    "rho": _widths,
    "minimum_count": _whole,
    "learn_from": _other_table,
    "shuffle": _switch,
    "sensitive": _sensitive,
    "kind": _tables(_kind),
    "order": _tables(_order),
    "hierarchy": _tables(_file_or(Hierarchy, "a file or a Hierarchy")),
    "pseudonym": _tables(_file_or(bytes, "a key file or a key")),
    "grid": _tables(_step),
    **dict.fromkeys(("top", "bottom"), _tables(_number)),
    "jitter": _number,
    "look_for": _look_for,
    "weights": _tables(_number),
    "options": _tables(_anything),
    "missing": _missing,
    "delta_presence": _presence,
    "population": _other_table,
    "fraction": _number,
}
