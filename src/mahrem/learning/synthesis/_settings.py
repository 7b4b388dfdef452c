"""Everything a person says about a synthetic table, each setting said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._entries import SYNTHESISERS
from mahrem.readers import Reader, by_column, by_name, texts, wrong_type
from mahrem.settings import setting, switch, text, whole
from mahrem.table import written_formats
from mahrem.typed import names, pairs, value
from mahrem.words import LANGUAGES


def _column(name: str, given: object) -> str:
    return check.column_name(**{name: given})


def _count(name: str, given: object) -> int:
    return int(check.at_least(1, **{name: whole(name, given)}))


def _place(_: str, given: bool | str | Path) -> bool | Path:  # noqa: FBT001 - a reader like the others
    return given if isinstance(given, bool) else Path(given)


def _typed_condition(given: str) -> object:
    """Read a value, a range LOW:HIGH, or values A,B."""
    low, mark, high = given.partition(":")
    if mark:
        return value(low), value(high)
    if "," in given or isinstance(value(given), bool):  # such words are values of a column
        return given.split(",")
    return value(given)


def _typed_conditions(name: str, texts: Iterable[str]) -> dict[str, object]:
    return {column: _typed_condition(given) for column, given in pairs(name, texts).items()}


def _typed_options(name: str, texts: Iterable[str] | Mapping[str, object]) -> dict[str, object]:
    """Read NAME=VALUE or NAME=A,B; what was read already stays."""
    given = texts if isinstance(texts, Mapping) else pairs(name, texts)
    return {
        key: inner
        if not isinstance(inner, str)
        else [value(part) for part in inner.split(",")]
        if "," in inner
        else value(inner)
        for key, inner in given.items()
    }


def _columns(name: str, value: object) -> tuple[str, ...]:
    return check.column_names(**{name: value})


def _two_days(name: str, value: object) -> tuple[Any, Any]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise wrong_type(name, value, "a first and a last day")
    return value[0], value[1]


def _edges_or_count(name: str, value: object) -> int | list[float]:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    edges = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(edges, str) or not isinstance(edges, Sequence):
        raise wrong_type(name, value, "a whole number of cells, or a list of edges")
    return [check.finite(**{name: edge}) for edge in edges]


def _condition(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        raise wrong_type(name, value, "a value, a list of values, or the ends of a range")
    return value


def _typed_by_column(read: Callable[[str, str], Any], form: str) -> object:
    """Read texts ``COL=…``, each with what stands after the mark."""

    def typed(name: str, texts: Iterable[str]) -> dict[str, object]:
        return {column: read(column, given) for column, given in pairs(name, texts, form).items()}

    return typed


def _first_and_last(column: str, given: str) -> tuple[str, str]:
    first, mark, last = given.partition(":")
    if not mark:
        raise InvalidParameter(f"dates={column!r} must read COL=FIRST:LAST")
    return first, last


def _edges(column: str, given: str) -> int | list[float]:
    try:
        return int(given) if "," not in given else [float(part) for part in given.split(",")]
    except ValueError:
        raise InvalidParameter(f"cells={column!r} must be a whole number, or edges like 0,10,100") from None


def _lines(reader: Reader) -> Reader:
    """Have a form take one value a line: in a value may be commas."""
    return replace(reader, by_line=True)


_ANY = Reader(read=_condition, takes="Any")
_MANY: Mapping[str, Any] = {"group": "schema", "repeats": True}
_NAMES: Mapping[str, Any] = {**_MANY, "read": _columns, "takes": "Sequence[Hashable]", "typed": names}


@dataclass(frozen=True, kw_only=True)
class SchemaSettings:
    """What a person says about the columns of a synthetic table."""

    columns: tuple[str, ...] = setting((), **_NAMES, metavar="A,B,C")
    missing: tuple[str, ...] = setting((), **_NAMES, metavar="A,B", spelling="--may-miss")
    kinds: Mapping[str, str] = setting(
        dict,
        **_MANY,
        read=_lines(by_column(text)),
        takes="Mapping[Any, str] | None",
        typed=lambda _, texts: pairs("kind", texts),
        metavar="COL=whole|number",
        spelling="--kind",
    )
    dates: Mapping[str, tuple[str, str]] = setting(
        dict,
        **_MANY,
        read=_lines(by_column(replace(_ANY, read=_two_days))),
        takes="Mapping[Any, tuple[str, str]] | None",
        typed=_typed_by_column(_first_and_last, "COL=FIRST:LAST"),
        metavar="COL=FIRST:LAST",
    )
    cells: Mapping[str, int | Sequence[float]] = setting(
        dict,
        **_MANY,
        read=_lines(by_column(replace(_ANY, read=_edges_or_count))),
        takes="Mapping[Any, int | Sequence[float]] | None",
        typed=_typed_by_column(_edges, "NAME=VALUE"),
        metavar="COL=N or COL=A,B,C",
    )
    constraints: tuple[str, ...] = setting(
        (),
        **_MANY,
        read=_lines(texts),
        takes="Sequence[str]",
        metavar="RULE",
        spelling="--constraint",
    )


@dataclass(frozen=True, kw_only=True)
class SynthesisSettings(SchemaSettings):
    """How a synthetic table is made: its schema, the model, what is drawn and what is written.

    ``epsilon`` and ``delta`` are what it may cost, and no settings: who makes a table must name them.
    """

    epsilon: float
    delta: float
    method: str = setting(
        "marginals", read=text, group="model", metavar="NAME", choices=lambda: tuple(SYNTHESISERS)
    )
    target: str | None = setting(read=_column, takes="Hashable | None", group="model", metavar="COL")
    options: Mapping[str, Any] = setting(
        dict,
        read=_lines(by_name(replace(_ANY, read=lambda _, value: value))),
        takes="Mapping[str, Any] | None",
        typed=_typed_options,
        repeats=True,
        group="model",
        metavar="NAME=VALUE",
        spelling="--option",
    )
    rows: int | None = setting(read=_count, group="rows", metavar="N")
    given: Mapping[str, Any] = setting(
        dict,
        read=_lines(by_column(_ANY)),
        takes="Mapping[Any, Any] | None",
        typed=_typed_conditions,
        repeats=True,
        group="rows",
        metavar="COL=VALUE or COL=LOW:HIGH",
    )
    format: str = setting(
        "csv",
        read=text,
        group="output",
        metavar="NAME",
        choices=written_formats,
        listed="FormatName",
    )
    language: str = setting(
        "en", read=text, group="output", metavar="NAME", choices=lambda: LANGUAGES, listed="LanguageName"
    )
    html: bool = setting(True, read=switch, group="output", spelling="--html/--no-html")
    quality: bool | Path = setting(
        False,
        read=_place,
        takes="bool | str | Path",
        group="output",
        metavar="DIR",
        private=True,
        on_page=False,
    )
    holdout: object = setting(
        None,
        read=lambda _, rows: rows,
        takes="object",
        group="output",
        metavar="FILE",
        private=True,
        on_page=False,
    )
