"""Options that several verbs share, each spelled once.

A verb is decorated with :func:`speaks_policy` or one of its narrower kin; it then takes those options besides
its own and receives what the person said as ``settings``, ready for the Python verb of the same name.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer

from mahrem import check
from mahrem.release.decisions import release_settings
from mahrem.settings import Read, Setting, settings_of
from mahrem.words import explain_setting, load_catalogue

SOURCE = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="CSV, TSV, Excel, Parquet, Arrow or DuckDB file, or a postgresql:// URI."
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
VERBOSE = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print every figure, not only the first five.")
]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")]
FORCE = Annotated[bool, typer.Option("--force", help="Replace an earlier release there.")]
RELEASE_FOLDER = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Release folder to make.")
]
EPSILON = Annotated[float, typer.Option("--epsilon", metavar="X", help="What it may cost.")]
DELTA = Annotated[float, typer.Option("--delta", help="The same; far below 1/rows.")]


def option(spelling: str, metavar: str | None, means: str) -> Any:
    """Declare an option of one verb; spellings are separated by spaces."""
    return typer.Option(*spelling.split(), metavar=metavar, help=means, show_default=False)


class Option(NamedTuple):
    """An option that a verb shares with others, or that is made from a setting."""

    name: str  # of the keyword it becomes
    kind: Any  # what typer reads it as
    spelling: str
    metavar: str | None
    means: str | None  # None: taken, but not shown
    typed: Read | None = None  # turns what was typed into what the verb takes


VerbSettings: TypeAlias = dict[str, Any]  # what was typed, read, by the keywords of a Python verb
Row = Option | tuple[str, Any, str, str | None, str | None]  # the same, written down where it is used


def _option_of(known: Setting, words: str) -> Option:
    means = explain_setting(load_catalogue("en"), words, known) + (" Repeatable." if known.repeats else "")
    shown = None if known.hidden else means
    return Option(known.name, _typed_as(known), known.spelling, known.metavar, shown, known.typed)


def rows_of(spec: type, words: str) -> tuple[Option, ...]:
    """Give the options of a spec of settings; what they mean stands under ``setting.<words>``."""
    return tuple(_option_of(known, words) for known in settings_of(spec).values())


def spec_panels(spec: type, words: str) -> dict[str, list[Row]]:
    """Give the options of a spec by the headings it gives them."""
    panels: dict[str, list[Row]] = {}
    for known, row in zip(settings_of(spec).values(), rows_of(spec, words), strict=True):
        panels.setdefault(known.group.capitalize(), []).append(row)
    return panels


def _typed_as(known: Setting) -> object:
    if known.repeats:
        return list[str] | None
    if known.metavar is None:
        return bool | None
    kinds: Mapping[str, object] = {"int": int | None, "float": float | None}
    return kinds.get(known.takes.removesuffix(" | None"), str | None) if known.typed is None else str | None


_POLICY = Option(
    "policy", str | None, "--policy", "FILE", "Policy file (TOML) or a ready one: see mahrem policies."
)


def shared_rows(*names: str) -> tuple[Option, ...]:
    """Give options of a release by the names of their settings, for a verb that takes a few of them."""
    settings = release_settings()
    return tuple(_POLICY if name == "policy" else _option_of(settings[name], "release") for name in names)


def _policy_panels() -> dict[str, list[Option]]:
    """Give every option of a release, under the headings of its settings."""
    headings = load_catalogue("en")["setting_group"]
    panels: dict[str, list[Option]] = {heading: [] for heading in headings.values()}
    for known in release_settings().values():
        if not known.hidden:
            panels[headings[known.group]].append(_option_of(known, "release"))
    panels[headings["database"]].append(_SQL)
    panels[headings["method"]].insert(0, _POLICY)
    return panels


# How the rows of a file or a database are read, for every verb that reads one.
_SQL = Option("sql", str | None, "--sql", "SQL", None)  # another word for --query
_FILE = ("null", "delimiter", "encoding", "decimal", "header", "names", "skip_rows", "query", "table")
SOURCE_ROWS = (*shared_rows(*_FILE), _SQL)
_WRITTEN_ROWS = shared_rows("thousands", "date_format")  # where kinds are found out from cells
READING_ROWS: Sequence[Row] = (*shared_rows("kind", "order"), *SOURCE_ROWS, *_WRITTEN_ROWS, _POLICY)


def _unmarked(text: str) -> str:
    """Keep words in brackets from being taken for colours, which would leave them out."""
    return re.sub(r"(\\*)(\[[a-z#/@][^\[]*?\])", r"\1\1\\\2", text)


def _declared(options: Iterable[tuple[str, Option]]) -> Iterator[inspect.Parameter]:
    for panel, known in options:
        shown = typer.Option(
            *known.spelling.split(),
            help=None if known.means is None else _unmarked(known.means),
            rich_help_panel=panel,
            metavar=known.metavar,
            show_default=False,
            hidden=known.means is None,
        )
        declared: Any = Annotated[known.kind, shown]
        yield inspect.Parameter(known.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=declared)


def speaks_policy(
    verb: Callable[..., None], more: Mapping[str, Sequence[Row]] | None = None
) -> Callable[..., None]:
    """Give a command every option of a release; the verb gets them as ``policy`` and ``settings``."""
    return speaks(verb, {**(more or {}), **_policy_panels()})


def speaks_reading(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command only the options that say how a table is read, and the policy."""
    return speaks(verb, {"Table": READING_ROWS})


def published_rows() -> Mapping[str, Sequence[Row]]:
    """Give the options that say what a published table is."""
    first = shared_rows("quasi", "sensitive", "k", "l", "population", "kind", "hierarchy")
    return {"Table": (*first, *SOURCE_ROWS, *_WRITTEN_ROWS, _POLICY, *shared_rows("seed"))}


def speaks_batch(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for a table whose policy lies in a recipe."""
    output: Sequence[Row] = (
        ("force", bool | None, "--force", None, "Replace an earlier release there."),
        ("strict", bool | None, "--strict", None, "Publish nothing that holds with doubts: exit 1."),
        *shared_rows("pseudonym", "suppression_limit", "format", "shuffle", "language"),
    )
    return speaks(
        verb, {"Table": (*SOURCE_ROWS, *_WRITTEN_ROWS, *shared_rows("hierarchy")), "Output": output}
    )


def speaks_source(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a command only the options that say how rows are read: those of ``Reading``."""
    return speaks(verb, {"Table": SOURCE_ROWS})


def speaks(verb: Callable[..., None], panels: Mapping[str, Sequence[Row]]) -> Callable[..., None]:
    """Give a command options by rows; the verb gets what was typed as ``settings``."""
    options = [(panel, Option(*row)) for panel, rows in panels.items() for row in rows]
    shared = list(_declared(options))
    passed = {"policy", "settings"}
    parameters = inspect.signature(verb, eval_str=True).parameters.values()
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters if p.name not in passed]

    @functools.wraps(verb)
    def command(**typed: Any) -> None:
        given = {known.name: (known, typed.pop(known.name)) for _, known in options}
        policy = {"policy": given.pop("policy")[1]} if "policy" in given else {}
        verb(**typed, **policy, settings=read_typed(given.values()))

    command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    return command


def read_typed(given: Iterable[tuple[Option, Any]]) -> VerbSettings:
    """Turn what was typed into what the Python verbs take; what was not typed is left out."""
    read = {
        known.name: typed if known.typed is None else known.typed(known.name, typed)
        for known, typed in given
        if typed is not None and typed != []
    }
    return check.under_one_name(read, "sql", "query")
