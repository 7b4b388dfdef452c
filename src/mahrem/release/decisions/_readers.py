"""How the values of a policy are read where no plain reader serves: somebody wrote it by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mahrem import check
from mahrem.contents import CONTENTS
from mahrem.errors import InvalidParameter
from mahrem.files import check_key
from mahrem.models import model_settings, parse_sensitive
from mahrem.readers import (
    Reader,
    anything,
    by_column,
    by_name,
    columns,
    number,
    text,
    texts,
    whole,
    wrong_type,
)
from mahrem.settings import read_settings
from mahrem.table import EVERY, Kind, Missing
from mahrem.typed import names, size, values


def _sensitive(name: str, value: object) -> Mapping[str, Mapping[str, object]]:
    if isinstance(value, Mapping):
        own = by_column(by_name(anything))(name, value)
    else:
        own = {column: dict(settings) for column, settings in map(parse_sensitive, columns(name, value))}
    known = model_settings()
    for column, settings in own.items():
        check.unknown_keys(settings, tuple(known), where=f"{name}.{column}")
    return {column: read_settings(known, settings) for column, settings in own.items()}


def _typed_sensitive(_: str, typed: Sequence[str]) -> list[str]:
    """Split at commas outside quotes; in ``disease:l=3,t=0.2`` what follows belongs to the column."""
    names: list[str] = []
    for given in typed:
        for place, part in enumerate(re.findall(r'(?:"(?:[^"]|"")*"|[^,])+', given)):
            if place and names and "=" in part and ":" not in part and ":" in names[-1]:
                names[-1] += "," + part
            elif part.strip():
                names.append(part.strip())
    return names


def _kind(name: str, value: object) -> Kind:
    return Kind(check.one_of(tuple(Kind), **{name: text(name, value)}))


def _missing(name: str, value: object) -> Missing:
    return Missing(check.one_of(tuple(Missing), **{name: text(name, value)}))


def _order(name: str, value: object) -> tuple[str, ...]:
    listed: tuple[str, ...] = texts(name, value.split(",") if isinstance(value, str) else value)
    return listed


def _step(name: str, value: object) -> float | str:
    step: float | str = value if isinstance(value, str) else number(name, value)
    return step


def _hierarchy(name: str, value: object) -> object:
    from mahrem.table import Hierarchy  # only where somebody names one

    if not isinstance(value, str | Path | Hierarchy):
        raise wrong_type(name, value, "a file or a Hierarchy")
    return value


def _key(name: str, value: object) -> object:
    if not isinstance(value, str | Path | bytes):
        raise wrong_type(name, value, "a key file or a key")
    return check_key(name, value) if isinstance(value, bytes) else value


def _other_table(_: str, value: object) -> object:
    from mahrem.table import hold

    return hold(value)  # it may be looked at several times


def _size(name: str, value: object) -> int:
    """Read bytes, said as a number or as 512MB, 4GB."""
    amount: int = size(name, value) if isinstance(value, str) else whole(name, value)
    check.at_least(1, **{name: amount})
    return amount


def _widths(name: str, value: object) -> tuple[float, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    listed = [parts] if isinstance(parts, int | float) else parts
    if not isinstance(listed, Sequence):
        raise wrong_type(name, value, "numbers: 5,10,20,50")
    try:
        return tuple(float(part) for part in listed)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{name} must be numbers: 5,10,20,50") from None


DESCRIBED = (
    "kind",
    "grid",
    "top",
    "bottom",
    "prefix",
    "at_least",
    "sparse",
)  # what a description may say of columns


def _reason(name: str, value: object) -> str:
    reason: str = text(name, value)
    if not reason.strip():
        raise InvalidParameter(f"{name} needs a reason: why may this column be published as it is?")
    return reason.strip()


def _country(name: str, value: object) -> str:
    letters: str = text(name, value)
    if len(letters) != 2 or not letters.isascii() or not letters.isalpha():
        raise InvalidParameter(f"{name}={letters!r} must be the two letters of a country: TR, DE, US")
    return letters.upper()


def _descriptions(name: str, value: object) -> tuple[dict[str, object], ...]:
    """Read what a policy says of columns it does not know by name."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise wrong_type(name, value, "a list of tables, as in [[look_for]]")
    known = ("names", "contents", "role", *DESCRIBED)
    entries = []
    for given in value:
        entry = by_name(anything)(name, given)
        check.unknown_keys(entry, known, where=name)
        if "role" not in entry or not {"names", "contents"} & {*entry}:
            raise InvalidParameter(f"{name} needs names or contents, and a role, in every entry")
        named = {key: texts(f"{name}.{key}", entry.get(key, ())) for key in ("names", "contents")}
        for kind in named["contents"]:
            check.one_of(tuple(CONTENTS), **{f"{name}.contents": kind})
        entries.append({**entry, **named})
    return tuple(entries)


def _date_formats(name: str, value: object) -> dict[str, str]:
    """Read one format for all columns, or formats by column."""
    if isinstance(value, str):
        return {EVERY: value}
    formats: dict[str, str] = by_column(text)(name, value)
    return formats


def _typed_formats(_: str, typed: Sequence[str]) -> dict[str, str]:
    """Read ``FORMAT`` or ``COL=FORMAT``: a format begins after the last ``=`` before its first ``%``."""
    formats = {}
    for given in typed:
        before, mark, form = given.partition("%")
        column, equal, start = before.rpartition("=")
        formats[column if equal else EVERY] = start + mark + form
    return formats


def _listed_names(name: str, value: object) -> tuple[str, ...]:
    """Read the names of all columns; one that is there twice is refused when the table is read."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, Sequence):
        raise wrong_type(name, value, "a list of names")
    return tuple(check.column_name(**{name: one}) for one in listed)


role_words = by_column(text)
date_formats = Reader(
    read=_date_formats,
    takes="str | Mapping[Any, str]",
    typed=_typed_formats,
    repeats=True,
    inner=text,
    of_columns=True,
)
listed_names = Reader(read=_listed_names, takes="str | Sequence[str]", typed=names, repeats=True)
sensitive_columns = Reader(
    read=_sensitive,
    takes="Hashable | Sequence[Hashable] | Mapping[Any, Mapping[str, object]]",
    typed=_typed_sensitive,
    repeats=True,
)
missing_policy = Reader(read=_missing, takes="str")
reasons = by_column(Reader(read=_reason, takes="str"))
country = Reader(read=_country, takes="str")
kinds = by_column(Reader(read=_kind, takes="str"))
orders = by_column(Reader(read=_order, takes="str | Sequence[str]"))
hierarchies = by_column(Reader(read=_hierarchy, takes="Any"))
key_file = Reader(read=_key, takes="Any")
key_files = by_column(key_file)
grid_steps = by_column(Reader(read=_step, takes="float | str"), types=values)
options = by_name(anything, types=values)
widths = Reader(read=_widths, takes="str | float | Sequence[float]")
memory_size = Reader(read=_size, takes="int | str")
other_table = Reader(read=_other_table, takes="Any")
descriptions = Reader(read=_descriptions, takes="Sequence[Mapping[str, object]]")
