"""Fields of forms, made from settings: what they are called, what they take, what stands in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mahrem.settings import Setting
from mahrem.typed import listed, names, number
from mahrem.words import Catalogue, explain_setting


@dataclass(frozen=True, kw_only=True)
class FormField:
    """A field of a form."""

    name: str  # in the form
    setting: str
    label: str
    means: str
    control: str  # choice, number, whole, text, lines
    choices: Sequence[tuple[str, str]]  # what is sent, and what it is called
    value: str
    least: float | None
    most: float | None


def form_fields(
    settings: Collection[Setting],
    values: Mapping[str, object],
    texts: Catalogue,
    *,
    prefix: str = "",
    words: str = "release",
    more_choices: Mapping[str, Sequence[str]] | None = None,
) -> list[FormField]:
    """Give fields for settings with what was decided so far; ``prefix`` tells fields of columns apart.

    ``words`` says which verb they are of, for what they are called and mean.
    """
    fields = [
        _field(known, values.get(known.name), texts, f"{prefix}{known.name}", more_choices or {})
        for known in settings
    ]
    if words == "release":
        return fields
    labels, explained = texts["page"]["label"][words], words in texts["setting"]
    return [
        replace(
            field,
            label=labels[known.name],
            means=explain_setting(texts, words, known) if explained else "",
        )
        for field, known in zip(fields, settings, strict=True)
    ]


def _field(
    known: Setting, value: object, texts: Catalogue, name: str, more: Mapping[str, Sequence[str]]
) -> FormField:
    reader = known.reader.inner or known.reader
    called = texts["page"]["choice"].get(known.name, {})
    control = {"int": "whole", "float": "number"}.get(reader.takes, "lines" if reader.by_line else "text")
    choices: Sequence[str] = more.get(known.name, ())
    if known.choices is not None:
        choices = tuple(known.choices())
    elif reader.takes == "bool" or _names_columns(known):
        choices = ("true", "false")
    if (choices or known.name in more) and not isinstance(known.default, str):
        choices = ("", *choices)
    if choices[-2:] == ("true", "false") and not called:
        called = {"true": texts["page"]["choice"]["yes"], "false": texts["page"]["choice"]["no"]}
    usual = texts["page"]["choice"]["usual"]
    return FormField(
        name=name,
        setting=known.name,
        label=label_of(known.name, texts),
        means=explain_setting(texts, "release", known),
        control="choice" if choices else control,
        choices=[(choice, _called(known, choice, called) if choice else usual) for choice in choices],
        value=_shown(value),
        least=reader.least,
        most=reader.most,
    )


def label_of(setting: str, texts: Catalogue) -> str:
    """Name a field: a promise by its name, anything else by its label."""
    promise = texts["page"]["promise"].get(setting)
    label: str = promise[0] if promise else texts["page"]["setting"].get(setting, setting)
    return label


def _called(known: Setting, choice: str, words: Mapping[str, str]) -> str:
    """Name a choice in words; a method also by the name that papers and policies use."""
    named = words.get(choice, choice)
    return f"{choice}: {named}" if known.name == "method" and choice in words else named


def _names_columns(known: Setting) -> bool:
    """Whether it is a list of columns: of one column it is then yes or no, as is a key kept by the server."""
    return known.repeats and known.reader.of_columns and (known.reader.inner is None or not known.on_page)


def _shown(value: object) -> str:
    """Write a value as a person would type it."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case {"folder": folder, "path": path}:
            return f"{folder}:{path}"
        case Mapping():
            return ", ".join(f"{name}={_shown(inner)}" for name, inner in value.items())
        case list() | tuple():
            return ", ".join(_shown(inner) for inner in value)
    return "" if value is None else str(value)


def read_field(known: Setting, text: str, column: str | None = None) -> Any:
    """Read a field as the command line reads its option; of a column, what stands for that column alone."""
    if known.takes.startswith("bool") or (column is not None and _names_columns(known)):
        return text == "true"
    if known.reader.by_line:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines if known.typed is None else known.typed(known.name, lines)
    if known.typed is not None and column is not None:
        return known.typed(known.name, [f"{column}={text}"])[column]
    if known.typed is not None:
        # names are taken apart as they are read: twice, and one in quotes would fall apart
        parts = [text] if known.typed is names else listed([text])
        return known.typed(known.name, parts if known.repeats else text)
    kind = known.takes.removesuffix(" | None")
    if kind in {"int", "float"}:
        read = number(known.name, text.replace(",", "."))
        return int(read) if read.is_integer() else read
    return listed([text]) if known.repeats else text
