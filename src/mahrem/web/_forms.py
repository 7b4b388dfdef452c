"""Forms of the page, read into the same bodies the API takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData

from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QuerySettings
from mahrem.errors import MahremError
from mahrem.models import model_settings
from mahrem.settings import Setting, settings_of
from mahrem.typed import listed
from mahrem.web._errors import Refused
from mahrem.web._orders import Json
from mahrem.web.bodies import (
    DECLARED,
    WISHES,
    Adopted,
    ColumnChoice,
    Columns,
    CompareWish,
    HierarchyWish,
    LedgerWish,
    Project,
    Question,
    ReadingChoice,
    ReleasePromises,
    must_be,
    read_field,
    settings_of_column,
    settings_of_mask,
    settings_of_step,
)
from mahrem.web.bodies.spending import SPENDING, settings_of_spending
from mahrem.web.projects import check_methods, needs_table

Body = TypeVar("Body", bound=BaseModel)


def problem_in(errors: list[Any]) -> Refused:
    """Say in words what does not fit; never what was said, for it may be a value."""
    first = errors[0]
    place = ".".join(str(part) for part in first.get("loc", ()) if part not in {"body", "query", "path"})
    return Refused(
        422,
        "does_not_fit",
        f"{place or 'the request'}: {first.get('msg', 'does not fit')}",
        "See the description of the API for what is taken.",
    )


def read_columns(project: Project, form: FormData, *, undecided: str | None = None) -> Columns:
    """Read what was decided about columns; fields are numbered like the columns.

    Args:
        project: The project whose columns they are.
        form: What was sent.
        undecided: The role of columns whose field is empty; without one they are refused.
    """
    chosen: Json = {}
    before = {} if project.choices is None else project.choices.columns
    for number, facts in enumerate(needs_table(project)["columns"]):
        name = facts["name"]
        role = str(form.get(f"role-{number}", "drop")) or undecided
        if role is None:
            raise Refused(422, "undecided", column=name)
        if role == "drop":
            continue
        own = before[name].promises if name in before and role == "sensitive" else {}
        typed = {key: str(form.get(f"{key}-{number}", "")).strip() for key in settings_of_column()}
        chosen[name] = {"role": role, "promises": own} | {
            key: _read(settings_of_column()[key], text, name) for key, text in typed.items() if text
        }
    return _body(Columns, {"columns": chosen, "subject": _texts(form, "subject").get("subject")})


def read_some(project: Project, form: FormData, keys: Sequence[str]) -> Columns:
    """Read some settings of single columns; what a form does not have stays as it was."""
    before = project.choices or Columns(columns={})
    chosen = {name: choice.model_dump() for name, choice in before.columns.items()}
    for number, facts in enumerate(needs_table(project)["columns"]):
        for key in keys:
            if facts["name"] in chosen and f"{key}-{number}" in form:
                text = str(form[f"{key}-{number}"]).strip()
                known = settings_of_column()[key]
                chosen[facts["name"]][key] = _read(known, text, facts["name"]) if text else None
    return _body(Columns, {"columns": chosen, "subject": before.subject})


def read_reading(form: FormData) -> ReadingChoice:
    """Read how a file is to be read."""
    given = {key: str(form.get(key, "")) for key in settings_of_step("reading")}
    values: Json = {
        key: _read_of_file(known, text)
        for (key, known), text in zip(settings_of_step("reading").items(), given.values(), strict=True)
    }
    if values.get("delimiter") == "\\t":
        values["delimiter"] = "\t"
    return _body(ReadingChoice, values)


def _read_of_file(known: Setting, text: str) -> Any:
    """Read one field; of signs a blank is one, and a token for missing values may begin with one."""
    if known.repeats:
        return listed([text]) if known.typed is not None else [part for part in text.split(",") if part]
    if known.choices is not None:
        return text or None
    lean = text.strip()
    return _read(known, lean) if lean and known.takes != "str | None" else lean or None


def read_promises(project: Project, form: FormData) -> ReleasePromises:
    """Read promises and method; what a form does not have stays as it was."""
    values = (project.promises or ReleasePromises()).model_dump()
    for key, known in settings_of_step("promises").items():
        if key not in form:
            continue
        text = str(form[key]).strip()
        if text:
            values[key] = _file_below(text) if key in DECLARED else _read(known, text)
        elif not isinstance(known.default, str):  # a choice that has a default is never empty
            values[key] = None
    return _body(ReleasePromises, values)


def _file_below(text: str) -> Json:
    """Read ``NUMBER:path``, as a list of files below declared folders gives it."""
    folder, _, path = text.partition(":")
    return {"folder": folder, "path": path}


def read_own(project: Project, form: FormData) -> Columns:
    """Read what is promised about single sensitive columns; what a form does not have stays as it was."""
    chosen = dict((project.choices or Columns(columns={})).columns)
    for number, facts in enumerate(needs_table(project)["columns"]):
        choice = chosen.get(facts["name"])
        names = {key: f"own-{number}-{key}" for key in model_settings()}
        typed = {key: str(form[name]).strip() for key, name in names.items() if name in form}
        if choice is None or choice.role != "sensitive" or not typed:
            continue
        kept = {key: value for key, value in choice.promises.items() if key not in typed}
        own = {key: _read(model_settings()[key], text) for key, text in typed.items() if text}
        chosen[facts["name"]] = _body(ColumnChoice, {**choice.model_dump(), "promises": {**kept, **own}})
    return Columns(columns=chosen, subject=None if project.choices is None else project.choices.subject)


def _read(known: Setting, text: str, column: str | None = None) -> Any:
    try:
        return read_field(known, text, column)
    except MahremError:
        raise Refused(422, "does_not_fit", must_be(known), "Write a number like 3 or 0.2.") from None


def _amount(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise Refused(422, "does_not_fit", "A promise must be a number", "Write it like 3 or 0.2.") from None


def read_point(form: FormData) -> Adopted:
    """Read a point of a sweep."""
    return _body(Adopted, _texts(form, "method", "k", "strategy"))


def read_sweep(form: FormData) -> Json:
    """Read which methods and k to sweep, and for how long."""
    methods = [str(name) for name in form.getlist("methods")]
    check_methods(methods)
    ks = [part.strip() for part in str(form.get("ks", "")).split(",") if part.strip()]
    sweep: Json = {"methods": methods or None, "ks": ks or None}
    minutes = str(form.get("minutes", "")).strip()
    if minutes:
        sweep["budget"] = 60.0 * _amount(minutes)
    return _body(CompareWish, sweep).model_dump(exclude_none=True)


def read_way(form: FormData) -> Json:
    """Read how a hierarchy is to be made."""
    way, value = str(form.get("way", "")), str(form.get("value", "")).strip()
    if not way:
        return {}
    listed: Any = value if way == "mask" else [part.strip() for part in value.split(",") if part.strip()]
    return _body(HierarchyWish, {way: listed}).model_dump(exclude_none=True)


def read_ledger_wish(form: FormData) -> LedgerWish:
    """Read a budget; public facts are lines like ``cost=0:10000`` or ``sex=f,m``."""
    columns: dict[str, Json] = {}
    for line in str(form.get("facts", "")).splitlines():
        name, mark, known = line.partition("=")
        if not line.strip():
            continue
        if not mark or not known.strip():
            raise Refused(
                422,
                "does_not_fit",
                "A public fact must read like cost=0:10000 or sex=f,m",
                "One fact a line.",
            )
        low, between, high = known.partition(":")
        columns[name.strip()] = (
            {"lower": low.strip(), "upper": high.strip()}
            if between
            else {"categories": [part.strip() for part in known.split(",")]}
        )
    typed = _texts(form, "epsilon", *(name for name in settings_of(LedgerSettings) if name != "columns"))
    return _body(LedgerWish, {**typed, "columns": columns})


def read_question(form: FormData) -> Question:
    """Read a question and what it may cost."""
    return _body(Question, _texts(form, "question", "epsilon", *settings_of(QuerySettings)))


def read_mask(verb: str, form: FormData) -> Json:
    """Read what is said to a verb beside a release; what is left empty is not said."""
    typed = _texts(form, *settings_of_mask(verb))
    settings = {name: _read(settings_of_mask(verb)[name], text) for name, text in typed.items()}
    return _body(WISHES[verb], settings).model_dump(exclude_none=True, exclude_unset=True)


def read_spending(verb: str, form: FormData) -> Json:
    """Read what is said to a verb that a budget pays; what is left empty is not said."""
    typed = _texts(form, *settings_of_spending(verb))
    settings = {name: _read(settings_of_spending(verb)[name], text) for name, text in typed.items()}
    return _body(SPENDING[verb], settings).model_dump(exclude_none=True)


def read_levels(text: str, columns: int) -> tuple[int, ...]:
    """Read a node of a lattice, a level for each column; nothing for the best."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if parts and (len(parts) != columns or not all(part.isdecimal() and len(part) < 4 for part in parts)):
        raise Refused(422, "no_node", columns=columns)
    return tuple(map(int, parts))


def read_seen(form: FormData) -> int | None:
    """Read how many lines of the ledger a person saw, so that a form sent twice does not pay twice."""
    seen = str(form.get("seen", ""))
    return int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else None


def _texts(form: FormData, *names: str, suffix: str = "") -> dict[str, str]:
    texts = {name: str(form.get(name + suffix, "")).strip() for name in names}
    return {name: text for name, text in texts.items() if text}


def _body(kind: type[Body], content: Json) -> Body:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise problem_in(error.errors()) from None
