"""A policy: everything a person decides about a release, as data.

The Python verbs, the command line and ``policy.toml`` all speak these names; what is said last wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidParameter
from mahrem.models import (
    COUNTED,
    MODELS,
    model_of_risk,
    model_settings,
    models_from_settings,
    models_of_risk,
)
from mahrem.readers import columns
from mahrem.release.decisions import _readers as readers
from mahrem.release.decisions._refusals import refuse_contradicting
from mahrem.release.decisions._release_settings import ROLES, ReleaseSettings
from mahrem.settings import Setting, check_settings, read_settings, settings_of
from mahrem.table import EVERY, Kind, Role
from mahrem.table.columns import is_role_word, role_from_word

if TYPE_CHECKING:
    import polars as pl

    from mahrem.contents import Contents, TableSketch
    from mahrem.models import PrivacyModel, Promise

HALF_A_YEAR = 182  # days


@dataclass(frozen=True, kw_only=True)
class Policy(ReleaseSettings):
    """All decisions about a release; immutable, comparable, storable."""

    @classmethod
    def of(cls, settings: Mapping[str, Any], *, over: Policy | Mapping[str, Any] | None = None) -> Policy:
        """Make a policy from settings by name; what is not said comes from ``over``.

        Settings in ``over`` are judged together with these: a file may ask for l of a column named later. A
        column that is given a role here loses the one it had there.
        """
        plain, models = _read(settings)
        if isinstance(over, Mapping):
            first, promised = _read(over)
            roles = {role: first.get(role, ()) for role in _ROLES}
            return cls(**{**first, **_other_roles(roles, plain), **plain}, models={**promised, **models})
        base = over if over is not None else cls()
        moved = _other_roles({role: getattr(base, role) for role in _ROLES}, plain)
        return replace(base, **{**moved, **plain}, models={**base.models, **models})

    def __post_init__(self) -> None:
        check_settings(self, but="method")  # a recipe is applied under a name of its own
        if self.shift_dates is not None and self.shift_days is None:
            object.__setattr__(self, "shift_days", HALF_A_YEAR)  # public: a release says how far dates moved
        refuse_contradicting(self)
        self.promises()

    def __str__(self) -> str:
        """Say what was decided; of a population and of keys only that there are some."""
        hidden = [name for name in ("population", "shift_dates") if getattr(self, name) is not None]
        return f"{self!r} with {', '.join(hidden)}" if hidden else repr(self)

    @property
    def counted(self) -> dict[str, str]:
        """Promises whose people are counted in a population, not estimated: the model by the setting."""
        if self.population is None:
            return {}
        return {name: model for name, model in COUNTED.items() if getattr(self, name) is not None}

    def for_columns(self, columns: Sequence[str], look: Callable[[], tuple[TableSketch, Contents]]) -> Policy:
        """Decide about columns that were only described; what was said by name wins.

        A name that differs from one column's only in blanks at its ends means that column.

        Args:
            columns: The columns there are.
            look: Gives a sketch of them and what they hold; asked only where something was described.
        """
        named = self.as_in(columns)
        if not named.look_for:
            return named
        from mahrem.release.decisions._ready import found_columns

        return replace(Policy.of(found_columns(named, columns, *look()), over=named), look_for=())

    def as_in(self, columns: Sequence[str]) -> Policy:
        """Name columns as a table does."""
        bare: dict[str, list[str]] = {}
        for name in columns:
            bare.setdefault(name.strip(), []).append(name)

        def rename(name: str) -> str:
            alike = bare.get(name.strip(), [])
            return alike[0] if len(alike) == 1 and name not in columns else name

        changed: dict[str, Any] = {}
        for name, value in self._said_of_columns().items():
            renamed = _renamed(value, rename)
            changed |= {} if renamed == value else {name: renamed}
        return replace(self, **changed) if changed else self

    def named(self) -> tuple[str, ...]:
        """Give every column that something is said of, by its name."""
        values = self._said_of_columns().values()
        names = (name for value in values for name in ([value] if isinstance(value, str) else value))
        return tuple(name for name in dict.fromkeys(names) if name != EVERY)

    def _said_of_columns(self) -> dict[str, Any]:
        """Give what is said of columns by name, by the setting that says it."""
        values = {
            name: getattr(self, name)
            for name, known in settings_of(Policy).items()
            if known.reader.of_columns or name == "sensitive"
        }
        return {name: value for name, value in values.items() if value}

    def promises(self) -> tuple[Promise, ...]:
        """Give every promise this policy makes, k first."""
        from mahrem.models import Promise

        promises = [] if self.k is None else [Promise(MODELS["k-anonymity"].load()(self.k), None)]
        for name, figures in self.sensitive.items():
            models = models_from_settings({**self.models, **figures}, where=f"sensitive.{name}", k=self.k)
            promises.extend(Promise(model, name) for model in models)
        if self.delta_presence is not None:
            promises.append(Promise(self._presence(), None))
        if self.trajectory_k is not None:
            promises.append(Promise(MODELS["trajectory-k-anonymity"].load()(self.trajectory_k), None))
        about_risk = [entry.figure.name for entry in MODELS.values() if entry.fraction]
        figures = {name: getattr(self, name, None) for name in about_risk}
        for name, model in self.counted.items():
            promises.append(Promise(model_of_risk(model, figures[name]), None))
            figures[name] = None
        kind = self.population_uniqueness_kind
        risks = models_of_risk(figures, fraction=self.fraction, kind=kind)
        promises.extend(Promise(model, None) for model in risks)
        return tuple(promises)

    def _presence(self) -> PrivacyModel:
        name = "delta-presence-shown" if self.known_absence == "allowed" else "delta-presence"
        return MODELS[name].load()(*(self.delta_presence or ()))

    def silenced(self, table: pl.DataFrame) -> pl.DataFrame:
        """Give a table whose columns that show nothing hold nothing: a star in every row, missing or not.

        Nothing that is made of the table can depend on their values then: not who shares a class, nor who is
        left out for a missing value.
        """
        import polars as pl

        from mahrem.table.cells import SUPPRESSED

        silent = [name for name in self.suppress if name in table.columns]
        return table.with_columns(pl.lit(SUPPRESSED).alias(name) for name in silent)

    def of_silenced(self) -> Policy:
        """Give the policy that speaks of silenced tables: stars are words, whatever the values were."""
        if not self.suppress:
            return self
        return replace(self, kind={**self.kind, **dict.fromkeys(self.suppress, Kind.CATEGORICAL)})

    def public(self) -> dict[str, Any]:
        """Give what may lie in a release: no seed, no file names, no credentials, no defaults."""
        known = settings_of(type(self))
        public: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            hidden = entry.name in known and known[entry.name].private
            if not hidden and value is not None and value not in ((), {}):
                public[entry.name] = _plain(value)
        public.update(public.pop("models", {}))
        return public


GivenPolicy = str | Path | Mapping[str, Any] | Policy | None  # a file, settings by name, or a policy itself


_ROLES = tuple(role.value for role in Role)


def _other_roles(roles: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Give roles without the columns that were given another one."""
    taken = {name for role in _ROLES for name in plain.get(role, ())}
    left: dict[str, Any] = {}
    for role, names in roles.items():
        kept = [name for name in names if name not in taken]
        if role not in plain and len(kept) < len(names):
            left[role] = {name: names[name] for name in kept} if isinstance(names, Mapping) else tuple(kept)
    return left


def policy_from(
    policy: GivenPolicy, settings: Mapping[str, Any], *, whole: bool = False, bounded: bool = False
) -> Policy:
    """Put a policy and settings together; settings win.

    With ``whole`` the private files a release was made with must be named again. Only a verb that keeps a
    bound on memory is ``bounded``: to others one is not said in vain.
    """
    given = policy
    if isinstance(policy, str | Path):
        from mahrem.release.decisions._policy_files import read_policy  # most are not in files

        given = read_policy(policy, beside=settings if whole else None)
    if given is not None and not isinstance(given, Mapping | Policy):
        raise InvalidParameter(
            f"policy must be a file, settings by name or a Policy, not {type(given).__qualname__}"
        )
    read = Policy.of(settings, over=given)
    if read.memory is not None and not bounded:
        raise InvalidParameter(
            f"memory={read.memory} is kept by anonymize, audit and compare; others hold all rows: leave "
            f"it out"
        )
    return read


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """Give a column, a list of columns or values by column under other names."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {rename(name): inner for name, inner in value.items()}
    return tuple(rename(name) for name in value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value


def release_settings() -> dict[str, Setting]:
    """Give everything that may be said about a release, figures of models of other distributions too."""
    settings: dict[str, Setting] = {}
    for name, known in settings_of(Policy).items():
        settings[name] = known
        if name == "insensitive":
            settings["roles"] = ROLES
        if name == "k":
            settings |= model_settings()
    return settings


def _read(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, object]]:
    """Read settings by name; gives the policy's own, and the figures of privacy models."""
    known = release_settings()
    ours = _in_our_words({key: value for key, value in given.items() if value is not None}, known)
    kept = read_settings(known, ours)
    figures = {name: kept.pop(name) for name in model_settings() if name in kept}
    return kept, figures


def _in_our_words(given: Mapping[str, Any], known: Mapping[str, Setting]) -> dict[str, Any]:
    """Take columns under other tools' names (``quasi_ident``, ``keyVars``), and ``roles`` by column."""
    ours: dict[str, Any] = {}
    named: dict[str, list[str]] = {}
    for key, value in given.items():
        if key == "roles":
            for name, word in readers.role_words(key, value).items():
                named.setdefault(role_from_word(word).value, []).append(name)
        elif key not in known and is_role_word(key):
            named.setdefault(role_from_word(key).value, []).extend(columns(key, value))
        else:
            ours[key] = value
    for role, names in named.items():
        before = ours.get(role, ())
        if isinstance(before, Mapping):
            ours[role] = {**before, **{name: {} for name in names}}
        else:
            ours[role] = (*columns(role, before), *names)
    return ours
