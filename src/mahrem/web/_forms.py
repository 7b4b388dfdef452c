"""Forms of the page, read into the same bodies the API takes."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData

from mahrem.web._bodies import Adopted, HierarchyWish, LedgerWish, Question
from mahrem.web._errors import Refused
from mahrem.web._models import Columns, Project, Promises, Reading
from mahrem.web._plan import needs_table

__all__ = [
    "problem_in",
    "read_columns",
    "read_ledger_wish",
    "read_point",
    "read_promises",
    "read_question",
    "read_reading",
    "read_way",
]

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


def read_columns(project: Project, form: FormData) -> Columns:
    """Read roles, kinds and orders; fields are numbered like the columns."""
    chosen: dict[str, Any] = {}
    before = {} if project.choices is None else project.choices.columns
    for number, facts in enumerate(needs_table(project)["columns"]):
        said = _texts(form, "role", "kind", "order", suffix=f"-{number}")
        role = said.get("role", "drop")
        if role == "drop":
            continue
        order = [part.strip() for part in said.get("order", "").split(",") if part.strip()]
        own = before[facts["name"]].promises if facts["name"] in before and role == "sensitive" else {}
        chosen[facts["name"]] = {
            "role": role,
            "kind": said.get("kind"),
            "order": order or None,
            "promises": own,
        }
    return _body(Columns, {"columns": chosen, "subject": _texts(form, "subject").get("subject")})


def read_reading(form: FormData) -> Reading:
    """Read how a file is to be read."""
    said: dict[str, Any] = _texts(form, "delimiter", "encoding", "decimal")
    if said.get("delimiter") == "\\t":
        said["delimiter"] = "\t"
    null = str(form.get("null", ""))
    return _body(Reading, {**said, "null": [part for part in null.split(",") if part]})


def read_promises(project: Project, form: FormData) -> Promises:
    """Read promises and method; what a form does not have stays as it was."""
    before = (project.promises or Promises()).model_dump()
    given = {name: str(form[name]).strip() or None for name in before if name in form}
    known = {name: value for name, value in given.items() if value is not None or name not in _ALWAYS}
    return _body(Promises, {**before, **known})


_ALWAYS = frozenset({"method", "strategy", "bounds", "cells", "missing", "format", "language"})


def read_point(form: FormData) -> Adopted:
    """Read a point of a sweep."""
    return _body(Adopted, _texts(form, "method", "k", "strategy"))


def read_way(form: FormData) -> dict[str, Any]:
    """Read how a hierarchy is to be made."""
    way, value = str(form.get("way", "")), str(form.get("value", "")).strip()
    if not way:
        return {}
    listed: Any = value if way == "mask" else [part.strip() for part in value.split(",") if part.strip()]
    return _body(HierarchyWish, {way: listed}).model_dump(exclude_none=True)


def read_ledger_wish(form: FormData) -> LedgerWish:
    """Read a budget; public facts are lines like ``cost=0:10000`` or ``sex=f,m``."""
    columns: dict[str, dict[str, Any]] = {}
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
    said = _texts(form, "epsilon", "delta", "relation", "subject", "rows_per_person", "rows")
    return _body(LedgerWish, {**said, "columns": columns})


def read_question(form: FormData) -> Question:
    """Read a question and what it may cost."""
    return _body(Question, _texts(form, "question", "epsilon", "delta", "mechanism", "confidence"))


def _texts(form: FormData, *names: str, suffix: str = "") -> dict[str, str]:
    found = {name: str(form.get(name + suffix, "")).strip() for name in names}
    return {name: text for name, text in found.items() if text}


def _body(kind: type[Body], said: dict[str, Any]) -> Body:
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        raise problem_in(error.errors()) from None
