"""A policy: everything a person decides about a release, as data.

The Python verbs, the command line and ``policy.toml`` all speak these names; what is said last wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.models import DeltaPresence, KAnonymity, Promise, models_from_settings
from mahrem.release._ready import READY_POLICIES, found_columns, ready_policy
from mahrem.release._settings import read_settings
from mahrem.table import Format, Kind, Missing

__all__ = ["Policy", "read_policy"]

# Private files a release was made with; its policy names their columns only.
_SAID_AGAIN = ("hierarchy", "pseudonym")


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
    automatic: str | None = None  # the target for which groups of other columns are learnt
    rho: tuple[float, ...] = ()
    smoothing: float | None = None
    minimum_count: int | None = None
    learn_from: Any = field(default=None, repr=False)
    pseudonym: Mapping[str, Any] = field(default_factory=dict, repr=False)
    k: int | None = None
    models: Mapping[str, object] = field(default_factory=dict)
    delta_presence: tuple[float, float] | None = None
    population: Any = field(default=None, repr=False)
    fraction: float | None = None  # share of the population that is in the table, where known
    method: str = "mondrian"
    options: Mapping[str, Any] = field(default_factory=dict)  # the method's own
    strategy: str = "strict"
    bounds: Literal["grid", "exact"] = "grid"
    grid: Mapping[str, float | str] = field(default_factory=dict)
    cells: Literal["text", "pairs", "midpoint", "centroid"] = "text"
    top: Mapping[str, float] = field(default_factory=dict)  # numbers above are published as "or more"
    bottom: Mapping[str, float] = field(default_factory=dict)
    jitter: float | None = None  # how far from the median random first cuts may lie, as a share of the rows
    suppress: tuple[str, ...] = ()
    suppression_limit: float | None = None  # not said: all that miss values, none that a method refuses
    weights: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    engine: str = "local"
    master: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    query: str | None = None
    table: str | None = None
    format: Format = "csv"
    shuffle: bool | None = None
    language: str = "en"
    look_for: tuple[Mapping[str, Any], ...] = ()  # what columns with such names are, where there are any

    @classmethod
    def of(cls, settings: Mapping[str, Any], *, over: Policy | Mapping[str, Any] | None = None) -> Policy:
        """Make a policy from settings by name; what is not said comes from ``over``.

        Settings in ``over`` are judged together with these: a file may ask for l of a column named later.
        """
        plain, models = read_settings(settings)
        if isinstance(over, Mapping):
            first, promised = read_settings(over)
            return cls(**{**first, **plain}, models={**promised, **models})
        base = over if over is not None else cls()
        return replace(base, **plain, models={**base.models, **models})

    def __post_init__(self) -> None:
        if self.k is not None:
            check.at_least(1, k=check.whole(k=self.k))
        check.one_of(("insensitive", "drop"), rest=self.rest or "drop")
        check.one_of(("strict", "relaxed"), strategy=self.strategy)
        check.one_of(("grid", "exact"), bounds=self.bounds)
        check.one_of(("text", "pairs", "midpoint", "centroid"), cells=self.cells)
        check.one_of(get_args(Format), format=self.format)
        check.one_of(("local", "spark"), engine=self.engine)
        check.one_of((".", ","), decimal=self.decimal or ".")
        if self.suppression_limit is not None:
            check.between(0, 1, suppression_limit=self.suppression_limit)
        if self.fraction is not None:
            check.between(0, 1, fraction=self.fraction)
            if self.fraction == 0:
                raise InvalidParameter("fraction=0 must be above 0: somebody is in the table")
        self._check_defences()
        for name, weight in self.weights.items():
            check.at_least(0, **{f"weights.{name}": weight})
        if self.models and not self.sensitive:
            said = next(iter(self.models))
            raise InvalidParameter(
                f"{said}={self.models[said]!r} speaks of a sensitive column; "
                f"name one with {spelled('sensitive')}"
            )
        if self.delta_presence is not None:
            self._check_presence()
        self._check_automatic()
        if self.subject is not None and self.subject in self.pseudonym:
            raise InvalidParameter(
                f"subject={self.subject!r} as a pseudonym would tie a person's rows together, and k would "
                f"not hold for people; leave the pseudonym or the subject out"
            )
        self.promises()

    def _check_defences(self) -> None:
        if self.jitter is not None:
            check.between(0, 0.4, jitter=self.jitter)
        for name, bottom in self.bottom.items():
            check.finite(**{f"bottom.{name}": bottom})
        for name, top in self.top.items():
            check.finite(**{f"top.{name}": top})
            if name in self.bottom and self.bottom[name] >= top:
                raise InvalidParameter(f"top.{name}={top:g} must lie above bottom.{name}")

    def _check_automatic(self) -> None:
        if self.automatic is None:
            for name in ("rho", "smoothing", "minimum_count", "learn_from"):
                if getattr(self, name) not in (None, ()):
                    raise InvalidParameter(
                        f"{name} is about learnt groups; name their target: {spelled('automatic', 'COLUMN')}"
                    )
        else:  # groups have neither ends nor a middle
            check.one_of(("text",), **{"cells (with automatic)": self.cells})

    def __str__(self) -> str:
        """Say what was decided; of a population only that there is one, for it may be a table."""
        return repr(self) if self.population is None else f"{self!r} with a population"

    def _check_presence(self) -> None:
        if self.population is None:
            raise InvalidParameter(
                f"delta_presence needs the public table it speaks of: {spelled('population', 'FILE')}"
            )
        # Cells of different classes must not overlap, or a person may be in either and presence adds up.
        for name, wanted in (("strategy", "strict"), ("bounds", "exact"), ("cells", "text")):
            check.one_of((wanted,), **{f"{name} (with delta_presence)": getattr(self, name)})

    def for_columns(self, columns: Sequence[str]) -> Policy:
        """Decide about columns that were only described; what was said by name wins."""
        if not self.look_for:
            return self
        return replace(Policy.of(found_columns(self, columns), over=self), look_for=())

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
        private = {"seed", "pseudonym", "hierarchy", "population", "query", "table", "master", "null"}
        private |= {"learn_from"}
        public: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in private or value is None or value in ((), {}):
                continue
            public[entry.name] = _plain(value)
        public.update(public.pop("models", {}))
        return public


def read_policy(path: str | Path, *, beside: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a policy file, or a ready one by its name; its keys are checked when the policy is made.

    A release's policy names the columns whose hierarchy or key stayed private. To make a release with it
    again, these are said ``beside`` the file: without them the result would silently be another one.
    """
    try:
        text = ready_policy(path) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"policy={Path(path).name!r} cannot be read: {type(error).__name__}; "
            f"ready ones are {', '.join(READY_POLICIES)}"
        ) from error
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"policy={Path(path).name!r} is not TOML: {error}") from error
    about = settings.pop("mahrem", {})  # as written into a release
    if beside is not None:
        for key in _SAID_AGAIN:
            missing = sorted(set(about.get(key, ())) - set(beside.get(key, ())))
            if missing:
                raise InvalidParameter(
                    f"policy={Path(path).name!r} was used with a private {key} of {', '.join(missing)}: "
                    f"give it again ({spelled(key, {missing[0]: 'FILE'})}), or take {key} "
                    f"out of its [mahrem] section"
                )
    return settings


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value
