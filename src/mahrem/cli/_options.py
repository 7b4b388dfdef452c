"""Options that several verbs share, each spelled once.

A verb is decorated with :func:`speaks_policy` or one of its narrower kin; it then takes those options besides
its own and receives what the person said as ``settings``, ready for the Python verb of the same name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from mahrem import check
from mahrem.partition import METHODS
from mahrem.settings import Setting, settings_of
from mahrem.table import FORMATS
from mahrem.typed import listed, number, pairs, sizes, value
from mahrem.words import LANGUAGES, load_catalogue

__all__ = [
    "JSON",
    "QUIET",
    "READING_ROWS",
    "SOURCE",
    "SOURCE_ROWS",
    "Row",
    "option",
    "rows_of",
    "shared_rows",
    "speaks",
    "speaks_batch",
    "speaks_policy",
    "speaks_published",
    "speaks_reading",
    "speaks_source",
]

SOURCE = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="CSV, TSV, Parquet, Arrow or DuckDB file, or a postgresql:// URI."),
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")]


def option(spelling: str, metavar: str | None, means: str) -> Any:
    """Declare an option of one verb; spellings are separated by spaces."""
    return typer.Option(*spelling.split(), metavar=metavar, help=means, show_default=False)


_MANY = list[str] | None
_TEXT = str | None
_NUMBER = float | None

# name of the setting, type, spelling, what stands for its value, what it means (None: taken, but not shown)
Row = tuple[str, Any, str, str | None, str | None]


def rows_of(spec: type, words: str) -> tuple[Row, ...]:
    """Give the options of a spec of settings; what they mean stands under ``setting.<words>``."""
    means = load_catalogue("en")["setting"][words]
    return tuple(
        (
            known.name,
            _typed_as(known),
            known.spelling,
            known.metavar,
            None if known.hidden else _filled(means[known.name], known),
        )
        for known in settings_of(spec).values()
    )


def _typed_as(known: Setting) -> Any:
    if known.repeats:
        return _MANY
    if known.metavar is None:
        return bool | None
    kinds: Mapping[str, Any] = {"int": int | None, "float": _NUMBER}
    return kinds.get(known.takes.removesuffix(" | None"), _TEXT)


def _filled(means: str, known: Setting) -> str:
    """Name the choices there are where the words leave room for them."""
    choices = () if known.choices is None else known.choices()
    return means.format(choices=", ".join(choices), default=known.default)


_ROLES: Sequence[Row] = (
    ("quasi", _MANY, "--qi --quasi", "A,B", "Columns others may know; repeat, or separate by commas."),
    ("sensitive", _MANY, "--sensitive", "A,B", "Columns not to be learnt; own promises: disease:l=3,t=0.2."),
    ("identifier", _MANY, "--identifier", "A,B", "Columns that name a person; they are dropped."),
    ("insensitive", _MANY, "--insensitive", "A,B", "Columns to publish as they are."),
    ("roles", _MANY, "--role", "COL=WORD", "Role of one column, also in ARX's or sdcMicro's words."),
    ("rest", _TEXT, "--rest", "ROLE", "What undeclared columns are: insensitive or drop; else an error."),
    ("subject", _TEXT, "--subject", "COL", "Says whose row it is: k then counts people, not rows."),
    ("pseudonym", _MANY, "--pseudonym", "COL=KEYFILE", "Replace an identifier by keyed pseudonyms."),
)
_PROMISES: Sequence[Row] = (
    ("k", int | None, "-k", "N", "At least k rows share every combination of quasi-identifiers."),
    ("l", _NUMBER, "-l", "N", "Every class shows at least l sensitive values (see --l-kind)."),
    ("l_kind", _TEXT, "--l-kind", "KIND", "distinct (default), entropy or recursive (needs --c)."),
    ("c", _NUMBER, "--c", "X", "The c of recursive (c,l)-diversity."),
    ("t", _NUMBER, "-t", "X", "In a class, sensitive values spread as in the table, up to t."),
    ("t_kind", _TEXT, "--t-kind", "KIND", "equal (default), ordered, hierarchical or kl."),
    ("alpha", _NUMBER, "--alpha", "X", "No sensitive value makes up a larger share of a class."),
    ("beta", _NUMBER, "--beta", "X", "No value's share grows by more than this factor in a class."),
    ("beta_kind", _TEXT, "--beta-kind", "KIND", "basic (default) or enhanced."),
    ("delta_disclosure", _NUMBER, "--delta-disclosure", "X", "Bound on |ln(share in class / in table)|."),
    ("delta_presence", _TEXT, "--delta-presence", "MIN,MAX", "Chance of being in, given the population."),
    (
        "population",
        _TEXT,
        "--population",
        "FILE",
        "Table with everyone: for --delta-presence, and for audit.",
    ),
    (
        "fraction",
        _NUMBER,
        "--fraction",
        "0..1",
        "Share of the population in the table, for the risk figures.",
    ),
)
# How the rows of a file or a database are read, for every verb that reads one.
SOURCE_ROWS: Sequence[Row] = (
    ("null", _MANY, "--null", "TOKEN", "Text that means missing, besides the empty cell; repeatable."),
    ("delimiter", _TEXT, "--delimiter", "CHAR", "Field separator of a CSV; found out if not given."),
    ("encoding", _TEXT, "--encoding", "NAME", "Encoding of a CSV that is not UTF-8: cp1254, latin-1 …"),
    ("decimal", _TEXT, "--decimal", "CHAR", "Decimal mark of a CSV: '.' or ','."),
    ("query", _TEXT, "--query", "SQL", "What to ask a database."),
    ("sql", _TEXT, "--sql", "SQL", None),  # another word for --query
    ("table", _TEXT, "--table", "NAME", "Table to read from a database."),
)
_TABLE: Sequence[Row] = (
    ("kind", _MANY, "--kind", "COL=KIND", "numeric, ordinal, categorical, date or code."),
    ("order", _MANY, "--order", "COL=A,B,C", "Order of an ordinal column, lowest first."),
    ("hierarchy", _MANY, "--hierarchy", "COL=FILE", "Hierarchy of a column in ARX's CSV form."),
    ("automatic", _TEXT, "--automatic", "TARGET", "Publish groups learnt against this published column."),
    ("rho", _TEXT, "--rho", "A,B", "Widths of learnt groups in percent; default 5,10,20,50."),
    ("smoothing", _NUMBER, "--smoothing", "X", "Learnt groups: rows of the whole table added to each value."),
    ("minimum_count", int | None, "--minimum-count", "N", "Learnt groups: rarer values do not decide."),
    ("learn_from", _TEXT, "--learn-from", "FILE", "Learn groups from this table, best a public one."),
    ("missing", _TEXT, "--missing", "POLICY", "category (default), suppress, drop, drop-any or refuse."),
    *SOURCE_ROWS,
)
_METHODS = f"{', '.join(METHODS)}; default mondrian; auto chooses by size, kinds, time (--option seconds=10)."
_HOW: Sequence[Row] = (
    ("policy", _TEXT, "--policy", "FILE", "Policy file (TOML) or a ready one: see mahrem policies."),
    ("method", _TEXT, "--method", "NAME", _METHODS),
    ("options", _MANY, "--option", "NAME=VALUE", "A setting of the method: rounds=5. Repeatable."),
    ("strategy", _TEXT, "--strategy", "NAME", "strict (default: equal values stay together) or relaxed."),
    ("bounds", _TEXT, "--bounds", "KIND", "grid (default: snapped outward, no real extremes) or exact."),
    ("grid", _MANY, "--grid", "COL=STEP", "Step of a column's grid: age=5, admission=month."),
    ("cells", _TEXT, "--cells", "KIND", "text (default: [20, 29]), pairs, midpoint or centroid."),
    ("top", _MANY, "--top", "COL=X", "Numbers from X up are published as [X, inf]: age=90."),
    ("bottom", _MANY, "--bottom", "COL=X", "Numbers from X down are published as [-inf, X]."),
    ("jitter", _NUMBER, "--jitter", "0..0.4", "Random first cuts, so far from the median: 0.1."),
    ("suppress", _MANY, "--suppress", "A,B", "Quasi-identifiers to hide altogether."),
    ("suppression_limit", _NUMBER, "--suppression-limit", "0..1", "Largest share of rows to suppress."),
    ("weights", _MANY, "--weight", "COL=X", "How much a column's loss counts."),
    ("seed", int | None, "--seed", "N", "Seed of methods that draw; it stays out of the release."),
    ("engine", _TEXT, "--engine", "NAME", "Where it runs: local (default) or spark."),
    ("master", _TEXT, "--master", "URL", "Spark's master: local[2], spark://…, sc://…, yarn, k8s://…"),
    ("format", _TEXT, "--format", "NAME", f"Data file: {', '.join(FORMATS)}; default csv."),
    ("shuffle", bool | None, "--shuffle/--keep-order", None, "Shuffle the rows of the file (default)."),
    ("language", _TEXT, "--language", "NAME", f"Language of the report: {', '.join(LANGUAGES)}."),
)
_PANELS = {"Roles": _ROLES, "Promises": _PROMISES, "Table": _TABLE, "Method and output": _HOW}
_BY_NAME = {row[0]: row for rows in _PANELS.values() for row in rows}


def shared_rows(*names: str) -> tuple[Row, ...]:
    """Give options by the names of their settings, for a verb that takes a few of them."""
    return tuple(_BY_NAME[name] for name in names)


READING_ROWS: Sequence[Row] = (*shared_rows("kind", "order"), *SOURCE_ROWS, *shared_rows("policy"))
_PUBLISHED = {
    "Table": (
        *shared_rows("quasi", "sensitive", "k", "l", "population", "kind", "hierarchy"),
        *SOURCE_ROWS,
        *shared_rows("policy", "seed"),
    ),
}
_BATCH = {
    "Table": (*SOURCE_ROWS, *shared_rows("hierarchy")),
    "Output": shared_rows("pseudonym", "suppression_limit", "format", "shuffle", "language"),
}


def _declared(panels: Mapping[str, Sequence[Row]]) -> Iterator[inspect.Parameter]:
    for panel, rows in panels.items():
        for name, kind, spelling, metavar, means in rows:
            option = typer.Option(
                *spelling.split(),
                help=means,
                rich_help_panel=panel,
                metavar=metavar,
                show_default=False,
                hidden=means is None,
            )
            declared: Any = Annotated[kind, option]
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=declared)


def speaks_policy(
    verb: Callable[..., None], more: Mapping[str, Sequence[Row]] | None = None
) -> Callable[..., None]:
    """Give a command every shared option, and more; the verb gets them as ``policy`` and ``settings``."""
    return speaks(verb, {**(more or {}), **_PANELS})


def speaks_reading(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command only the options that say how a table is read, and the policy."""
    return speaks(verb, {"Table": READING_ROWS})


def speaks_published(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what a published table is."""
    return speaks(verb, _PUBLISHED)


def speaks_batch(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for a table whose policy lies in a recipe."""
    return speaks(verb, _BATCH)


def speaks_source(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command only the options that say how rows are read: those of ``Reading``."""
    return speaks(verb, {"Table": SOURCE_ROWS})


def speaks(verb: Callable[..., None], panels: Mapping[str, Sequence[Row]]) -> Callable[..., None]:
    """Give a command options by rows; the verb gets what was said as ``settings``."""
    shared = list(_declared(panels))
    passed = {"policy", "settings"}
    parameters = inspect.signature(verb, eval_str=True).parameters.values()
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters if p.name not in passed]

    @functools.wraps(verb)
    def command(**said: Any) -> None:
        given = {parameter.name: said.pop(parameter.name) for parameter in shared}
        policy = {"policy": given.pop("policy")} if "policy" in given else {}
        verb(**said, **policy, settings=_settings(given))

    command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    return command


def _settings(said: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what was typed into what the Python verbs take."""
    given = {name: typed for name, typed in said.items() if typed is not None and typed != []}
    settings = check.under_one_name(given, "sql", "query")
    return {
        name: _READERS[name](name, typed) if name in _READERS else typed for name, typed in settings.items()
    }


def _names(_: str, texts: Sequence[str]) -> list[str]:
    return listed(texts)


def _sensitive(_: str, texts: Sequence[str]) -> list[str]:
    """Split at commas, but keep ``disease:l=3,t=0.2`` together: a promise that follows belongs to it."""
    names: list[str] = []
    for text in texts:
        for place, part in enumerate(text.split(",")):
            if place and names and "=" in part and ":" not in part and ":" in names[-1]:
                names[-1] += "," + part
            elif part.strip():
                names.append(part.strip())
    return names


def _numbers(name: str, texts: Sequence[str]) -> dict[str, float]:
    return {column: number(name, text) for column, text in pairs(name, texts).items()}


def _values(name: str, texts: Sequence[str]) -> dict[str, float | str]:
    return {key: value(text) for key, text in pairs(name, texts).items()}


def _whole_if_it_is(_: str, typed: float) -> float:
    return int(typed) if typed.is_integer() else typed


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("quasi", "identifier", "insensitive", "suppress", "features"), _names),
    "sensitive": _sensitive,
    **dict.fromkeys(("kind", "order", "hierarchy", "pseudonym", "roles"), pairs),
    **dict.fromkeys(("weights", "top", "bottom"), _numbers),
    **dict.fromkeys(("grid", "options"), _values),
    **dict.fromkeys(("hidden", "shape"), sizes),
    "l": _whole_if_it_is,
}
