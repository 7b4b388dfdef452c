"""What is said in JSON, for the reference: the schema of ``report.json``, and the keys that verbs print.

The schema is made from the dataclasses that write the report. The keys of verbs are read off what they print
of a small invented table when the site is built: a key that a verb loses is missing there too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import os
import tempfile
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mahrem
from mahrem.cli._app import _run

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_ROLES = ("--qi", "age,sex", "--sensitive", "diagnosis", "--rest", "drop")
# What is asked of each verb; a later one may use what an earlier one wrote.
VERBS: Mapping[str, tuple[str, ...]] = {
    "anonymize": ("patients.csv", *_ROLES, "-k", "5", "-o", "release", "--no-html"),
    "audit": ("release",),
    "apply": ("release", "patients.csv", "-o", "again", "--no-html"),
    "attack": ("release", "--original", "patients.csv"),
    "compare": ("patients.csv", *_ROLES, "-k", "5", "--methods", "mondrian", "-o", "compared"),
    "inspect": ("patients.csv",),
    "lattice": ("patients.csv", "--qi", "age,sex", "--rest", "drop", "-k", "5"),
    "perturb": ("patients.csv", "--qi", "age", "--step", "age=noise", "--rest", "drop", "-o", "changed"),
    "risk": ("patients.csv", "--qi", "age,sex"),
    "suppress": ("patients.csv", "--qi", "age,sex", "--rest", "drop", "-k", "3", "-o", "hidden"),
}


def json_schema(kind: type, title: str) -> dict[str, Any]:
    """Give the JSON Schema of what a dataclass of figures writes.

    Keys that other distributions add are allowed; every key that is known has its type, and those that are
    always written are required.
    """
    parts: dict[str, Any] = {}
    body = _of_class(kind, parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **body,
        "$defs": parts,
    }


def _of_class(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    known = {one.name: one for one in dataclasses.fields(kind)}
    return {
        "type": "object",
        "description": (inspect.getdoc(kind) or "").split("\n\n", 1)[0].replace("\n", " "),
        "properties": {name: _of_hint(hints[name], parts) for name in known},
        "required": [
            name for name, one in known.items() if one.default is not None or "always" in one.metadata
        ],
    }


def _of_hint(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return {"anyOf": [_of_hint(one, parts) for one in given]}
    if origin is typing.Literal:
        return {"enum": list(given)}
    plain = origin or hint
    if isinstance(plain, type) and dataclasses.is_dataclass(plain):
        return _of_part(plain, parts)
    return _of_plain(plain, given, parts) if isinstance(plain, type) else {}


def _of_plain(plain: type, given: Sequence[Any], parts: dict[str, Any]) -> dict[str, Any]:
    if issubclass(plain, Mapping):
        return {"type": "object"} | ({"additionalProperties": _of_hint(given[1], parts)} if given else {})
    named = next((name for known, name in _PLAIN.items() if issubclass(plain, known)), None)
    if named is not None:  # a number that is not finite is written as null
        return {"type": ["number", "null"] if named == "number" else named}
    if issubclass(plain, Sequence):
        return {"type": "array"} | ({"items": _of_hint(given[0], parts)} if given else {})
    return {}


def _of_part(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in parts:
        parts[kind.__name__] = {}  # it may hold itself
        parts[kind.__name__] = _of_class(kind, parts)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def printed_by_verbs() -> dict[str, object]:
    """Run every verb that prints JSON on a small invented table; gives what each printed."""
    before, state = Path.cwd(), os.environ.get("MAHREM_STATE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MAHREM_STATE"] = str(Path(folder) / "state")
        os.chdir(folder)
        try:
            mahrem.demo_patients(200).drop("name").write_csv("patients.csv")
            return {verb: _printed(verb, *given) for verb, given in VERBS.items()}
        finally:
            os.chdir(before)
            os.environ.pop("MAHREM_STATE")
            if state is not None:
                os.environ["MAHREM_STATE"] = state


def _printed(verb: str, *given: str) -> object:
    shown, aside = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(aside):
        code = _run([verb, *given, "--json"])
    if code not in {0, 1}:  # 1: done, and something does not hold
        raise RuntimeError(f"mahrem {verb} gave {code} for the reference: {aside.getvalue()}")
    return json.loads(shown.getvalue())


def keys_of(content: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the keys of a document with their types; lists are looked into by their first entry."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            place = f"{path}.{key}" if path else str(key)
            yield place, _PLAIN.get(type(value), "array" if isinstance(value, list) else "object")
            yield from keys_of(value, place)
    elif isinstance(content, list) and content:
        yield from keys_of(content[0], f"{path}[]")
