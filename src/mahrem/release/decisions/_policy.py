"""A policy: everything a person decides about a release, as data.

The Python verbs, the command line and ``policy.toml`` all speak these names; what is said last wins.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mahrem import typed
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.models import (
    COUNTED,
    MODELS,
    TABLE_SETTINGS,
    model_of_risk,
    model_settings,
    models_from_settings,
    models_of_risk,
)
from mahrem.partition import METHODS
from mahrem.readers import by_column, column, columns, number, switch, text, texts, whole
from mahrem.release.decisions import _readers as readers
from mahrem.release.decisions._refusals import refuse_contradicting
from mahrem.settings import Setting, check_settings, read_settings, same_setting, setting, settings_of
from mahrem.table import Kind, Missing, Role, written_formats
from mahrem.table.columns import is_role_word, role_from_word
from mahrem.words import LANGUAGES

if TYPE_CHECKING:
    from mahrem.contents import Contents, TableSketch
    from mahrem.models import PrivacyModel, Promise

HALF_A_YEAR = 182  # days
AUTOMATIC = "auto"  # a method is chosen by evidence

# Private files a release was made with; its policy names their columns only.
_GIVEN_AGAIN = ("hierarchy", "pseudonym")

_role = partial(setting, group="roles", on_spark=True)
_promise = partial(setting, group="promises")
_reading = partial(setting, group="reading", on_spark=True)
_database = partial(setting, group="database", on_spark=True)
_method = partial(setting, group="method", on_spark=True)
_cells = partial(setting, group="cells", on_spark=True)
_coarser = partial(_cells, dict, read=readers.grid_steps, metavar="COL=STEP", on_spark=False)
_output = partial(setting, group="output", on_spark=True)
# A file or a table that stays with whoever decides: never shown, never asked for on the page.
_secret = partial(setting, private=True, secret=True, on_page=False)
_statement = partial(_output, read=text, metavar="TEXT")  # the report says it as it was said
_names = partial(_role, (), read=columns, metavar="A,B")
_numbers_by_column = by_column(number, types=typed.numbers)
_counts_by_column = by_column(whole, types=typed.values)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """All decisions about a release; immutable, comparable, storable."""

    quasi: tuple[str, ...] = _names(spelling="--qi --quasi", example=["age", "zip"])
    sensitive: Mapping[str, Mapping[str, object]] = _role(
        dict, read=readers.sensitive_columns, metavar="A,B", example=["disease:l=3"]
    )
    identifier: tuple[str, ...] = _names(example=["name"])
    insensitive: tuple[str, ...] = _names(example=["ward"])
    rest: Literal["insensitive", "drop"] | None = _role(
        read=text, choices=lambda: ("insensitive", "drop"), metavar="ROLE", example="drop"
    )
    accept: Mapping[str, str] = _role(
        dict, read=readers.reasons, metavar="COL=REASON", example={"ward": "five wards, all large"}
    )  # columns published as they are whose cells would stop a release, and why they may
    region: str | None = _reading(
        read=readers.country, metavar="CC", example="TR"
    )  # whose telephone numbers, postcodes and plates are meant; not said: found out
    kind: Mapping[str, Kind] = _reading(dict, read=readers.kinds, metavar="COL=KIND", example={"zip": "code"})
    order: Mapping[str, tuple[str, ...]] = _reading(
        dict, read=readers.orders, metavar="COL=A,B,C", example={"stage": ["I", "II", "III"]}
    )
    null: tuple[str, ...] = _reading((), read=texts, metavar="TOKEN", private=True, example=["NA", "?"])
    missing: Missing = _method(
        Missing.CATEGORY, read=readers.missing_policy, choices=lambda: tuple(Missing), metavar="POLICY"
    )
    subject: str | None = _role(read=column, metavar="COL", on_spark=False, example="patient")
    hierarchy: Mapping[str, Any] = _cells(
        dict,
        read=readers.hierarchies,
        metavar="COL=FILE",
        private=True,
        on_page=False,
        example={"disease": "diseases.csv"},
    )
    automatic: str | None = _method(read=column, metavar="TARGET", on_spark=False, example="outcome")
    rho: tuple[float, ...] = _method(
        (), read=readers.widths, metavar="A,B", on_spark=False, example=[5, 10, 20, 50]
    )
    smoothing: float | None = _method(read=number, metavar="X", on_spark=False, example=1.0)
    minimum_count: int | None = _method(read=whole, metavar="N", on_spark=False, example=5)
    learn_from: Any = _secret(
        group="method", read=readers.other_table, metavar="FILE", on_spark=False, example="public.csv"
    )
    pseudonym: Mapping[str, Any] = _secret(
        dict,
        group="roles",
        read=readers.key_files,
        metavar="COL=KEYFILE",
        on_spark=False,
        example={"id": "key"},
    )
    redact: tuple[str, ...] = _cells(
        (), read=columns, metavar="A,B", on_spark=False, example=["note"]
    )  # free text: what tells who somebody is is replaced by its kind
    shift_dates: Any = _secret(
        group="roles", read=readers.key_file, metavar="KEYFILE", on_spark=False, example="key"
    )  # every person's dates are moved by so many days as the key says
    shift_days: int | None = _role(
        read=whole.within(1, 3650), metavar="N", on_page=False, on_spark=False, example=182
    )  # not said: half a year
    k: int | None = same_setting(TABLE_SETTINGS["k"])
    models: Mapping[str, object] = field(default_factory=dict)  # figures of sensitive columns
    delta_presence: tuple[float, float] | None = same_setting(TABLE_SETTINGS["delta_presence"])
    trajectory_k: int | None = same_setting(TABLE_SETTINGS["trajectory_k"])
    k_map: int | None = same_setting(TABLE_SETTINGS["k_map"])
    journalist_risk: float | None = same_setting(TABLE_SETTINGS["journalist_risk"])
    no_attack: tuple[float, float] | None = same_setting(TABLE_SETTINGS["no_attack"])
    profitability: tuple[float, ...] | None = same_setting(TABLE_SETTINGS["profitability"])
    average_risk: float | None = same_setting(TABLE_SETTINGS["average_risk"])
    marketer_risk: float | None = same_setting(TABLE_SETTINGS["marketer_risk"])
    sample_uniqueness: float | None = same_setting(TABLE_SETTINGS["sample_uniqueness"])
    population_uniqueness: float | None = same_setting(TABLE_SETTINGS["population_uniqueness"])
    population_uniqueness_kind: str | None = same_setting(TABLE_SETTINGS["population_uniqueness_kind"])
    population: Any = _secret(
        group="promises", read=readers.other_table, metavar="FILE", example="everybody.csv"
    )
    known_absence: Literal["refused", "allowed"] | None = _promise(
        read=text, choices=lambda: ("refused", "allowed"), metavar="KIND", example="allowed"
    )  # of people who fit no published class, under delta_presence; not said: refused
    fraction: float | None = _promise(
        read=number.within(0, 1), metavar="0..1", on_spark=True, example=0.1
    )  # share of the population that is in the table, where known
    method: str = _method(
        "mondrian", read=text, choices=lambda: (*METHODS, AUTOMATIC), listed="MethodName", metavar="NAME"
    )
    options: Mapping[str, Any] = _method(
        dict, read=readers.options, spelling="--option", metavar="NAME=VALUE", example={"rounds": 5}
    )  # the method's own
    strategy: str = _method("strict", read=text, choices=lambda: ("strict", "relaxed"), metavar="NAME")
    bounds: Literal["grid", "exact"] = _cells(
        "grid", read=text, choices=lambda: ("grid", "exact"), metavar="KIND"
    )
    grid: Mapping[str, float | str] = _cells(
        dict, read=readers.grid_steps, metavar="COL=STEP", example={"age": 5, "admission": "month"}
    )
    round: Mapping[str, float] = _cells(
        dict, read=_numbers_by_column, metavar="COL=STEP", on_spark=False, example={"cost": 100}
    )
    prefix: Mapping[str, int] = _cells(
        dict, read=_counts_by_column, metavar="COL=N", on_spark=False, example={"zip": 2}
    )  # so many characters of codes are shown at most
    bands: Mapping[str, float | str] = _coarser(example={"age": 5})
    at_least: Mapping[str, float | str] = _coarser(example={"zip": 2})
    at_most: Mapping[str, float | str] = _coarser(example={"age": 10})
    cells: Literal["text", "pairs", "midpoint", "centroid"] = _cells(
        "text", read=text, choices=lambda: ("text", "pairs", "midpoint", "centroid"), metavar="KIND"
    )
    top: Mapping[str, float] = _cells(
        dict, read=_numbers_by_column, metavar="COL=X", example={"age": 90}
    )  # numbers above are published as "or more"
    bottom: Mapping[str, float] = _cells(dict, read=_numbers_by_column, metavar="COL=X", example={"age": 18})
    jitter: float | None = _method(
        read=number.within(0, 0.4), metavar="0..0.4", on_spark=False, example=0.1
    )  # how far from the median random first cuts may lie, as a share of the rows
    repair: bool = _method(
        False, read=switch, example=True
    )  # change classes step by step while published cells lose less
    local: bool = _method(
        False, read=switch, on_spark=False, example=True
    )  # rows that a method which lifts columns would suppress are lifted again by themselves
    sparse: Mapping[str, tuple[str, ...]] = _cells(
        dict, read=readers.orders, metavar="COL=A,B", on_spark=False, example={"zip": ["036", "059"]}
    )  # beginnings of codes that too few people live under: such codes are published as zeros
    suppress: tuple[str, ...] = _cells((), read=columns, metavar="A,B", example=["sex"])
    suppression_limit: float | None = _cells(
        read=number.within(0, 1), metavar="0..1", example=0.05
    )  # not said: all that miss values, none that a method refuses
    suppressed: Literal["hidden", "keep-sensitive"] = _cells(
        "hidden",
        read=text,
        choices=lambda: ("hidden", "keep-sensitive"),
        metavar="KIND",
        on_spark=False,
    )  # what rows show that a method suppresses
    weights: Mapping[str, float] = _cells(
        dict, read=_numbers_by_column, spelling="--weight", metavar="COL=X", example={"age": 2.0}
    )
    minimality_safe: bool | None = _method(
        read=switch, spelling="--minimality-safe/--no-minimality-safe", on_spark=False, example=True
    )  # not said: where it costs little
    seed: int | None = _method(read=whole, metavar="N", private=True, example=7)
    engine: str = _method("local", read=text, choices=lambda: ("local", "spark"), metavar="NAME")
    master: str | None = _method(read=text, metavar="URL", private=True, on_page=False, example="local[2]")
    memory: int | None = _method(
        read=readers.memory_size, metavar="SIZE", private=True, on_page=False, on_spark=False, example="2GB"
    )  # bytes; not said: half of what is free
    delimiter: str | None = _reading(read=text, metavar="CHAR", example=";")
    encoding: str | None = _reading(read=text, metavar="NAME", example="cp1254")
    decimal: Literal[".", ","] | None = _reading(
        read=text, choices=lambda: (".", ","), metavar="CHAR", example=","
    )
    thousands: Literal[".", ",", " ", "'"] | None = _reading(
        read=text, choices=lambda: (".", ",", " ", "'"), metavar="CHAR", on_spark=False, example="."
    )
    date_format: Mapping[str, str] = _reading(
        dict, read=readers.date_formats, metavar="[COL=]FORMAT", on_spark=False, example={"born": "%d/%m/%Y"}
    )  # "*": of every column
    header: bool | None = _reading(
        read=switch, spelling="--header/--no-header", on_spark=False, example=True
    )  # not said: found out
    names: tuple[str, ...] = _reading(
        (), read=readers.listed_names, metavar="A,B", on_spark=False, example=["age", "zip", "disease"]
    )  # of all columns, in their order
    skip_rows: int | None = _reading(
        read=whole.within(0), metavar="N", on_spark=False, example=2
    )  # above the header; not said: found out
    skip_last: int | None = _reading(
        read=whole.within(0), metavar="N", on_spark=False, example=1
    )  # at the end of a file, such as a total
    query: str | None = _database(read=text, metavar="SQL", private=True, example="SELECT * FROM patients")
    table: str | None = _database(read=text, metavar="NAME", private=True, example="patients")
    format: str = _output("csv", read=text, choices=written_formats, listed="FormatName", metavar="NAME")
    shuffle: bool | None = _output(read=switch, spelling="--shuffle/--keep-order", example=True)
    language: str = _output(
        "en", read=text, choices=lambda: tuple(LANGUAGES), listed="LanguageName", metavar="NAME"
    )
    recipient: str | None = _statement(example="the research department")  # who is to have it
    purpose: str | None = _statement(example="planning of wards")  # what for
    rationale: str | None = _statement(
        example="k = 10: our board asks for it"
    )  # why these promises are enough
    reviewer: str | None = _statement(example="the data protection officer")  # who looked at it
    look_for: tuple[Mapping[str, Any], ...] = _role(
        (), read=readers.descriptions, hidden=True, example=[{"names": ["age"], "role": "quasi"}]
    )  # what columns with such names are, where there are any

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
        named = self._as_in(columns)
        if not named.look_for:
            return named
        from mahrem.release.decisions._ready import found_columns

        return replace(Policy.of(found_columns(named, columns, *look()), over=named), look_for=())

    def _as_in(self, columns: Sequence[str]) -> Policy:
        """Name columns as a table does."""
        bare: dict[str, list[str]] = {}
        for name in columns:
            bare.setdefault(name.strip(), []).append(name)

        def rename(name: str) -> str:
            alike = bare.get(name.strip(), [])
            return alike[0] if len(alike) == 1 and name not in columns else name

        changed: dict[str, Any] = {}
        for name, known in settings_of(Policy).items():
            value = getattr(self, name)
            if (known.reader.of_columns or name == "sensitive") and value:
                renamed = _renamed(value, rename)
                changed |= {} if renamed == value else {name: renamed}
        return replace(self, **changed) if changed else self

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
    beside = settings if whole else None
    given = read_policy(policy, beside=beside) if isinstance(policy, str | Path) else policy
    if given is not None and not isinstance(given, Mapping | Policy):
        raise InvalidParameter(
            f"policy must be a file, settings by name or a Policy, not {type(given).__qualname__}"
        )
    read = Policy.of(settings, over=given)
    if read.memory is not None and not bounded:
        raise InvalidParameter(
            f"memory={read.memory} is kept by anonymize and audit; others hold all rows: leave it out"
        )
    return read


def read_policy(path: str | Path, *, beside: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a policy file, or a ready one by its name; its keys are checked when the policy is made.

    A release's policy names the columns whose hierarchy or key stayed private. To make a release with it
    again, these are said ``beside`` the file: without them the result would silently be another one.
    """
    from mahrem.release.decisions._ready import READY_POLICIES, ready_policy

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
        raise InvalidInput(
            f"policy={Path(path).name!r} is not TOML: {error}{_key_hint(text, error)}"
        ) from error
    about = settings.pop("mahrem", {})  # as written into a release
    if beside is not None:
        for key in _GIVEN_AGAIN:
            missing = sorted(set(about.get(key, ())) - set(beside.get(key, ())))
            if missing:
                raise InvalidParameter(
                    f"policy={Path(path).name!r} was used with a private {key} of {', '.join(missing)}: "
                    f"give it again ({spelled(key, {missing[0]: 'FILE'})}), or take {key} "
                    f"out of its [mahrem] section"
                )
    return settings


def _key_hint(text: str, error: tomllib.TOMLDecodeError) -> str:
    """Say how a name is written that TOML takes only in quotes: ``yaş``, ``postal code``."""
    where = re.search(r"at line (\d+)", str(error))
    if where is None:
        return ""
    line = text.splitlines()[int(where[1]) - 1]
    bare = re.sub(r'"[^"]*"|\'[^\']*\'|#.*', "", line)
    keys = [key.strip() for key in re.findall(r"([^={},.\[\]]+)(?=[=.\]])", bare)]
    odd = next((key for key in keys if not re.fullmatch(r"[A-Za-z0-9_-]*", key)), None)
    return "" if odd is None else f'; names with other signs than a-z, 0-9, _ and - stand in quotes: "{odd}"'


def own_pseudonyms(path: Path) -> tuple[str, ...]:
    """Give the columns of pseudonyms that the policy of a release names, as its file names them."""
    if not path.is_file():
        return ()
    from mahrem.table.writing import exported_names

    own = tomllib.loads(path.read_text(encoding="utf-8"))
    named = own.get("mahrem", {}).get("pseudonym", ())
    return tuple(exported_names(named, own.get("format", "csv")))


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


# Not a field: what it says becomes the columns of the roles.
ROLES = Setting(
    name="roles",
    read=readers.role_words,
    takes=readers.role_words.takes,
    group="roles",
    spelling="--role",
    metavar="COL=WORD",
    typed=readers.role_words.typed,
    repeats=True,
    on_spark=True,
    example={"age": "quasi"},
)


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
