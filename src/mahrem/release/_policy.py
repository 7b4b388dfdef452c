"""A policy: everything a person decides about a release, as data.

The Python verbs, the command line and ``policy.toml`` all speak these names; what is said last wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.models import SETTINGS as MODEL_KEYS
from mahrem.models import DeltaPresence, KAnonymity, Promise, models_from_settings, parse_sensitive
from mahrem.table import Kind, Missing, is_role_word, role_from_word

__all__ = ["Policy", "Settings", "read_policy"]

Names = str | Sequence[str]


class Settings(TypedDict, total=False):
    """What may be said to a verb; every key is a field of :class:`Policy`."""

    roles: Mapping[str, str]
    quasi: Names
    sensitive: Names | Mapping[str, Mapping[str, object]]
    identifier: Names
    insensitive: Names
    rest: str | None
    kind: Mapping[str, str]
    order: Mapping[str, Names]
    null: Names
    missing: str
    subject: str | None
    hierarchy: Mapping[str, Any]
    pseudonym: Mapping[str, Any]
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
    method: str
    options: Mapping[str, Any]
    strategy: str
    bounds: str
    grid: Mapping[str, float | str]
    cells: str
    suppress: Names
    suppression_limit: float
    weights: Mapping[str, float]
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


@dataclass(frozen=True, kw_only=True)
class Policy:
    """All decisions about a release; immutable, comparable, storable."""

    quasi: tuple[str, ...] = ()
    sensitive: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    identifier: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    rest: Literal["insensitive", "drop"] | None = None
    kind: Mapping[str, Kind] = field(default_factory=dict)
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    null: tuple[str, ...] = ()
    missing: Missing = Missing.CATEGORY
    subject: str | None = None
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    pseudonym: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None
    models: Mapping[str, object] = field(default_factory=dict)
    delta_presence: tuple[float, float] | None = None
    population: Any = None
    method: str = "mondrian"
    options: Mapping[str, Any] = field(default_factory=dict)  # the method's own
    strategy: str = "strict"
    bounds: Literal["grid", "exact"] = "grid"
    grid: Mapping[str, float | str] = field(default_factory=dict)
    cells: Literal["text", "pairs", "midpoint"] = "text"
    suppress: tuple[str, ...] = ()
    suppression_limit: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    engine: str = "local"
    master: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    query: str | None = None
    table: str | None = None
    format: Literal["csv", "tsv", "parquet", "arrow"] = "csv"
    shuffle: bool | None = None
    language: str = "en"

    @classmethod
    def of(cls, settings: Mapping[str, Any], *, over: Policy | None = None) -> Policy:
        """Make a policy from settings by name; what is not said comes from ``over``."""
        given = _in_our_words({key: value for key, value in settings.items() if value is not None})
        check.unknown_keys(given, tuple(Settings.__annotations__), where="setting")
        models: dict[str, object] = {key: given.pop(key) for key in MODEL_KEYS if key in given}
        plain = {key: _READERS.get(key, _as_it_is)(value) for key, value in given.items()}
        base = over if over is not None else cls()
        return replace(base, **plain, models={**base.models, **models})

    def __post_init__(self) -> None:
        if self.k is not None:
            check.at_least(1, k=check.whole(k=self.k))
        check.one_of(("insensitive", "drop"), rest=self.rest or "drop")
        check.one_of(("strict", "relaxed"), strategy=self.strategy)
        check.one_of(("grid", "exact"), bounds=self.bounds)
        check.one_of(("text", "pairs", "midpoint"), cells=self.cells)
        check.one_of(("csv", "tsv", "parquet", "arrow"), format=self.format)
        check.one_of(("local",), engine=self.engine)
        check.one_of((".", ","), decimal=self.decimal or ".")
        check.between(0, 1, suppression_limit=self.suppression_limit)
        for name, weight in self.weights.items():
            check.at_least(0, **{f"weights.{name}": weight})
        if self.models and not self.sensitive:
            said = next(iter(self.models))
            raise InvalidParameter(
                f"{said}={self.models[said]!r} speaks of a sensitive column; name one with --sensitive"
            )
        if self.delta_presence is not None:
            self._check_presence()
        self.promises()

    def _check_presence(self) -> None:
        if self.population is None:
            raise InvalidParameter("delta_presence needs the public table it speaks of: --population FILE")
        # Cells of different classes must not overlap, or a person may be in either and presence adds up.
        for name, wanted in (("strategy", "strict"), ("bounds", "exact"), ("cells", "text")):
            check.one_of((wanted,), **{f"{name} (with delta_presence)": getattr(self, name)})

    def promises(self) -> tuple[Promise, ...]:
        """Give every promise this policy makes, k first."""
        made = [] if self.k is None else [Promise(KAnonymity(self.k), None)]
        for column, own in self.sensitive.items():
            settings = {**self.models, **own}
            found = models_from_settings(settings, where=f"sensitive.{column}", k=self.k)
            made.extend(Promise(model, column) for model in found)
        if self.delta_presence is not None:
            made.append(Promise(DeltaPresence(*self.delta_presence), None))
        return tuple(made)

    def public(self) -> dict[str, Any]:
        """Give what may lie in a release: no seed, no file names, no credentials, no defaults."""
        private = {
            "seed",
            "pseudonym",
            "hierarchy",
            "population",
            "query",
            "table",
            "master",
            "null",
            "order",
        }
        public: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in private or value is None or value in ((), {}):
                continue
            public[entry.name] = _plain(value)
        public.update(public.pop("models", {}))
        for name in ("hierarchy", "pseudonym"):
            if getattr(self, name):
                public[name] = sorted(getattr(self, name))
        return public


def read_policy(path: str | Path) -> dict[str, Any]:
    """Read a policy file; its keys are checked when the policy is made."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"policy={Path(path).name!r} cannot be read: {type(error).__name__}") from error
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"policy={Path(path).name!r} is not TOML: {error}") from error
    settings.pop("mahrem", None)  # versions, as written into a release
    return settings


def _in_our_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """Take columns under other tools' names (``quasi_ident``, ``keyVars``), and ``roles`` by column."""
    ours: dict[str, Any] = {}
    columns: dict[str, list[str]] = {}
    for key, value in given.items():
        if key == "roles":
            for column, word in value.items():
                columns.setdefault(role_from_word(word).value, []).append(column)
        elif key not in Settings.__annotations__ and is_role_word(key):
            columns.setdefault(role_from_word(key).value, []).extend(_names(value))
        else:
            ours[key] = value
    for role, names in columns.items():
        said = ours.get(role, ())
        if isinstance(said, Mapping):
            ours[role] = {**said, **{name: {} for name in names}}
        else:
            ours[role] = (*_names(said), *names)
    return ours


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value


def _as_it_is(value: Any) -> Any:
    return value


def _names(value: Names) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    return tuple(dict.fromkeys(str(name) for name in value))


def _sensitive(value: Names | Mapping[str, Mapping[str, object]]) -> Mapping[str, Mapping[str, object]]:
    if isinstance(value, Mapping):
        own = {str(name): dict(settings) for name, settings in value.items()}
    else:
        own = {name: dict(settings) for name, settings in map(parse_sensitive, _names(value))}
    for name, settings in own.items():
        check.unknown_keys(settings, MODEL_KEYS, where=f"sensitive.{name}")
    return MappingProxyType(own)


def _kinds(value: Mapping[str, str]) -> Mapping[str, Kind]:
    return {name: Kind(check.one_of(tuple(Kind), **{f"kind.{name}": kind})) for name, kind in value.items()}


def _orders(value: Mapping[str, Names]) -> Mapping[str, tuple[str, ...]]:
    split = {name: values.split(",") if isinstance(values, str) else values for name, values in value.items()}
    return {name: _names(values) for name, values in split.items()}


def _presence(value: Sequence[float] | str) -> tuple[float, float]:
    parts = value.split(",") if isinstance(value, str) else list(value)
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError) as error:
        raise InvalidParameter("delta_presence must be two numbers: MIN,MAX") from error
    return low, high


_READERS: Mapping[str, Any] = {
    "quasi": _names,
    "sensitive": _sensitive,
    "identifier": _names,
    "insensitive": _names,
    "null": _names,
    "suppress": _names,
    "kind": _kinds,
    "order": _orders,
    "missing": lambda value: Missing(check.one_of(tuple(Missing), missing=value)),
    "delta_presence": _presence,
}
