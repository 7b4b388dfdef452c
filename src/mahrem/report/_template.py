"""Templates of the pages this room draws."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["load_template"]


@cache
def load_template(name: str) -> Template:
    """Load a template; all text is escaped, and a name it does not get is an error."""
    from jinja2 import Environment, StrictUndefined

    text = files("mahrem.report").joinpath("templates", f"{name}.html.jinja").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)
