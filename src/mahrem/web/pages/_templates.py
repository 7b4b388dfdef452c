"""Templates: each context has one of its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from mahrem.dp import LedgerSettings
from mahrem.settings import settings_of
from mahrem.table import written_formats
from mahrem.web._language import LOOK
from mahrem.words import LANGUAGES, braces, load_catalogue

if TYPE_CHECKING:
    from jinja2 import Environment

    from mahrem.web.bodies import ErrorDetail
    from mahrem.words import Catalogue


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
            plain=lambda value, setting="": plain_words(texts, value, setting),
            name_of=lambda project: texts.say("page.projects.demo_name") if project.demo else project.name,
            say_error=lambda error: say_error(texts, error),
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
    environment.globals["budget_settings"] = settings_of(LedgerSettings)
    environment.globals["formats"] = list(written_formats())
    environment.globals["languages"] = {code: load_catalogue(code).name for code in LANGUAGES}
    environment.filters["moment"] = lambda text: str(text).replace("T", " ").removesuffix("Z")[:16]
    return environment


def plain_words(texts: Catalogue, value: object, setting: str = "") -> str:
    """Write any value for people; a choice of a setting in words."""
    if isinstance(value, bool):
        return texts.say("word.true" if value else "word.false")
    if value is None or isinstance(value, int | float):
        return texts.number(value, 4)
    if isinstance(value, Mapping):
        return "; ".join(
            f"{key}: {plain_words(texts, entry, setting)}" if entry else key for key, entry in value.items()
        )
    if isinstance(value, list | tuple):
        return ", ".join(plain_words(texts, entry, setting) for entry in value)
    return str(texts["page"]["choice"].get(setting, {}).get(str(value), value))


def say_error(texts: Catalogue, error: ErrorDetail) -> dict[str, str]:
    """Say what went wrong in the language; what only English has is kept as a detail."""
    known = texts["page"]["error"].get(error.code, ())
    values = {"message": error.message, "hint": error.hint, **error.values}
    if texts.language == "en" or not known or not braces(" ".join(known)) <= values.keys():
        return {"message": error.message, "hint": error.hint, "detail": ""}
    parts = [texts.say(f"page.error.{error.code}", part, **values) for part in range(len(known))]
    return dict(zip(("message", "hint", "detail"), [*parts, ""], strict=False))
