"""Templates: each context has one of its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mahrem.table import FORMATS
from mahrem.web._language import LOOK
from mahrem.words import LANGUAGES, load_catalogue

if TYPE_CHECKING:
    from jinja2 import Environment

    from mahrem.web._models import ErrorDetail
    from mahrem.words import Catalogue

__all__ = ["render", "say_in"]


def render(page: object) -> str:
    """Draw a page by its context, or a template that needs none by its name, in a person's language."""
    name = page if isinstance(page, str) else f"{_words(type(page).__name__)}.html.jinja"
    look = LOOK.get()
    texts = load_catalogue(look.language)
    return (
        _environment()
        .get_template(name)
        .render(
            page=page,
            look=look,
            t=texts,
            w=texts["page"],
            say=lambda section, key: say_in(texts, section, key),
            plain=lambda value, setting="": _plain(texts, value, setting),
            called=lambda project: say_in(texts, "called", project.name),
            told=lambda error: _told(texts, error),
        )
    )


def _words(name: str) -> str:
    """Turn ``ProjectsPage`` into ``projects``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name.removesuffix("Page")).lower()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = files("mahrem.web").joinpath("templates")
    environment = Environment(
        loader=FileSystemLoader(str(folder)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals["formats"] = list(FORMATS)
    environment.globals["languages"] = {code: load_catalogue(code).name for code in LANGUAGES}
    environment.filters["moment"] = lambda text: str(text).replace("T", " ").removesuffix("Z")[:16]
    return environment


def say_in(texts: Catalogue, section: str, english: str) -> str:
    """Say a word or sentence of ours in the language; one that is not listed stays as it is."""
    known: dict[str, str] = texts["page"][section]
    if english in known:
        return known[english]
    for pattern, said in known.items():
        if "{" in pattern:
            shape = re.escape(pattern).replace(r"\{", "(?P<").replace(r"\}", ">.+?)")
            if found := re.fullmatch(shape, english):
                filled = {name: _share(texts, text) for name, text in found.groupdict().items()}
                return said.format(**filled)
    return english


def _share(texts: Catalogue, text: str) -> str:
    """Write a percentage as the language does; any other text stays as it is."""
    return texts.percent(int(text[:-1]) / 100) if re.fullmatch(r"\d{1,3}%", text) else text


def _plain(texts: Catalogue, value: Any, setting: str = "") -> str:
    """Write any value for people; a choice of a setting in words."""
    if isinstance(value, bool):
        return str(texts["word"]["true" if value else "false"])
    if value is None or isinstance(value, int | float):
        return texts.number(value, 4)
    if isinstance(value, Mapping):
        return "; ".join(
            f"{key}: {_plain(texts, entry, setting)}" if entry else key for key, entry in value.items()
        )
    if isinstance(value, list | tuple):
        return ", ".join(_plain(texts, entry, setting) for entry in value)
    return str(texts["page"]["choice"].get(setting, {}).get(str(value), value))


def _told(texts: Catalogue, error: ErrorDetail) -> dict[str, str]:
    """Say what went wrong in the language; what only English has is kept as a detail."""
    known = texts["page"]["error"].get(error.code)
    if texts.language == "en" or known is None:
        return {"message": error.message, "hint": error.hint, "detail": ""}
    message, hint, *exact = known
    return {"message": message, "hint": hint, "detail": error.message if exact else ""}
