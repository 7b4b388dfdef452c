"""What may be decided about a release: every setting once, with its reader, group, spelling and example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from mahrem import typed
from mahrem.models import TABLE_SETTINGS
from mahrem.partition import METHODS
from mahrem.readers import by_column, column, columns, number, switch, text, texts, whole
from mahrem.release.decisions import _readers as readers
from mahrem.settings import Setting, same_setting, setting
from mahrem.table import Kind, Missing, written_formats
from mahrem.words import LANGUAGES

AUTOMATIC = "auto"  # a method is chosen by evidence

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
class ReleaseSettings:
    """All that somebody may say about a release; a field each, in the order people read them."""

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
    seconds: float | None = _method(
        read=number.within(0), metavar="SECONDS", on_spark=False, example=10
    )  # begin no step of a search or a repair that would end later than so
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
