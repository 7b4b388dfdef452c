"""Templates: each context has one of its own name."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]


def render(page: object) -> str:
    """Draw a page by its context, or a template that needs none by its name."""
    name = page if isinstance(page, str) else f"{_words(type(page).__name__)}.html.jinja"
    return _environment().get_template(name).render(page=page)


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
    environment.filters["figure"] = _figure
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f} %"
    environment.filters["megabytes"] = lambda size: f"{size / 1e6:,.0f} MB"
    return environment


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
